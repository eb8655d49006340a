// SPDX-License-Identifier: GPL-2.0-or-later
/* Cached rules: used for the same layout and addresses only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define CODE   0x10000ull
#define STACK  0x7000ull
#define CALLER (CODE + 0x800)

/* One process with one file, and a stack of two words. */
static struct {
	union {
		struct wire_mappings all;
		struct wire_chunk_head head;
	} mappings;
	struct wire_process process;
	struct wire_rule rule;
	struct unwind_cached_rule cached;
	uint64_t stack[2];
	uint32_t searches;
	uint32_t before, after; /* what find_row() returns */
} image;

static int read_stack(void *to, uint32_t size, uint64_t address)
{
	uint64_t at = address - STACK;

	if (at > sizeof(image.stack) || size > sizeof(image.stack) - at)
		return -1;
	memcpy(to, (const char *)image.stack + at, size);
	return 0;
}

static uint32_t find_row(uint32_t address, struct unwind_found_row *ret_row)
{
	image.searches++;
	*ret_row = (struct unwind_found_row){ .rule = 1,
					      .before = image.before,
					      .after = image.after };
	return address < 0x1000 ? WIRE_END_NONE : WIRE_END_STALE;
}

static const void *block_at(uint32_t block)
{
	return block == 1 ? &image.mappings : NULL;
}

static const struct wire_rule *rule_at(uint32_t number)
{
	return number == 1 ? &image.rule : NULL;
}

static const struct wire_process *process_of(uint32_t tgid)
{
	return tgid == 7 ? &image.process : NULL;
}

#define UNWIND_CONTEXT
#define UNWIND_PASS
#define UNWIND_INLINE			  static inline __attribute__((unused))
#define UNWIND_READ(to, size, address)	  read_stack(to, size, address)
#define UNWIND_CODE(to, size, address)	  ((void)(to), (void)(address), -1)
#define UNWIND_BLOCK(block)		  block_at(block)
#define UNWIND_RULE(number)		  rule_at(number)
#define UNWIND_PROCESS(tgid)		  process_of(tgid)
#define UNWIND_ADDRESS_BITS		  48
#define UNWIND_CACHED_RULE(walk, address) ((void)(walk), (void)(address), &image.cached)
#define UNWIND_FIND_ROW(root, owner, address, ret_row)                                             \
	((void)(root), (void)(owner), find_row(address, ret_row))
#include "bpf/unwind_step.h"

/* One file, mapped at CODE, with one rule (frames of 16 bytes), and a stack with one caller. */
static int setup(void **state)
{
	(void)state;
	memset(&image, 0, sizeof(image));
	image.rule = (struct wire_rule){ .cfa = WIRE_CFA_SP, .cfa_offset = 16 };
	image.stack[1] = CALLER;
	image.process = (struct wire_process){
		.owner = 5,
		.n_chunks = 1,
		.chunks = { { .first = CODE, .block = 1, .n = 1 } },
	};
	image.mappings.head = (struct wire_chunk_head){ .owner = 5, .n = 1 };
	image.mappings.all.slots[1] = (struct wire_mapping){
		.start = CODE, .end = CODE + 0x1000, .bias = CODE, .root = 2, .owner = 3
	};
	return 0;
}

/* The process changes its mappings. */
static void change_layout(void)
{
	image.process.owner = 6;
	image.mappings.head.owner = 6;
}

static struct unwind_walk walk_from(uint64_t pc, uint32_t layout)
{
	struct unwind_walk walk = {
		.pc = pc, .known = UNWIND_ALL_KNOWN, .exact = 1, .tgid = 7, .layout = layout
	};

	walk.registers[UNWIND_SP] = STACK;
	return walk;
}

static void assert_at_caller(const struct unwind_walk *walk)
{
	assert_int_equal(walk->pc, CALLER);
	assert_int_equal(walk->registers[UNWIND_SP], STACK + 16);
	assert_int_equal(walk->callee_owner, 3);
}

static void test_used_again(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct unwind_walk walk = walk_from(CODE + 0x100, 5);

		assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
		assert_at_caller(&walk);
		assert_int_equal(image.searches, 1);
	}
}

static void test_not_for_another_address(void **state)
{
	struct unwind_walk walk = walk_from(CODE + 0x100, 5);

	(void)state;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	walk = walk_from(CODE + 0x101, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(image.searches, 2);
}

static void step_at(uint64_t pc, uint32_t searches)
{
	struct unwind_walk walk = walk_from(pc, 5);

	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_at_caller(&walk);
	assert_int_equal(image.searches, searches);
}

/* Used for the addresses of its row only. */
static void test_for_a_row(void **state)
{
	(void)state;
	image.before = 3;
	image.after = 7;
	step_at(CODE + 0x110, 1);
	step_at(CODE + 0x110 - 3, 1);
	step_at(CODE + 0x110 + 7, 1);
	step_at(CODE + 0x110 + 8, 2);
	step_at(CODE + 0x110, 3);
	step_at(CODE + 0x110 - 4, 4);
}

/* Used within one block of code only. */
static void test_for_a_block(void **state)
{
	const uint64_t block = CODE + 4 * UNWIND_CACHE_BLOCK, last = UNWIND_CACHE_BLOCK - 1;

	(void)state;
	image.before = image.after = last;
	step_at(block + UNWIND_CACHE_BLOCK / 2, 1);
	step_at(block, 1);
	step_at(block + last, 1);
	step_at(block - 1, 2);
	step_at(block + UNWIND_CACHE_BLOCK, 3);
	step_at(block + last, 4);
}

/* Used within the mapping only. */
static void test_for_a_mapping(void **state)
{
	struct unwind_walk walk = walk_from(CODE + 0x90, 5);

	(void)state;
	image.mappings.all.slots[1].start = CODE + 0x80;
	image.mappings.all.slots[1].end = CODE + 0xa0;
	image.before = image.after = UNWIND_CACHE_BLOCK - 1;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	walk = walk_from(CODE + 0x80, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	walk = walk_from(CODE + 0x9f, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(image.searches, 1);
	walk = walk_from(CODE + 0x7f, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_NO_MAPPING);
	walk = walk_from(CODE + 0xa0, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_NO_MAPPING);
	assert_int_equal(image.searches, 1);
}

static void test_not_for_another_layout(void **state)
{
	struct unwind_walk walk = walk_from(CODE + 0x100, 5);

	(void)state;
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	change_layout();
	image.rule.cfa_offset = 8;
	image.stack[0] = CALLER;
	walk = walk_from(CODE + 0x100, 6);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.registers[UNWIND_SP], STACK + 8);
	assert_int_equal(image.searches, 2);
}

static void test_nothing_without_a_layout(void **state)
{
	struct unwind_walk walk = walk_from(0, 0);

	(void)state;
	/* An empty entry is not a rule for address 0. */
	assert_int_equal(unwind_step(&walk), WIRE_END_NO_MAPPING);
	walk = walk_from(CODE + 0x100, 0);
	assert_int_equal(unwind_step(&walk), WIRE_END_NONE);
	assert_int_equal(walk.layout, 5);
	assert_int_equal(image.cached.layout, 5);
}

/* A walk ends if the mappings have changed since it began. */
static void test_changed_meanwhile(void **state)
{
	struct unwind_walk walk = walk_from(CODE + 0x100, 5);

	(void)state;
	change_layout();
	assert_int_equal(unwind_step(&walk), WIRE_END_STALE);
	assert_int_equal(image.cached.layout, 0);
}

static void test_no_row_is_not_cached(void **state)
{
	struct unwind_walk walk;

	(void)state;
	image.mappings.all.slots[1].end = CODE + 0x10000;
	walk = walk_from(CODE + 0x2000, 5);
	assert_int_equal(unwind_step(&walk), WIRE_END_STALE);
	assert_int_equal(image.cached.layout, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_used_again, setup),
		cmocka_unit_test_setup(test_not_for_another_address, setup),
		cmocka_unit_test_setup(test_for_a_row, setup),
		cmocka_unit_test_setup(test_for_a_block, setup),
		cmocka_unit_test_setup(test_for_a_mapping, setup),
		cmocka_unit_test_setup(test_not_for_another_layout, setup),
		cmocka_unit_test_setup(test_nothing_without_a_layout, setup),
		cmocka_unit_test_setup(test_changed_meanwhile, setup),
		cmocka_unit_test_setup(test_no_row_is_not_cached, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
