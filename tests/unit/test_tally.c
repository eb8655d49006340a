// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tally/tally.h"

static struct tally *new_tally(uint32_t entry_limit, uint32_t stack_limit)
{
	struct tally *tally = NULL;

	assert_int_equal(tally_new(entry_limit, stack_limit, &tally), 0);
	return tally;
}

static uint32_t address(struct tally *tally, uint64_t at, uint32_t image, uint32_t flags)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(tally_address(tally,
				       &(struct tally_address){
					       .address = at, .image = image, .flags = flags },
				       &id),
			 0);
	return id;
}

static void addresses_are_dense_and_distinct(void **state)
{
	struct tally *tally = new_tally(0, 0);

	(void)state;
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(address(tally, 0x1000 + i, i % 3, 0), i);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(address(tally, 0x1000 + i, i % 3, 0), i);
	assert_int_equal(tally_n_addresses(tally), 5000);
	assert_int_equal(address(tally, 0x1000, 1, 0), 5000);
	assert_int_equal(address(tally, 0x1000, 0, TALLY_ADDRESS_EXACT), 5001);
	assert_int_equal(tally_addresses(tally)[4999].address, 0x1000 + 4999);
	tally_free(tally);
	tally_free(NULL);
}

static void stacks_are_told_apart(void **state)
{
	struct tally *tally = new_tally(0, 0);
	uint32_t frames[TALLY_MAX_FRAMES + 1] = { 0, 1, 0 }, a, b, id = 77;

	(void)state;
	address(tally, 1, 1, 0);
	address(tally, 2, 1, 0);
	assert_int_equal(tally_stack(tally, frames, 3, 0, &a), 0);
	assert_int_equal(tally_stack(tally, frames, 2, 0, &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(tally_stack(tally, frames, 3, TALLY_STACK_CUT, &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(tally_stack(tally, frames, 3, 0, &id), 0);
	assert_int_equal(id, a);
	assert_int_equal(tally_n_stacks(tally), 3);
	assert_int_equal(tally_stacks(tally)[a].n_frames, 3);
	assert_memory_equal(tally_frames(tally, &tally_stacks(tally)[a]), frames, 12);
	assert_int_equal(tally_stack(tally, frames, 0, 0, &id), 0);
	assert_int_equal(id, TALLY_STACK_NONE);

	id = 77;
	frames[1] = 2;
	assert_int_equal(tally_stack(tally, frames, 2, 0, &id), -EINVAL);
	frames[1] = 1;
	assert_int_equal(tally_stack(tally, frames, TALLY_MAX_FRAMES + 1, 0, &id), -E2BIG);
	assert_int_equal(id, 77);
	assert_int_equal(tally_stack(tally, frames, TALLY_MAX_FRAMES, 0, &id), 0);
	assert_int_equal(id, 3);
	tally_free(tally);
}

static void full_of_stacks_it_says_missed(void **state)
{
	struct tally *tally = new_tally(0, 2);
	uint32_t frames[3] = { 0, 0, 0 }, id;

	(void)state;
	address(tally, 1, 1, 0);
	assert_int_equal(tally_stack(tally, frames, 1, 0, &id), 0);
	assert_int_equal(tally_stack(tally, frames, 2, 0, &id), 0);
	assert_int_equal(tally_stack(tally, frames, 3, 0, &id), 0);
	assert_int_equal(id, TALLY_STACK_MISSED);
	assert_int_equal(tally_stack(tally, frames, 2, 0, &id), 0);
	assert_int_equal(id, 1);
	tally_free(tally);
}

static struct tally_entry entry(const char *comm, uint32_t tgid, uint64_t count)
{
	struct tally_entry it = {
		.count = count, .tgid = tgid, .kernel = TALLY_STACK_NONE, .user = TALLY_STACK_NONE
	};

	memcpy(it.comm, comm, strnlen(comm, sizeof(it.comm)));
	return it;
}

static void counts_add_up(void **state)
{
	struct tally *tally = new_tally(0, 0);
	struct tally_entry a = entry("a", 1, 3), b = entry("a", 2, 4), dirty = entry("a", 1, 5);

	(void)state;
	memcpy(dirty.comm + 2, "rest of before", sizeof(dirty.comm) - 2);
	assert_int_equal(tally_add(tally, &a), 0);
	assert_int_equal(tally_add(tally, &b), 0);
	assert_int_equal(tally_add(tally, &dirty), 0);
	assert_int_equal(tally_n_entries(tally), 2);
	assert_int_equal(tally_entries(tally)[0].count, 8);
	assert_int_equal(tally_total(tally), 12);
	/* Every field but the count tells entries apart. */
	for (int field = 0; field < 5; field++) {
		struct tally_entry other = entry("a", 1, 1);

		other.cgroup += field == 0;
		other.tgid += field == 1 ? 100 : 0;
		other.tid += field == 2;
		other.kernel = field == 3 ? TALLY_STACK_MISSED : TALLY_STACK_NONE;
		other.user = field == 4 ? TALLY_STACK_MISSED : TALLY_STACK_NONE;
		assert_int_equal(tally_add(tally, &other), 0);
		assert_int_equal(tally_n_entries(tally), 3 + field);
	}
	/* A comm without room for its NUL is cut; no byte behind it is read or written. */
	a = entry("0123456789abcdefgh", 9, 1);
	assert_int_equal(tally_add(tally, &a), 0);
	assert_string_equal(tally_entries(tally)[7].comm, "0123456789abcde");
	tally_free(tally);
}

/* Events of sums add up beside the counts, which may be 0, and tell no entries apart. */
static void events_add_up(void **state)
{
	struct tally *tally = new_tally(2, 0);
	struct tally_entry a = entry("a", 1, 0), b = entry("a", 1, UINT64_MAX);

	(void)state;
	a.events = 3;
	b.events = 4;
	assert_int_equal(tally_add(tally, &a), 0);
	assert_int_equal(tally_events(tally), 3);
	assert_int_equal(tally_events_of(&tally_entries(tally)[0]), 3);
	assert_false(tally_losses_of(tally)->saturated);
	assert_int_equal(tally_add(tally, &b), 0);
	assert_int_equal(tally_n_entries(tally), 1);
	assert_int_equal(tally_entries(tally)[0].events, 7);
	assert_true(tally_entries(tally)[0].count == UINT64_MAX);
	assert_int_equal(tally_events(tally), 7);
	a.tgid++;
	a.count = 2;
	assert_int_equal(tally_append_entry(tally, &a), 0);
	assert_int_equal(tally_events(tally), 10);
	assert_true(tally_total(tally) == UINT64_MAX);
	assert_true(tally_losses_of(tally)->saturated);
	/* What finds no room is counted as events, not by its value. */
	a.tgid++;
	assert_int_equal(tally_add(tally, &a), -ENOSPC);
	assert_int_equal(tally_losses_of(tally)->lost_counts, 3);
	tally_clear(tally);
	assert_int_equal(tally_events(tally), 0);
	assert_false(tally_losses_of(tally)->saturated);
	tally_free(tally);
}

/* The number of a new or known entry is its index. */
static void numbers_of_entries_are_indices(void **state)
{
	struct tally *tally = new_tally(0, 0);

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			struct tally_entry it = entry("a", i, i + 1);
			uint32_t number = UINT32_MAX;

			assert_int_equal(tally_count(tally, &it, &number), 0);
			assert_int_equal(number, i);
			tally_more(tally, number, 2, 0, 0);
		}
	}
	assert_int_equal(tally_n_entries(tally), 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(tally_entries(tally)[i].count, 2 * i + 6);
	assert_int_equal(tally_total(tally), 1000 * 999 + 6 * 1000);
	tally_free(tally);
}

static void full_of_entries_it_counts_the_lost(void **state)
{
	struct tally *tally = new_tally(2, 0);
	struct tally_entry it;

	(void)state;
	for (uint32_t tgid = 1; tgid <= 2; tgid++) {
		it = entry("a", tgid, 1);
		assert_int_equal(tally_add(tally, &it), 0);
	}
	assert_false(tally_losses_of(tally)->counts_full);
	it = entry("a", 3, 7);
	assert_int_equal(tally_add(tally, &it), -ENOSPC);
	it = entry("a", 2, 5);
	assert_int_equal(tally_add(tally, &it), 0);
	assert_true(tally_losses_of(tally)->counts_full);
	assert_int_equal(tally_losses_of(tally)->lost_counts, 7);
	assert_int_equal(tally_total(tally), 7);
	tally_free(tally);
}

static void beyond_its_bound_it_finds_what_is_there(void **state)
{
	struct tally *tally = new_tally(0, 0);
	const struct tally_address another = { .address = 3, .image = 1 };
	uint32_t frames[2] = { 0, 1 }, other[2] = { 1, 0 }, id;
	struct tally_entry it = entry("a", 1, 5);

	(void)state;
	address(tally, 1, 1, 0);
	address(tally, 2, 1, 0);
	assert_int_equal(tally_stack(tally, frames, 2, 0, &id), 0);
	assert_int_equal(tally_add(tally, &it), 0);
	tally_bound(tally, tally_bytes(tally) + 1);
	it.tgid = 2;
	assert_int_equal(tally_add(tally, &it), 0);
	it.tgid = 3;
	assert_int_equal(tally_add(tally, &it), -EDQUOT);
	assert_int_equal(tally_stack(tally, other, 2, 0, &id), -EDQUOT);
	assert_int_equal(tally_address(tally, &another, &id), -EDQUOT);
	it.tgid = 1;
	assert_int_equal(tally_add(tally, &it), 0);
	assert_int_equal(tally_stack(tally, frames, 2, 0, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(address(tally, 2, 1, 0), 1);
	assert_int_equal(tally_total(tally), 15);
	/* A report was made of it: there is room again. */
	tally_clear(tally);
	assert_int_equal(tally_add(tally, &it), 0);
	tally_free(tally);
}

/* The index keeps 32 bits of each hash: of so many addresses, some ten pairs have the same. */
static void equal_hashes_are_told_apart(void **state)
{
	struct tally *tally = new_tally(0, 0);

	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 300000; i++) {
			uint32_t frames[1] = { address(tally, i * 8ull, 1, 0) }, id;

			assert_int_equal(frames[0], i);
			assert_int_equal(tally_stack(tally, frames, 1, 0, &id), 0);
			assert_int_equal(id, i);
		}
	}
	tally_free(tally);
}

static void total_does_not_wrap(void **state)
{
	struct tally *tally = new_tally(0, 0);
	struct tally_entry it = entry("a", 1, UINT64_MAX - 1);

	(void)state;
	assert_int_equal(tally_add(tally, &it), 0);
	assert_int_equal(tally_add(tally, &it), 0);
	assert_true(tally_total(tally) == UINT64_MAX);
	assert_true(tally_entries(tally)[0].count == UINT64_MAX);
	tally_free(tally);
}

static void clearing_keeps_addresses(void **state)
{
	struct tally *tally = new_tally(0, 0);
	struct tally_entry it = entry("a", 1, 1);
	uint32_t frames[2] = { 0, 1 }, id;

	(void)state;
	address(tally, 10, 1, 0);
	address(tally, 11, 1, 0);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(tally_stack(tally, frames, 2, 0, &id), 0);
		assert_int_equal(id, 0);
		assert_int_equal(tally_add(tally, &it), 0);
		assert_int_equal(tally_total(tally), 1);
		tally_losses(tally)->lost_ring = 4;
		tally_clear(tally);
		assert_int_equal(tally_n_stacks(tally), 0);
		assert_int_equal(tally_n_entries(tally), 0);
		assert_int_equal(tally_total(tally), 0);
		assert_int_equal(tally_losses_of(tally)->lost_ring, 0);
		assert_int_equal(tally_n_addresses(tally), 2);
	}
	assert_int_equal(address(tally, 11, 1, 0), 1);
	tally_free(tally);
}

/* What was appended without a search is found by the searches that follow. */
static void appended_is_found(void **state)
{
	struct tally *tally = new_tally(0, 0);
	struct tally_address at = { .address = 5, .image = 1 };
	struct tally_entry it = entry("a", 1, 2);
	uint32_t *frames, found[1] = { 1 }, id;

	(void)state;
	assert_int_equal(tally_append_address(tally, &at), 0);
	at.address = 6;
	assert_int_equal(tally_append_address(tally, &at), 0);
	assert_int_equal(address(tally, 6, 1, 0), 1);
	assert_int_equal(tally_append_stack(tally, 0, 0, &frames), -EINVAL);
	assert_int_equal(tally_append_stack(tally, TALLY_MAX_FRAMES + 1, 0, &frames), -E2BIG);
	assert_int_equal(tally_append_stack(tally, 1, 0, &frames), 0);
	frames[0] = 1;
	assert_int_equal(tally_stack(tally, found, 1, 0, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(tally_append_entry(tally, &it), 0);
	assert_int_equal(tally_add(tally, &it), 0);
	assert_int_equal(tally_n_entries(tally), 1);
	assert_int_equal(tally_total(tally), 4);
	tally_free(tally);
}

/* What took the entries has them all, and the tally counts anew, without finding those it had. */
static void entries_are_handed_over(void **state)
{
	struct tally_entry a = { .count = 3, .tgid = 1, .user = TALLY_STACK_NONE }, b = a;
	struct tally_entry *taken;
	struct tally *tally = NULL;

	(void)state;
	b.tgid = 2;
	assert_int_equal(tally_new(0, 0, &tally), 0);
	assert_null(tally_take_entries(tally));
	assert_int_equal(tally_add(tally, &a), 0);
	assert_int_equal(tally_add(tally, &b), 0);
	taken = tally_take_entries(tally);
	assert_int_equal(taken[0].tgid, 1);
	assert_int_equal(taken[1].tgid, 2);
	assert_int_equal(tally_n_entries(tally), 0);
	assert_int_equal(tally_total(tally), 0);
	assert_int_equal(tally_add(tally, &b), 0);
	assert_int_equal(tally_n_entries(tally), 1);
	assert_int_equal(tally_entries(tally)[0].count, 3);
	free(taken);
	tally_free(tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_dense_and_distinct),
		cmocka_unit_test(stacks_are_told_apart),
		cmocka_unit_test(full_of_stacks_it_says_missed),
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(events_add_up),
		cmocka_unit_test(numbers_of_entries_are_indices),
		cmocka_unit_test(full_of_entries_it_counts_the_lost),
		cmocka_unit_test(beyond_its_bound_it_finds_what_is_there),
		cmocka_unit_test(equal_hashes_are_told_apart),
		cmocka_unit_test(total_does_not_wrap),
		cmocka_unit_test(clearing_keeps_addresses),
		cmocka_unit_test(appended_is_found),
		cmocka_unit_test(entries_are_handed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
