// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int keeper_make(struct keeper *keeper, const struct keeper_source *source, struct server *server)
{
	int r;

	*keeper = (struct keeper){ .source = *source, .server = server };
	r = tally_new(KEEPER_ENTRIES, KEEPER_ENTRIES, &keeper->tally);
	if (r == 0)
		r = names_new(&keeper->names);
	if (r == 0)
		r = history_make(&keeper->history, KEEPER_SECONDS, KEEPER_HISTORY);
	if (r == 0)
		r = tree_make(&keeper->tree, &source->report, KEEPER_MAX_NODES);
	return r;
}

void keeper_clear(struct keeper *keeper)
{
	tree_clear(&keeper->tree);
	history_clear(&keeper->history);
	names_free(keeper->names);
	tally_free(keeper->tally);
	blob_free(keeper->state);
	free(keeper->number_of);
	free(keeper->sums);
	*keeper = (struct keeper){ 0 };
}

uint64_t *keeper_sums(struct keeper *keeper, uint32_t n)
{
	if (n == 0)
		n = 1;
	if (n > keeper->sums_room) {
		uint32_t room = n + n / 2;
		uint64_t *grown = reallocarray(keeper->sums, room, sizeof(*grown));

		if (!grown)
			return NULL;
		keeper->sums = grown;
		keeper->sums_room = room;
	}
	memset(keeper->sums, 0, n * sizeof(*keeper->sums));
	return keeper->sums;
}

/* ---- what comes in ---- */

static int add_stack(struct keeper *keeper, const uint32_t *frames, uint32_t n, uint32_t flags,
		     uint32_t *stack)
{
	/* What is no stack stays what it is. */
	return n ? tally_stack(keeper->tally, frames, n, flags, stack) : 0;
}

/* The number of an entry that was met; INDEX_NONE when there is no room for it. */
static int add_entry(struct keeper *keeper, const struct batch_entry *new, const uint32_t *frames,
		     struct second *second)
{
	struct tally_entry entry = new->entry;
	uint32_t number = INDEX_NONE;
	int r = add_stack(keeper, frames, new->n_kernel, new->kernel_flags, &entry.kernel);

	if (r == 0)
		r = add_stack(keeper, frames + new->n_kernel, new->n_user, new->user_flags,
			      &entry.user);
	if (r == 0 && new->cgroup)
		r = names_add_cgroup(keeper->names, entry.cgroup, new->cgroup);
	if (r == 0)
		r = tally_count(keeper->tally, &entry, &number);
	if (r == 0)
		r = second_add(second, number, entry.count);
	else if (r == -ENOSPC)
		r = 0;
	keeper->number_of[keeper->n_numbers++] = number;
	return r;
}

static int make_room(struct keeper *keeper, const struct batch *batch)
{
	uint64_t n = (uint64_t)keeper->n_numbers + batch->n_entries;

	if (n > keeper->number_room) {
		uint32_t *grown = reallocarray(keeper->number_of, n * 2, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		keeper->number_of = grown;
		keeper->number_room = (uint32_t)n * 2;
	}
	return 0;
}

static int add_counts(struct keeper *keeper, const struct batch *batch, struct second *second)
{
	const uint32_t *frames = batch->frames;
	uint32_t known;
	int r;

	if (batch->fresh)
		keeper->n_numbers = 0;
	r = make_room(keeper, batch);
	known = keeper->n_numbers;
	for (uint32_t i = 0; r == 0 && i < batch->n_addresses; i++)
		r = tally_append_address(keeper->tally, &batch->addresses[i]);
	for (uint32_t i = 0; r == 0 && i < batch->n_entries; i++) {
		const struct batch_entry *entry = &batch->entries[i];

		r = add_entry(keeper, entry, frames, second);
		frames += entry->n_kernel + entry->n_user;
	}
	for (uint32_t i = 0; r == 0 && i < batch->n_counts; i++) {
		const struct batch_count *count = &batch->counts[i];
		uint32_t number =
			count->entry < known ? keeper->number_of[count->entry] : INDEX_NONE;

		if (number == INDEX_NONE)
			continue;
		tally_more(keeper->tally, number, count->count);
		r = second_add(second, number, count->count);
	}
	return r;
}

static void add_losses(struct tally_losses *to, const struct tally_losses *more)
{
	to->events += more->events;
	to->lost_ring += more->lost_ring;
	to->lost_counts += more->lost_counts;
	to->lost_nested += more->lost_nested;
	to->throttled += more->throttled;
	to->unseen += more->unseen;
	to->counts_full |= more->counts_full;
}

static void tell(struct keeper *keeper, const struct second *second)
{
	struct blob *tick = NULL;

	blob_free(keeper->state);
	keeper->state = NULL;
	tick = news_tick(keeper, second);
	if (!tick)
		return;
	if (keeper->server && server_n_streams(keeper->server) > 0)
		server_publish(keeper->server, tick);
	else
		blob_free(tick);
}

int keeper_take(struct keeper *keeper, const struct batch *batch)
{
	struct second second = { .at_ns = batch->at_ns,
				 .ns = batch->at_ns - keeper->at_ns,
				 .losses = batch->losses };
	int r = add_counts(keeper, batch, &second);

	if (r == 0)
		r = keeper->source.resolve(keeper->source.context, keeper->tally, keeper->names);
	if (r == 0)
		r = tree_grow(&keeper->tree, keeper->tally, keeper->names);
	if (r < 0) {
		free(second.counts);
		return r;
	}
	for (uint32_t i = 0; i < second.n_counts; i++)
		keeper->tree.nodes[keeper->tree.leaf_of[second.counts[i].entry]].self +=
			second.counts[i].count;
	add_losses(tally_losses(keeper->tally), &batch->losses);
	keeper->at_ns = batch->at_ns;
	history_push(&keeper->history, &second);
	tell(keeper, history_get(&keeper->history, history_newest(&keeper->history)));
	return 0;
}
