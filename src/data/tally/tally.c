// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "tally/scripts.h"

/* Two entries are the same if all bytes behind the counts are. */
#define ENTRY_KEY_AT   offsetof(struct tally_entry, cgroup)
#define ENTRY_KEY_SIZE (sizeof(struct tally_entry) - ENTRY_KEY_AT)

_Static_assert(sizeof(struct tally_entry) == 64, "padding would take part in the entry's hash");

/*
 * Each array has an index. It lacks what was appended without a search until the next search adds
 * it, so that a recording that is only printed never pays for an index.
 */
struct tally {
	struct tally_address *addresses;
	struct tally_stack *stacks;
	struct tally_entry *entries;
	uint32_t *frames;
	uint64_t n_frames, frame_capacity;
	uint32_t n_addresses, address_capacity;
	uint32_t n_stacks, stack_capacity;
	uint32_t n_entries, entry_capacity;
	struct index address_index, stack_index, entry_index;
	uint32_t entry_limit, stack_limit;
	uint64_t bound, charged; /* bytes; 0: none */
	uint64_t total, events;
	struct tally_losses losses;
};

int tally_new(uint32_t entry_limit, uint32_t stack_limit, struct tally **ret_tally)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return -ENOMEM;
	tally->entry_limit = entry_limit;
	tally->stack_limit = stack_limit;
	*ret_tally = tally;
	return 0;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	free(tally->addresses);
	free(tally->stacks);
	free(tally->entries);
	free(tally->frames);
	index_free(&tally->address_index);
	index_free(&tally->stack_index);
	index_free(&tally->entry_index);
	free(tally);
}

void tally_bound(struct tally *tally, uint64_t bytes)
{
	tally->bound = bytes;
}

uint64_t tally_bytes(const struct tally *tally)
{
	return tally->n_addresses * sizeof(*tally->addresses) +
	       tally->n_stacks * sizeof(*tally->stacks) + tally->n_frames * sizeof(*tally->frames) +
	       tally->n_entries * sizeof(*tally->entries) + index_bytes(&tally->address_index) +
	       index_bytes(&tally->stack_index) + index_bytes(&tally->entry_index);
}

void tally_charge(struct tally *tally, uint64_t bytes)
{
	tally->charged = bytes;
}

bool tally_is_full(const struct tally *tally)
{
	return tally->bound && tally->charged + tally_bytes(tally) >= tally->bound;
}

/* Ids reach up to here; those above mean "none" or "missed". */
#define MAX_IDS (UINT32_MAX - 2)

static int catch_up(struct index *index, uint32_t n,
		    uint64_t (*hash)(const void *context, uint32_t position), const void *context)
{
	while (index->used < n) {
		int r = index_add(index, hash(context, index->used), index->used);

		if (r < 0)
			return r;
	}
	return 0;
}

static uint64_t hash_address(const struct tally_address *address)
{
	return hash_u64(hash_u64(address->address) ^ ((uint64_t)address->image << 32) ^
			address->flags);
}

static uint64_t rehash_address(const void *context, uint32_t position)
{
	return hash_address(&((const struct tally *)context)->addresses[position]);
}

int tally_append_address(struct tally *tally, const struct tally_address *address)
{
	int r;

	if (tally->n_addresses >= MAX_IDS)
		return -EFBIG;
	r = grow(&tally->addresses, &tally->address_capacity, (size_t)tally->n_addresses + 1);
	if (r < 0)
		return r;
	tally->addresses[tally->n_addresses++] = *address;
	return 0;
}

int tally_address(struct tally *tally, const struct tally_address *address, uint32_t *ret_id)
{
	uint64_t hash = hash_address(address);
	struct index_cursor cursor;
	int r = catch_up(&tally->address_index, tally->n_addresses, rehash_address, tally);

	if (r < 0)
		return r;
	for (uint32_t at = index_first(&tally->address_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tally->address_index, &cursor)) {
		const struct tally_address *known = &tally->addresses[at];

		if (known->address == address->address && known->image == address->image &&
		    known->flags == address->flags) {
			*ret_id = at;
			return 0;
		}
	}
	r = tally_is_full(tally) ? -EDQUOT : tally_append_address(tally, address);
	if (r == 0)
		r = index_add(&tally->address_index, hash, tally->n_addresses - 1);
	if (r < 0)
		return r;
	*ret_id = tally->n_addresses - 1;
	return 0;
}

static uint64_t hash_stack(const uint32_t *frames, uint32_t n, uint32_t flags)
{
	return hash_bytes(frames, n * sizeof(*frames)) ^ hash_u64(flags);
}

static uint64_t rehash_stack(const void *context, uint32_t position)
{
	const struct tally *tally = context;
	const struct tally_stack *stack = &tally->stacks[position];

	return hash_stack(tally->frames + stack->first, stack->n_frames, stack->flags);
}

int tally_append_stack(struct tally *tally, uint32_t n, uint32_t flags, uint32_t **ret_frames)
{
	int r;

	if (n == 0)
		return -EINVAL;
	if (n > TALLY_MAX_FRAMES)
		return -E2BIG;
	if (tally->n_stacks >= MAX_IDS)
		return -EFBIG;
	r = grow(&tally->stacks, &tally->stack_capacity, (size_t)tally->n_stacks + 1);
	if (r < 0)
		return r;
	r = grow(&tally->frames, &tally->frame_capacity, tally->n_frames + n);
	if (r < 0)
		return r;
	tally->stacks[tally->n_stacks++] =
		(struct tally_stack){ .first = tally->n_frames, .n_frames = n, .flags = flags };
	*ret_frames = tally->frames + tally->n_frames;
	tally->n_frames += n;
	return 0;
}

int tally_stack(struct tally *tally, const uint32_t *addresses, uint32_t n, uint32_t flags,
		uint32_t *ret_id)
{
	uint64_t hash = hash_stack(addresses, n, flags);
	struct index_cursor cursor;
	uint32_t *frames;
	int r;

	if (n == 0) {
		*ret_id = TALLY_STACK_NONE;
		return 0;
	}
	if (n > TALLY_MAX_FRAMES)
		return -E2BIG;
	r = catch_up(&tally->stack_index, tally->n_stacks, rehash_stack, tally);
	if (r < 0)
		return r;
	for (uint32_t at = index_first(&tally->stack_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tally->stack_index, &cursor)) {
		const struct tally_stack *known = &tally->stacks[at];

		if (known->n_frames == n && known->flags == flags &&
		    memcmp(tally->frames + known->first, addresses, n * sizeof(*addresses)) == 0) {
			*ret_id = at;
			return 0;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (addresses[i] >= tally->n_addresses)
			return -EINVAL;
	if (tally->stack_limit && tally->n_stacks >= tally->stack_limit) {
		*ret_id = TALLY_STACK_MISSED;
		return 0;
	}
	r = tally_is_full(tally) ? -EDQUOT : tally_append_stack(tally, n, flags, &frames);
	if (r < 0)
		return r;
	memcpy(frames, addresses, n * sizeof(*addresses));
	r = index_add(&tally->stack_index, hash, tally->n_stacks - 1);
	if (r < 0)
		return r;
	*ret_id = tally->n_stacks - 1;
	return 0;
}

static uint64_t hash_entry(const struct tally_entry *entry)
{
	return hash_bytes((const char *)entry + ENTRY_KEY_AT, ENTRY_KEY_SIZE);
}

static uint64_t rehash_entry(const void *context, uint32_t position)
{
	return hash_entry(&((const struct tally *)context)->entries[position]);
}

static void add_saturating(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static void add_total(struct tally *tally, uint64_t count)
{
	add_saturating(&tally->total, count);
	tally->losses.saturated |= tally->total == UINT64_MAX;
}

/* The entry with a comm that ends with a NUL and holds only NULs behind the first. */
static struct tally_entry normalized(const struct tally_entry *entry)
{
	struct tally_entry copy = *entry;
	size_t length = strnlen(copy.comm, TALLY_COMM_SIZE - 1);

	memset(copy.comm + length, 0, TALLY_COMM_SIZE - length);
	return copy;
}

static int append_normalized(struct tally *tally, const struct tally_entry *entry)
{
	int r;

	if (tally->n_entries >= MAX_IDS)
		return -EFBIG;
	r = grow(&tally->entries, &tally->entry_capacity, (size_t)tally->n_entries + 1);
	if (r < 0)
		return r;
	tally->entries[tally->n_entries++] = *entry;
	add_total(tally, entry->count);
	add_saturating(&tally->events, entry->events);
	return 0;
}

int tally_append_entry(struct tally *tally, const struct tally_entry *entry)
{
	struct tally_entry added = normalized(entry);

	return append_normalized(tally, &added);
}

void tally_expect(const struct tally *tally, const struct tally_entry *entry)
{
	index_prefetch(&tally->entry_index, hash_entry(entry));
}

void tally_more(struct tally *tally, uint32_t entry, uint64_t count, uint64_t events,
		uint64_t largest)
{
	struct tally_entry *known = &tally->entries[entry];

	add_saturating(&known->count, count);
	add_total(tally, count);
	add_saturating(&known->events, events);
	add_saturating(&tally->events, events);
	if (largest > known->largest)
		known->largest = largest;
}

int tally_add(struct tally *tally, const struct tally_entry *entry)
{
	uint32_t added;

	return tally_count(tally, entry, &added);
}

int tally_count(struct tally *tally, const struct tally_entry *entry, uint32_t *ret_entry)
{
	struct tally_entry added = normalized(entry);
	uint64_t hash = hash_entry(&added);
	struct index_cursor cursor;
	int r = catch_up(&tally->entry_index, tally->n_entries, rehash_entry, tally);

	if (r < 0)
		return r;
	for (uint32_t at = index_first(&tally->entry_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tally->entry_index, &cursor)) {
		struct tally_entry *known = &tally->entries[at];

		if (memcmp((const char *)known + ENTRY_KEY_AT, (const char *)&added + ENTRY_KEY_AT,
			   ENTRY_KEY_SIZE) == 0) {
			tally_more(tally, at, added.count, added.events, added.largest);
			*ret_entry = at;
			return 0;
		}
	}
	if (tally->entry_limit && tally->n_entries >= tally->entry_limit) {
		add_saturating(&tally->losses.lost_counts, tally_events_of(&added));
		tally->losses.counts_full = true;
		return -ENOSPC;
	}
	r = tally_is_full(tally) ? -EDQUOT : append_normalized(tally, &added);
	if (r < 0)
		return r;
	*ret_entry = tally->n_entries - 1;
	return index_add(&tally->entry_index, hash, tally->n_entries - 1);
}

struct tally_entry *tally_take_entries(struct tally *tally)
{
	struct tally_entry *taken = tally->entries;

	tally->entries = NULL;
	tally->n_entries = tally->entry_capacity = 0;
	tally->total = tally->events = 0;
	index_free(&tally->entry_index);
	return taken;
}

void tally_clear(struct tally *tally)
{
	tally->n_stacks = 0;
	tally->n_entries = 0;
	tally->n_frames = 0;
	tally->total = tally->events = 0;
	tally->losses = (struct tally_losses){ 0 };
	index_free(&tally->stack_index);
	index_free(&tally->entry_index);
}

void tally_reset(struct tally *tally)
{
	tally_clear(tally);
	free(tally->addresses);
	tally->addresses = NULL;
	tally->n_addresses = tally->address_capacity = 0;
	index_free(&tally->address_index);
}

struct tally_losses *tally_losses(struct tally *tally)
{
	return &tally->losses;
}

const struct tally_losses *tally_losses_of(const struct tally *tally)
{
	return &tally->losses;
}

uint32_t tally_n_addresses(const struct tally *tally)
{
	return tally->n_addresses;
}

uint32_t tally_n_stacks(const struct tally *tally)
{
	return tally->n_stacks;
}

uint32_t tally_n_entries(const struct tally *tally)
{
	return tally->n_entries;
}

const struct tally_address *tally_addresses(const struct tally *tally)
{
	return tally->addresses;
}

const struct tally_stack *tally_stacks(const struct tally *tally)
{
	return tally->stacks;
}

const struct tally_entry *tally_entries(const struct tally *tally)
{
	return tally->entries;
}

const uint32_t *tally_frames(const struct tally *tally, const struct tally_stack *stack)
{
	return tally->frames + stack->first;
}

uint64_t tally_total(const struct tally *tally)
{
	return tally->total;
}

uint64_t tally_events(const struct tally *tally)
{
	return tally->events;
}

static bool is_reason(const struct tally_address *address)
{
	return address->flags & TALLY_ADDRESS_SCRIPT && script_is_off_cpu(address->address) &&
	       (SCRIPT_ID(address->address) < OFF_CPU_LEAF_WOKEN ||
		SCRIPT_ID(address->address) == OFF_CPU_LEAF_ASLEEP);
}

bool tally_is_asleep(const struct tally *tally, const struct tally_stack *stack)
{
	const struct tally_address *leaf = &tally_addresses(tally)[tally_frames(tally, stack)[0]];

	return leaf->flags & TALLY_ADDRESS_SCRIPT &&
	       leaf->address == off_cpu_leaf_address(OFF_CPU_LEAF_ASLEEP);
}

uint32_t tally_off_cpu_frames(const struct tally *tally, const struct tally_stack *stack)
{
	const uint32_t *frames = tally_frames(tally, stack);
	const struct tally_address *leaf = &tally_addresses(tally)[frames[0]];

	if (is_reason(leaf))
		return 1;
	if (!(leaf->flags & TALLY_ADDRESS_SCRIPT) || !script_is_waker(leaf->address))
		return 0;
	for (uint32_t i = 1; i < stack->n_frames; i++)
		if (is_reason(&tally_addresses(tally)[frames[i]]))
			return i + 1;
	return 0;
}
