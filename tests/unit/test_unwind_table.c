// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows packed into blocks, and found by the search that BPF programs use: made-up tables of all
 * shapes, and real files, at the boundaries of each row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machine.h"
#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/table.h"

static struct blocks *blocks;
static const void *block_at(uint32_t id);

#define NATIVE_BLOCK(block)  block_at(block)
#define NATIVE_PROCESS(tgid) ((const struct wire_process *)((void)(tgid), NULL))
#include "unwind_native.h"

#define MOST (UNWIND_CACHE_BLOCK - 1) /* bytes that a row is said to hold for on each side */

static struct unwind_maps *maps;

static const void *block_at(uint32_t id)
{
	struct blocks_usage usage;

	blocks_usage(blocks, &usage);
	return id != WIRE_NO_BLOCK && id <= usage.allocated ? blocks_at(blocks, id) : NULL;
}

static int setup(void **state)
{
	(void)state;
	assert_int_equal(memory_maps_new(&maps), 0);
	assert_int_equal(blocks_new(maps, 128u << 20, &blocks), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	blocks_free(blocks);
	unwind_maps_close(maps);
	return 0;
}

/* Any numbers that differ from the rules' own. */
static uint16_t number_of(uint16_t rule)
{
	return (uint16_t)(rule * 3 + 1);
}

static struct table_tree pack(const struct unwind_row *rows, uint32_t n, uint32_t owner)
{
	uint16_t *numbers = calloc(WIRE_MAX_RULES, sizeof(*numbers));
	struct table_tree tree;

	for (uint32_t i = 0; i < WIRE_MAX_RULES; i++)
		numbers[i] = number_of((uint16_t)i);
	assert_int_equal(table_pack(blocks, rows, n, numbers, owner, 0, &tree), 0);
	assert_int_equal(tree.n, table_blocks(rows, n));
	assert_int_equal(tree.owner, owner);
	free(numbers);
	return tree;
}

static struct unwind_found_row assert_found(const struct table_tree *tree, uint32_t address,
					    uint32_t wanted)
{
	struct unwind_found_row row = { .rule = 0xabcdef };
	uint32_t end = unwind_find_row(tree->root, tree->owner, address, &row);

	if (end != WIRE_END_NONE || row.rule != wanted)
		fail_msg("at %#x: end %u, rule %u, wanted %u", address, end, row.rule, wanted);
	return row;
}

/* As above; the row must hold for addresses from `first` to `last` only. */
static uint32_t assert_row(const struct table_tree *tree, uint32_t address, uint32_t wanted,
			   uint32_t first, uint32_t last)
{
	struct unwind_found_row row = assert_found(tree, address, wanted);

	if (row.before > MOST || row.before > address - first || row.after > MOST ||
	    row.after > last - address)
		fail_msg("at %#x: %u before, %u after, of %#x to %#x", address, row.before,
			 row.after, first, last);
	return row.before + row.after;
}

/*
 * Compares at the first, a middle and the last address of each row. Returns the number of rows
 * whose extent the search at the first address gives.
 */
static uint32_t assert_same(const struct table_tree *tree, const struct unwind_row *rows,
			    uint32_t n)
{
	uint32_t known = 0;

	if (rows[0].address > 0) {
		assert_row(tree, rows[0].address - 1, 0, 0, rows[0].address - 1);
		assert_row(tree, 0, 0, 0, rows[0].address - 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t wanted = number_of(rows[i].rule), first = rows[i].address;
		uint32_t last = i + 1 < n ? rows[i + 1].address - 1 : UINT32_MAX;

		known += assert_row(tree, first, wanted, first, last) ==
			 (last - first < MOST ? last - first : MOST);
		assert_row(tree, last, wanted, first, last);
		assert_row(tree, first + (last - first) / 2, wanted, first, last);
	}
	return known;
}

static void test_shapes(void **state)
{
	static const uint32_t gaps[] = { 1, 7, 64, 65, 4096, 0xffff, 0x10000, 0x10001, 0x12345 };
	static const uint32_t sizes[] = { 1, 2, 1019, 1020, 1021, 2040, 5000, 17000 };
	struct unwind_row *rows = calloc(17000, sizeof(*rows));

	(void)state;
	for (uint32_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		for (uint32_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			struct table_tree tree;

			for (uint32_t i = 0; i < sizes[s]; i++) {
				rows[i].address = (i ? rows[i - 1].address : g) + gaps[g] + i % 3;
				rows[i].rule = (uint16_t)(i % 5000);
			}
			tree = pack(rows, sizes[s], 7);
			assert_same(&tree, rows, sizes[s]);
			table_release(blocks, &tree);
			assert_int_equal(blocks_wait_grace(blocks), 0);
		}
	}
	free(rows);
}

/* The first and the last address, and the widest leaf. */
static void test_ends(void **state)
{
	const struct unwind_row rows[] = {
		{ 0, 5 }, { 0xffff, 6 }, { 0x10000, 7 }, { 0xfffffffe, 8 }, { 0xffffffff, 9 },
	};
	struct table_tree tree = pack(rows, 5, 1);

	(void)state;
	assert_same(&tree, rows, 5);
	assert_int_equal(tree.n, 4); /* three leaves and their root */
	table_release(blocks, &tree);
	assert_int_equal(table_pack(blocks, rows, 0, NULL, 1, 0, &tree), -EINVAL);
}

/* More leaves than one inner block has children: three levels. */
static void test_levels(void **state)
{
	uint32_t n = 600;
	struct unwind_row *rows = calloc(n, sizeof(*rows));
	struct table_tree tree;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct unwind_row){ i * 0x20000u, (uint16_t)(i % 7 + 1) };
	tree = pack(rows, n, 3);
	assert_int_equal(tree.n, 600 + 2 + 1);
	assert_same(&tree, rows, n);
	table_release(blocks, &tree);
	free(rows);
}

/* A walk that refers to a released table finds another owner. */
static void test_stale(void **state)
{
	const struct unwind_row rows[] = { { 0x1000, 5 }, { 0x2000, 6 } };
	struct table_tree tree = pack(rows, 2, 1), next;
	uint32_t root = tree.root;
	struct unwind_found_row row;

	(void)state;
	table_release(blocks, &tree);
	/* The table remains until the end of the grace period. */
	assert_int_equal(unwind_find_row(root, 1, 0x1000, &row), WIRE_END_NONE);
	assert_int_equal(row.rule, number_of(5));
	assert_int_equal(blocks_wait_grace(blocks), 0);
	assert_int_equal(unwind_find_row(root, 1, 0x1000, &row), WIRE_END_STALE);
	next = pack(rows, 2, 2);
	assert_int_equal(next.root, root);
	assert_int_equal(unwind_find_row(root, 1, 0x1000, &row), WIRE_END_STALE);
	assert_int_equal(unwind_find_row(root, 2, 0x1000, &row), WIRE_END_NONE);
	table_release(blocks, &next);
}

static void *no_memory(struct unwind_maps *its_maps, uint32_t first)
{
	(void)its_maps;
	(void)first;
	return NULL;
}

static void test_too_big(void **state)
{
	struct blocks *small;
	struct unwind_maps *other;
	struct unwind_row *rows = calloc(300, sizeof(*rows));
	uint16_t numbers[1] = { 1 };
	struct table_tree tree;
	struct blocks_usage usage;

	(void)state;
	assert_int_equal(memory_maps_new(&other), 0);
	assert_int_equal(blocks_new(other, 1, &small), 0);
	for (uint32_t i = 0; i < 300; i++)
		rows[i].address = i * 0x20000u;
	assert_int_equal(table_pack(small, rows, 300, numbers, 1, 0, &tree), -ENOSPC);
	assert_int_equal(table_pack(small, rows, 200, numbers, 1, 55, &tree), -ENOSPC);
	assert_int_equal(table_pack(small, rows, 200, numbers, 1, 54, &tree), 0);
	blocks_usage(small, &usage);
	assert_int_equal(usage.used, 201);
	table_release(small, &tree);
	assert_int_equal(blocks_wait_grace(small), 0);
	/* What cannot be mapped is not packed, and keeps no block. */
	blocks_free(small);
	assert_int_equal(blocks_new(other, 1, &small), 0);
	other->map = no_memory;
	assert_int_equal(table_pack(small, rows, 200, numbers, 1, 0, &tree), -ENOMEM);
	blocks_usage(small, &usage);
	assert_int_equal(usage.used, 0);
	blocks_free(small);
	unwind_maps_close(other);
	free(rows);
}

static uint64_t compare_file(const char *path, uint32_t *ret_blocks)
{
	struct rule_table *rule_table;
	struct unwind_rows rows;
	struct table_tree tree;
	struct error err = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t n;

	assert_true(fd >= 0);
	assert_int_equal(rule_table_new(&rule_table), 0);
	assert_int_equal(unwind_rows_compile(fd, rule_table, &rows, &err), 0);
	close(fd);
	tree = pack(rows.rows, rows.n, 77);
	/* For all rows but the last of each leaf. */
	assert_true(assert_same(&tree, rows.rows, rows.n) + tree.n >= rows.n);
	*ret_blocks = tree.n;
	n = rows.n;
	printf("%s: %llu rows in %u blocks, %.2f bytes a row\n", path, (unsigned long long)n,
	       tree.n, tree.n * (double)WIRE_BLOCK_SIZE / (double)n);
	table_release(blocks, &tree);
	blocks_wait_grace(blocks);
	unwind_rows_free(&rows);
	rule_table_free(rule_table);
	return n;
}

static void test_files(void **state)
{
	static const char *const patterns[] = {
		"/lib/" ARCH_MULTIARCH "/libc.so.6",
		"/usr/lib/" ARCH_MULTIARCH "/libcrypto.so.3",
		"/usr/bin/python3",
		"/usr/lib/" ARCH_MULTIARCH "/libstdc++.so.6",
		"/usr/bin/bash",
	};
	uint32_t n_files = 0, n_blocks;
	uint64_t rows = 0, bytes = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found) == 0) {
			rows += compare_file(found.gl_pathv[0], &n_blocks);
			bytes += (uint64_t)n_blocks * WIRE_BLOCK_SIZE;
			n_files++;
			globfree(&found);
		}
	}
	assert_true(n_files >= 2);
	assert_true(rows > 30000);
	assert_true(bytes < rows * 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_big, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
