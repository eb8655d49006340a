// SPDX-License-Identifier: GPL-2.0-or-later
/* The two searches of a step, in blocks of every size: which mapping, which row, and how far it
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define N_BLOCKS 600
#define OWNER	 3u
#define TGID	 7u
#define MOST	 (UNWIND_CACHE_BLOCK - 1) /* bytes that a row is said to hold for on each side */

static union {
	struct wire_leaf leaf;
	struct wire_inner inner;
	struct wire_mappings mappings;
	struct wire_block_header header;
} blocks[N_BLOCKS];
static struct wire_process known;

static const struct wire_process *process_of(uint32_t tgid)
{
	return tgid == TGID ? &known : NULL;
}

#define UNWIND_CONTEXT
#define UNWIND_PASS
/* Where a block says that it has more keys than it can have, the search reads on in the block. */
#define UNWIND_INLINE	     static inline __attribute__((unused, no_sanitize("bounds")))
#define UNWIND_BLOCK(number) ((const void *)((number) < N_BLOCKS ? &blocks[number] : NULL))
#define UNWIND_PROCESS(tgid) process_of(tgid)
#define UNWIND_ADDRESS_BITS  48
#include "bpf/unwind_find.h"

static int setup(void **state)
{
	(void)state;
	memset(blocks, 0, sizeof(blocks));
	memset(&known, 0, sizeof(known));
	return 0;
}

/* ---- rows: a leaf has one every 3 bytes from its base on; their rules are 10, 11 ... */
static void fill_leaf(uint32_t number, uint32_t base, uint32_t n, uint32_t step)
{
	struct wire_leaf *leaf = &blocks[number].leaf;

	memset(leaf, 0, sizeof(*leaf));
	leaf->header = (struct wire_block_header){ .owner = OWNER, .base = base, .n = (uint16_t)n };
	for (uint32_t i = 0; i < n; i++)
		wire_leaf_put(leaf, i, i * step, i + 10);
}

static uint32_t find(uint32_t root, uint32_t address, struct unwind_found_row *row)
{
	memset(row, 0xee, sizeof(*row));
	return unwind_find_row(root, OWNER, address, row);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void each_row_of_leaves_of_all_sizes(void **state)
{
	static const uint32_t sizes[] = {
		1, 2, 31, 32, 33, 63, 64, 65, 500, WIRE_LEAF_ROWS - 1, WIRE_LEAF_ROWS
	};

	(void)state;
	for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
		uint32_t n = sizes[size];

		fill_leaf(1, 0x1000, n, 3);
		for (uint32_t at = 0; at < n * 3 + 600; at++) {
			uint32_t number = least(at / 3, n - 1);
			struct unwind_found_row row;

			assert_int_equal(find(1, 0x1000 + at, &row), WIRE_END_NONE);
			assert_int_equal(row.rule, number + 10);
			assert_int_equal(row.before, least(at - number * 3, MOST));
			assert_int_equal(row.after, number == n - 1 ? 0 : number * 3 + 2 - at);
		}
	}
}

static void rows_hold_far_beyond_the_last(void **state)
{
	struct unwind_found_row row;

	(void)state;
	fill_leaf(1, 0x1000, 2, 0x4000);
	assert_int_equal(find(1, 0x1000 + 0x1000, &row), WIRE_END_NONE);
	assert_true(row.rule == 10 && row.before == MOST && row.after == MOST);
	assert_int_equal(find(1, 0x1000 + 0x3fff, &row), WIRE_END_NONE);
	assert_true(row.rule == 10 && row.after == 0);
	assert_int_equal(find(1, 0x1000 + 0x4000 - UNWIND_CACHE_BLOCK, &row), WIRE_END_NONE);
	assert_true(row.rule == 10 && row.after == MOST);
	assert_int_equal(find(1, 0x1000 + 0x4001 - UNWIND_CACHE_BLOCK, &row), WIRE_END_NONE);
	assert_true(row.rule == 10 && row.after == MOST - 1);
	for (uint64_t at = 0x4000; at < 0xffffefff; at = at * 2 + 7) {
		assert_int_equal(find(1, (uint32_t)(0x1000 + at), &row), WIRE_END_NONE);
		assert_int_equal(row.rule, 11);
		assert_int_equal(row.before, least((uint32_t)at - 0x4000, MOST));
		assert_int_equal(row.after, 0);
	}
}

static void before_the_first_row_there_is_none(void **state)
{
	struct unwind_found_row row;

	(void)state;
	fill_leaf(1, 0x1000, 5, 3);
	assert_int_equal(find(1, 0xfff, &row), WIRE_END_NONE);
	assert_true(row.rule == 0 && row.before == 0 && row.after == 0);
	fill_leaf(1, 0x1000, 0, 3);
	assert_int_equal(find(1, 0x1000, &row), WIRE_END_NONE);
	assert_int_equal(row.rule, 0);
	/* A leaf's first row may be above its base. */
	fill_leaf(1, 0x1000, 1, 3);
	wire_leaf_put(&blocks[1].leaf, 0, 16, 10);
	assert_int_equal(find(1, 0x100f, &row), WIRE_END_NONE);
	assert_int_equal(row.rule, 0);
	assert_int_equal(find(1, 0x1010, &row), WIRE_END_NONE);
	assert_int_equal(row.rule, 10);
}

/* An inner block of leaves, each of `span` bytes and with two rows. */
static void fill_inner(uint32_t number, uint32_t first_leaf, uint32_t n, uint32_t base,
		       uint32_t span)
{
	struct wire_inner *inner = &blocks[number].inner;

	inner->header = (struct wire_block_header){ .owner = OWNER, .n = (uint16_t)n, .level = 1 };
	for (uint32_t i = 0; i < n; i++) {
		inner->keys[i] = base + i * span;
		inner->children[i] = first_leaf + i;
		fill_leaf(first_leaf + i, base + i * span, 2, span / 2);
	}
}

static void inner_blocks_of_all_sizes(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 255, 256, 257, WIRE_INNER_CHILDREN };

	(void)state;
	for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
		uint32_t n = sizes[size];

		fill_inner(1, 2, n, 0x1000, 8);
		for (uint32_t at = 0; at < n * 8 + 16; at++) {
			struct unwind_found_row row;
			uint32_t second = at >= n * 8 || at % 8 >= 4;

			assert_int_equal(find(1, 0x1000 + at, &row), WIRE_END_NONE);
			assert_int_equal(row.rule, 10 + second);
			assert_int_equal(row.before, at >= n * 8 ? at - n * 8 + 4 : at % 4);
		}
		for (uint32_t at = 0; at < 0x1000; at += 0xfff) {
			struct unwind_found_row row;

			assert_int_equal(find(1, at, &row), WIRE_END_NONE);
			assert_int_equal(row.rule, 0);
		}
	}
	/* A missing child. */
	fill_inner(1, 2, 3, 0x1000, 8);
	blocks[1].inner.children[1] = WIRE_NO_BLOCK;
	for (uint32_t at = 0; at < 24; at++) {
		struct unwind_found_row row;

		assert_int_equal(find(1, 0x1000 + at, &row), WIRE_END_NONE);
		assert_int_equal(row.rule, at / 8 == 1 ? 0 : 10 + (at % 8 >= 4));
	}
}

static void tables_have_three_levels(void **state)
{
	struct wire_inner *top = &blocks[1].inner;
	struct unwind_found_row row;

	(void)state;
	top->header = (struct wire_block_header){ .owner = OWNER, .n = 2, .level = 2 };
	top->keys[0] = 0x1000;
	top->children[0] = 2;
	top->keys[1] = 0x1018;
	top->children[1] = 3;
	fill_inner(2, 10, 3, 0x1000, 8);
	fill_inner(3, 20, 2, 0x1018, 8);
	for (uint32_t at = 0; at < 40; at++) {
		assert_int_equal(find(1, 0x1000 + at, &row), WIRE_END_NONE);
		assert_int_equal(row.rule, 10 + (at % 8 >= 4));
		assert_int_equal(row.before, at % 4);
	}
	/* A fourth level means damage. */
	blocks[5].inner.header = (struct wire_block_header){ .owner = OWNER, .n = 1, .level = 3 };
	blocks[5].inner.children[0] = 1;
	assert_int_equal(find(5, 0x1000, &row), WIRE_END_STALE);
}

/* More keys than a block has room for, which only damage can say. */
static void too_many_keys_are_stale(void **state)
{
	struct unwind_found_row row;

	(void)state;
	fill_inner(1, 2, WIRE_INNER_CHILDREN, 0x1000, 8);
	assert_int_equal(find(1, 0xf000, &row), WIRE_END_NONE);
	blocks[1].inner.header.n = WIRE_INNER_CAPACITY;
	assert_int_equal(find(1, 0xf000, &row), WIRE_END_STALE);
}

static void blocks_of_others_are_stale(void **state)
{
	struct unwind_found_row row;

	(void)state;
	fill_inner(1, 2, 3, 0x1000, 8);
	assert_int_equal(find(N_BLOCKS, 0x1008, &row), WIRE_END_STALE);
	blocks[1].header.owner = OWNER + 1;
	assert_int_equal(find(1, 0x1008, &row), WIRE_END_STALE);
	blocks[1].header.owner = OWNER;
	blocks[3].header.owner = OWNER + 1;
	assert_int_equal(find(1, 0x1008, &row), WIRE_END_STALE);
	assert_int_equal(find(1, 0x1007, &row), WIRE_END_NONE);
	blocks[1].inner.children[1] = N_BLOCKS;
	assert_int_equal(find(1, 0x1008, &row), WIRE_END_STALE);
}

/* ---- mappings: each of 0x1000 bytes, every second one, numbered by their bias */
#define MAPPING_STEP 0x2000ull

static struct wire_chunk_head *head_of(uint32_t block, uint32_t slot)
{
	return (void *)&blocks[block].mappings.slots[slot];
}

static void fill_chunk(uint32_t chunk, uint32_t block, uint32_t slot, uint32_t n, uint64_t start)
{
	struct wire_mappings *mappings = &blocks[block].mappings;

	known.owner = 5;
	if (known.n_chunks <= chunk)
		known.n_chunks = chunk + 1;
	known.chunks[chunk] = (struct wire_chunk){
		.first = start, .block = block, .slot = (uint16_t)slot, .n = (uint16_t)n
	};
	*head_of(block, slot) = (struct wire_chunk_head){ .owner = 5, .n = n };
	for (uint32_t i = 0; i < n; i++)
		mappings->slots[slot + 1 + i] = (struct wire_mapping){
			.start = start + i * MAPPING_STEP,
			.end = start + i * MAPPING_STEP + 0x1000,
			.bias = start + i,
			.root = 100 + i,
			.owner = 200 + i,
		};
}

static void at_mapping(uint64_t address, uint64_t start, uint32_t i)
{
	struct unwind_walk walk = { .tgid = TGID };

	assert_int_equal(unwind_find_mapping(&walk, address), WIRE_END_NONE);
	assert_int_equal(walk.start, start + i * MAPPING_STEP);
	assert_int_equal(walk.end, start + i * MAPPING_STEP + 0x1000);
	assert_int_equal(walk.bias, start + i);
	assert_int_equal(walk.root, 100 + i);
	assert_int_equal(walk.owner, 200 + i);
	assert_int_equal(walk.layout, 5);
}

static void fails(uint64_t address, uint32_t end)
{
	struct unwind_walk walk = { .tgid = TGID };

	assert_int_equal(unwind_find_mapping(&walk, address), end);
}

static void each_mapping_of_chunks_of_all_sizes(void **state)
{
	static const uint32_t sizes[] = {
		1, 2, 3, 63, 64, 65, WIRE_CHUNK_SLOTS - 2, WIRE_CHUNK_SLOTS - 1
	};

	(void)state;
	for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
		uint32_t n = sizes[size];

		for (uint32_t slot = 0; slot + 1 + n <= WIRE_CHUNK_SLOTS;
		     slot += slot < 2 ? 1 : 31) {
			setup(state);
			fill_chunk(0, 1, slot, n, 0x400000);
			for (uint32_t i = 0; i < n; i++) {
				uint64_t start = 0x400000 + i * MAPPING_STEP;

				at_mapping(start, 0x400000, i);
				at_mapping(start + 0xfff, 0x400000, i);
				fails(start + 0x1000, WIRE_END_NO_MAPPING);
				fails(start - 1, WIRE_END_NO_MAPPING);
			}
			fails(0, WIRE_END_NO_MAPPING);
			fails(UINT64_MAX, WIRE_END_NO_MAPPING);
		}
	}
}

static void chunks_follow_one_another(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= WIRE_MAX_CHUNKS; n++) {
		setup(state);
		for (uint32_t chunk = 0; chunk < n; chunk++)
			fill_chunk(chunk, 1 + chunk, 3, 2, 0x400000 + chunk * 2 * MAPPING_STEP);
		for (uint32_t chunk = 0; chunk < n; chunk++) {
			uint64_t first = 0x400000 + chunk * 2 * MAPPING_STEP;

			at_mapping(first, first, 0);
			at_mapping(first + MAPPING_STEP + 0xfff, first, 1);
			fails(first + 0x1000, WIRE_END_NO_MAPPING);
			fails(first - 1, WIRE_END_NO_MAPPING);
		}
	}
}

/* [vsyscall] lies in the upper half. */
static void mappings_of_the_upper_half(void **state)
{
	(void)state;
	fill_chunk(0, 1, 0, 1, 0x400000);
	fill_chunk(1, 2, 0, 1, 0xffffffffff600000ull);
	at_mapping(0xffffffffff600800ull, 0xffffffffff600000ull, 0);
	at_mapping(0x400000, 0x400000, 0);
	fails(0xffffffffff601000ull, WIRE_END_NO_MAPPING);
}

static void changed_mappings_are_stale(void **state)
{
	struct unwind_walk walk = { .tgid = TGID + 1 };

	(void)state;
	fill_chunk(0, 1, 2, 2, 0x400000);
	assert_int_equal(unwind_find_mapping(&walk, 0x400000), WIRE_END_NO_PROCESS);
	walk = (struct unwind_walk){ .tgid = TGID, .layout = 4 };
	assert_int_equal(unwind_find_mapping(&walk, 0x400000), WIRE_END_STALE);
	walk.layout = 5;
	assert_int_equal(unwind_find_mapping(&walk, 0x400000), WIRE_END_NONE);
	known.chunks[0].n = 0;
	fails(0x400000, WIRE_END_STALE);
	known.chunks[0].n = 2;
	known.chunks[0].block = N_BLOCKS;
	fails(0x400000, WIRE_END_STALE);
	known.chunks[0].block = 1;
	known.chunks[0].slot = WIRE_CHUNK_SLOTS;
	fails(0x400000, WIRE_END_STALE);
	known.chunks[0].slot = 2;
	head_of(1, 2)->owner = 6;
	fails(0x400000, WIRE_END_STALE);
	known.n_chunks = 0;
	fails(0x400000, WIRE_END_NO_MAPPING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_row_of_leaves_of_all_sizes, setup),
		cmocka_unit_test_setup(rows_hold_far_beyond_the_last, setup),
		cmocka_unit_test_setup(before_the_first_row_there_is_none, setup),
		cmocka_unit_test_setup(inner_blocks_of_all_sizes, setup),
		cmocka_unit_test_setup(tables_have_three_levels, setup),
		cmocka_unit_test_setup(too_many_keys_are_stale, setup),
		cmocka_unit_test_setup(blocks_of_others_are_stale, setup),
		cmocka_unit_test_setup(each_mapping_of_chunks_of_all_sizes, setup),
		cmocka_unit_test_setup(chunks_follow_one_another, setup),
		cmocka_unit_test_setup(mappings_of_the_upper_half, setup),
		cmocka_unit_test_setup(changed_mappings_are_stale, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
