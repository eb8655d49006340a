// SPDX-License-Identifier: GPL-2.0-or-later
/* The pool of blocks: limits, growth, no reuse before a grace period. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/blocks.h"

#define MIB (1024u * 1024u)

struct fixture {
	struct unwind_maps *maps;
	struct blocks *blocks;
	int (*wait_grace)(struct unwind_maps *maps);
};

static uint32_t n_waits;

static int count_waits(struct unwind_maps *maps)
{
	(void)maps;
	n_waits++;
	return 0;
}

static int fail_wait(struct unwind_maps *maps)
{
	(void)maps;
	return -EINTR;
}

static int setup(void **state)
{
	struct fixture *place = calloc(1, sizeof(*place));

	assert_int_equal(memory_maps_new(&place->maps), 0);
	place->maps->wait_grace = count_waits;
	n_waits = 0;
	assert_int_equal(blocks_new(place->maps, 4 * MIB, &place->blocks), 0);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *place = *state;

	blocks_free(place->blocks);
	unwind_maps_close(place->maps);
	free(place);
	return 0;
}

static struct blocks_usage usage(struct blocks *blocks)
{
	struct blocks_usage usage;

	blocks_usage(blocks, &usage);
	return usage;
}

static void test_take_all(void **state)
{
	struct fixture *place = *state;
	uint8_t seen[4 * WIRE_SEGMENT_BLOCKS] = { 0 };
	uint32_t ids[4 * WIRE_SEGMENT_BLOCKS];
	uint32_t n = 4 * WIRE_SEGMENT_BLOCKS - 1;

	assert_int_equal(usage(place->blocks).allocated, 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(blocks_take(place->blocks, 1, 0, &ids[i]), 0);
		assert_true(ids[i] != WIRE_NO_BLOCK && ids[i] <= n);
		assert_int_equal(seen[ids[i]]++, 0);
		memset(blocks_at(place->blocks, ids[i]), 0xff, WIRE_BLOCK_SIZE);
	}
	assert_int_equal(blocks_take(place->blocks, 1, 0, &ids[0]), -ENOSPC);
	assert_int_equal(usage(place->blocks).used, n);
	assert_int_equal(usage(place->blocks).limit, n);
	assert_int_equal(n_waits, 0);
}

static void test_all_or_none(void **state)
{
	struct fixture *place = *state;
	uint32_t ids[4 * WIRE_SEGMENT_BLOCKS];

	assert_int_equal(blocks_take(place->blocks, 1000, 0, ids), 0);
	assert_int_equal(blocks_take(place->blocks, 24, 0, ids), -ENOSPC);
	assert_int_equal(blocks_take(place->blocks, 23, 1, ids), -ENOSPC);
	assert_int_equal(usage(place->blocks).used, 1000);
	assert_int_equal(blocks_take(place->blocks, 22, 1, ids), 0);
	assert_int_equal(blocks_take(place->blocks, 1, 0, ids), 0);
	assert_int_equal(blocks_take(place->blocks, 0, 0, ids), 0);
}

/* A block that was given back is handed out only after a grace period that began later. */
static void test_grace(void **state)
{
	struct fixture *place = *state;
	uint32_t ids[4 * WIRE_SEGMENT_BLOCKS], again[4 * WIRE_SEGMENT_BLOCKS];
	uint64_t stamp;

	assert_int_equal(blocks_take(place->blocks, 1023, 0, ids), 0);
	*(uint32_t *)blocks_at(place->blocks, ids[7]) = 4711;
	assert_int_equal(blocks_wait_grace(place->blocks), 0);
	stamp = blocks_stamp(place->blocks);
	blocks_give(place->blocks, &ids[7], 1);
	assert_int_equal(*(uint32_t *)blocks_at(place->blocks, ids[7]), 4711);
	assert_false(blocks_grace_over(place->blocks, stamp));
	assert_int_equal(usage(place->blocks).retired, 1);
	assert_int_equal(usage(place->blocks).used, 1022);

	/* No other block is left, so taking one waits for it. */
	assert_int_equal(n_waits, 1);
	assert_int_equal(blocks_take(place->blocks, 1, 0, again), 0);
	assert_int_equal(n_waits, 2);
	assert_true(blocks_grace_over(place->blocks, stamp));
	assert_int_equal(again[0], ids[7]);
	assert_int_equal(*(uint32_t *)blocks_at(place->blocks, again[0]), 0);

	place->maps->wait_grace = fail_wait;
	blocks_give(place->blocks, &ids[8], 1);
	assert_int_equal(blocks_take(place->blocks, 1, 0, again), -EINTR);
	place->maps->wait_grace = count_waits;
	assert_int_equal(blocks_take(place->blocks, 1, 0, again), 0);
	assert_int_equal(again[0], ids[8]);
}

/* While the pool can grow, taking blocks waits for no grace period. */
static void test_grow_first(void **state)
{
	struct fixture *place = *state;
	uint32_t ids[WIRE_SEGMENT_BLOCKS];

	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(blocks_take(place->blocks, 250, 0, ids), 0);
		blocks_give(place->blocks, ids, 250);
	}
	assert_int_equal(n_waits, 0);
	assert_int_equal(usage(place->blocks).used, 0);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(blocks_take(place->blocks, 250, 0, ids), 0);
		blocks_give(place->blocks, ids, 250);
	}
	assert_int_equal(usage(place->blocks).allocated, 1023);
	assert_true(n_waits > 5 && n_waits < 20);
}

enum { N_ALL = 4 * WIRE_SEGMENT_BLOCKS - 1, MOST_MAPPED = 32 * UNWIND_WINDOW_BLOCKS };

/* Few blocks are mapped at a time, whatever was written, and each has what was written to it. */
static void test_few_are_mapped(void **state)
{
	struct fixture *place = *state;
	uint32_t ids[N_ALL];

	assert_int_equal(blocks_take(place->blocks, N_ALL, 0, ids), 0);
	for (uint32_t i = 0; i < N_ALL; i++) {
		uint32_t *block = blocks_hold(place->blocks, ids[i]);

		assert_int_equal(*block, 0);
		*block = ids[i];
		blocks_drop(place->blocks, ids[i]);
		assert_true(usage(place->blocks).mapped <= MOST_MAPPED);
	}
	for (uint32_t i = 0; i < N_ALL; i++) {
		uint32_t id = ids[i * 331 % N_ALL];

		assert_int_equal(*(uint32_t *)blocks_hold(place->blocks, id), id);
		blocks_drop(place->blocks, id);
	}
	assert_int_equal(usage(place->blocks).mapped, MOST_MAPPED);
}

/* A block that is held stays where it is; so do those of blocks_at() until they are settled. */
static void test_used_stay_mapped(void **state)
{
	struct fixture *place = *state;
	uint32_t ids[N_ALL], *held, *at[N_ALL];

	assert_int_equal(blocks_take(place->blocks, N_ALL, 0, ids), 0);
	held = blocks_hold(place->blocks, ids[0]);
	*held = 4711;
	for (uint32_t i = 1; i < N_ALL; i++) {
		at[i] = blocks_at(place->blocks, ids[i]);
		*at[i] = i;
	}
	assert_int_equal(usage(place->blocks).mapped, N_ALL + 1);
	for (uint32_t i = 1; i < N_ALL; i++)
		assert_int_equal(*at[i], i);
	blocks_settle(place->blocks);
	assert_int_equal(usage(place->blocks).mapped, MOST_MAPPED);
	for (uint32_t i = N_ALL - 1; i > 0; i--) {
		assert_int_equal(*(uint32_t *)blocks_hold(place->blocks, ids[i]), i);
		blocks_drop(place->blocks, ids[i]);
	}
	assert_int_equal(*held, 4711);
	assert_ptr_equal(blocks_hold(place->blocks, ids[0]), held);
	blocks_drop(place->blocks, ids[0]);
	blocks_drop(place->blocks, ids[0]);
}

static void *fail_map(struct unwind_maps *maps, uint32_t first)
{
	(void)maps;
	(void)first;
	return NULL;
}

/* Without memory there is no pointer, and the next attempt succeeds. */
static void test_no_memory(void **state)
{
	struct fixture *place = *state;
	void *(*map)(struct unwind_maps *, uint32_t) = place->maps->map;
	uint32_t id;

	assert_int_equal(blocks_take(place->blocks, 1, 0, &id), 0);
	place->maps->map = fail_map;
	assert_null(blocks_hold(place->blocks, id));
	assert_null(blocks_at(place->blocks, id));
	place->maps->map = map;
	assert_non_null(blocks_hold(place->blocks, id));
	blocks_drop(place->blocks, id);
}

static void test_prepare(void **state)
{
	struct fixture *place = *state;

	assert_int_equal(blocks_prepare(place->blocks, 300), 0);
	assert_int_equal(usage(place->blocks).allocated, 2 * WIRE_SEGMENT_BLOCKS - 1);
	assert_int_equal(blocks_prepare(place->blocks, 300), 0);
	assert_int_equal(usage(place->blocks).allocated, 2 * WIRE_SEGMENT_BLOCKS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_take_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_or_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grow_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prepare, setup, teardown),
		cmocka_unit_test_setup_teardown(test_few_are_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_used_stay_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
