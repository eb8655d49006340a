// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "live/updates.h"

int model_make(struct model *model, const struct model_source *source, struct server *server)
{
	int r;

	*model = (struct model){ .source = *source, .server = server };
	r = tally_new(MODEL_MAX_ENTRIES, MODEL_MAX_ENTRIES, &model->tally);
	if (r < 0)
		return r;
	r = names_new(&model->names);
	if (r < 0)
		return r;
	r = history_make(&model->history, MODEL_SECONDS, MODEL_HISTORY_BYTES);
	if (r < 0)
		return r;
	return tree_make(&model->tree, &source->report, MODEL_MAX_NODES);
}

void model_clear(struct model *model)
{
	tree_clear(&model->tree);
	history_clear(&model->history);
	names_free(model->names);
	tally_free(model->tally);
	buffer_unref(model->state);
	free(model->entry_of);
	free(model->sums);
	*model = (struct model){ 0 };
}

uint64_t *model_sums(struct model *model, uint32_t n)
{
	if (n == 0)
		n = 1;
	if (grow(&model->sums, &model->sums_capacity, n) < 0)
		return NULL;
	memset(model->sums, 0, n * sizeof(*model->sums));
	return model->sums;
}

/* ---- adding a delta ---- */

/* Without frames there is no stack, and `stack` says why: it is left as it is. */
static int add_stack(struct model *model, const uint32_t *frames, uint32_t n, uint32_t flags,
		     uint32_t *stack)
{
	return n ? tally_stack(model->tally, frames, n, flags, stack) : 0;
}

/* Adds a new entry with its stacks; `ret_entry` is unchanged when the tally is full. */
static int add_entry(struct model *model, const struct delta_entry *new, const uint32_t *frames,
		     uint32_t *ret_entry)
{
	struct tally_entry entry = new->entry;
	int r = add_stack(model, frames, new->n_kernel, new->kernel_flags, &entry.kernel);

	if (r < 0)
		return r;
	r = add_stack(model, frames + new->n_kernel, new->n_user, new->user_flags, &entry.user);
	if (r < 0)
		return r;
	if (new->cgroup) {
		r = names_add_cgroup(model->names, new->cgroup);
		if (r < 0)
			return r;
	}
	r = tally_count(model->tally, &entry, ret_entry);
	return r == -ENOSPC ? 0 : r;
}

/* Numbers the new entries; they are INDEX_NONE until they have been added. */
static int number_entries(struct model *model, const struct delta *delta)
{
	uint64_t n = (uint64_t)model->n_entries + delta->n_entries;

	int r = grow(&model->entry_of, &model->entry_capacity, n);

	if (r < 0)
		return r;
	for (; model->n_entries < n; model->n_entries++)
		model->entry_of[model->n_entries] = INDEX_NONE;
	return 0;
}

static int add_entries(struct model *model, const struct delta *delta, struct second *second)
{
	uint32_t *entry_of = model->entry_of + model->n_entries - delta->n_entries;
	const uint32_t *frames = delta->frames;

	for (uint32_t i = 0; i < delta->n_entries; i++) {
		const struct delta_entry *new = &delta->entries[i];
		int r = add_entry(model, new, frames, &entry_of[i]);

		if (r == 0 && entry_of[i] != INDEX_NONE)
			r = second_add(second, entry_of[i], new->entry.count, new->entry.events);
		if (r < 0)
			return r;
		frames += new->n_kernel + new->n_user;
	}
	return 0;
}

static int add_delta(struct model *model, const struct delta *delta, struct second *second)
{
	uint32_t n_known;
	int r;

	if (delta->cleared)
		model->n_entries = 0;
	n_known = model->n_entries;
	r = number_entries(model, delta);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < delta->n_addresses; i++) {
		r = tally_append_address(model->tally, &delta->addresses[i]);
		if (r < 0)
			return r;
	}
	r = add_entries(model, delta, second);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < delta->n_counts; i++) {
		const struct delta_count *count = &delta->counts[i];
		uint32_t entry =
			count->entry < n_known ? model->entry_of[count->entry] : INDEX_NONE;

		if (entry == INDEX_NONE)
			continue;
		tally_more(model->tally, entry, count->count, count->events, count->largest);
		r = second_add(second, entry, count->count, count->events);
		if (r < 0)
			return r;
	}
	return 0;
}

static void publish(struct model *model, const struct second *second)
{
	struct buffer *tick;

	buffer_unref(model->state);
	model->state = NULL;
	/* Made even if there is no stream: what the next tick contains depends on it. */
	tick = updates_tick(model, second);
	if (!tick)
		return;
	if (model->server && server_n_streams(model->server) > 0)
		server_publish(model->server, tick);
	else
		buffer_unref(tick);
}

int model_apply(struct model *model, const struct delta *delta)
{
	struct second second = { .at_ns = delta->at_ns,
				 .ns = delta->at_ns - model->at_ns,
				 .losses = delta->losses };
	int r = add_delta(model, delta, &second);

	if (r == 0)
		r = model->source.resolve(model->source.context, model->tally, model->names);
	if (r == 0)
		r = tree_grow(&model->tree, model->tally, model->names);
	if (r < 0) {
		free(second.counts);
		return r;
	}
	for (uint32_t i = 0; i < second.n_counts; i++) {
		uint32_t node = model->tree.leaf_of[second.counts[i].entry];

		if (node != TREE_NO_NODE)
			model->tree.nodes[node].self += second.counts[i].count;
	}
	delta_add_losses(tally_losses(model->tally), &delta->losses);
	if (!model->shared_from_ns && tree_shares_processes(&model->tree))
		model->shared_from_ns = delta->at_ns - second.ns;
	model->at_ns = delta->at_ns;
	history_push(&model->history, &second);
	publish(model, history_get(&model->history, history_newest(&model->history)));
	return 0;
}
