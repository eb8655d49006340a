// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/summary.h"

#include <errno.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/own.h"

/* A hash of the addresses of a stack, without their images. */
static uint64_t stack_key(const struct tally *tally, uint32_t id)
{
	const struct tally_address *addresses = tally_addresses(tally);
	const struct tally_stack *stack = &tally_stacks(tally)[id];
	const uint32_t *frames = tally_frames(tally, stack);
	uint64_t key = hash_u64(stack->flags & ~(uint32_t)TALLY_STACK_ASSUMED);

	for (uint32_t i = 0; i < stack->n_frames; i++) {
		key = (key ^ addresses[frames[i]].address) * 0xd6e8feb86659fd93ull;
		key ^= key >> 32;
	}
	return key;
}

static uint64_t side_key(const struct tally *tally, const uint64_t *keys, uint32_t id)
{
	return id < tally_n_stacks(tally) ? keys[id] : id;
}

/* A 64-bit hash of an entry: 10^6 entries collide in one of some 10^7 profiles. */
static uint64_t entry_key(const struct tally *tally, const uint64_t *keys,
			  const struct tally_entry *entry)
{
	uint64_t key = hash_bytes(entry->comm, sizeof(entry->comm)) ^ entry->tgid;

	key = hash_u64(key) ^ side_key(tally, keys, entry->kernel);
	return hash_u64(key) ^ side_key(tally, keys, entry->user);
}

static int count_stacks(const struct tally *tally, uint32_t *ret_n)
{
	uint32_t n_stacks = tally_n_stacks(tally), n = tally_n_entries(tally), distinct = 0;
	own(own_free) uint64_t *keys = reallocarray(NULL, (size_t)n_stacks + 1, sizeof(*keys));
	own(own_free) uint64_t *seen = reallocarray(NULL, (size_t)n + 1, sizeof(*seen));
	own(index_free) struct index index = { 0 };

	if (!keys || !seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_stacks; i++)
		keys[i] = stack_key(tally, i);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = entry_key(tally, keys, &tally_entries(tally)[i]);
		struct index_cursor cursor;
		uint32_t at = index_first(&index, key, &cursor);

		while (at != INDEX_NONE && seen[at] != key)
			at = index_next(&index, &cursor);
		if (at != INDEX_NONE)
			continue;
		if (index_add(&index, key, distinct) < 0)
			return -ENOMEM;
		seen[distinct++] = key;
	}
	*ret_n = distinct;
	return 0;
}

int summary_of(const struct tally *tally, const struct names *names, struct summary *ret_summary)
{
	struct summary summary = { .total = tally_total(tally) };
	int r = count_stacks(tally, &summary.n_stacks);

	if (r < 0)
		return r;
	r = ends_of(tally, names, &summary.ends);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];

		summary.missed_sides +=
			(entry->kernel == TALLY_STACK_MISSED) + (entry->user == TALLY_STACK_MISSED);
	}
	*ret_summary = summary;
	return 0;
}
