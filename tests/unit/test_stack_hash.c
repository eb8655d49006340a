// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/stack_hash.h"

#define STACKS 1000000u
#define FRAMES 20u

static struct wire_hash hash_of(const uint64_t *words, size_t n, uint64_t seed)
{
	const __u64 seeds[] = { seed, ~seed };

	return stack_hash_of(seeds, words, n);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Like real stacks: few addresses, close together, many of them shared. */
static void one_stack(uint32_t i, uint64_t *frames)
{
	for (uint32_t k = 0; k < FRAMES; k++)
		frames[k] = 0x55d0c0001000 + ((i >> k & 1) ? 0x40 : 0) + k * 0x80;
}

static void each_lane_alone_tells_stacks_apart(void **state)
{
	uint64_t *low = malloc(STACKS * sizeof(*low)), *high = malloc(STACKS * sizeof(*high));
	uint64_t frames[FRAMES];
	uint32_t collisions = 0;

	(void)state;
	assert_non_null(low);
	assert_non_null(high);
	for (uint32_t i = 0; i < STACKS; i++) {
		struct wire_hash hash;

		one_stack(i, frames);
		hash = hash_of(frames, FRAMES, 0x1234567890abcdefull);
		low[i] = hash.low;
		high[i] = hash.high;
	}
	qsort(low, STACKS, sizeof(*low), compare_u64);
	qsort(high, STACKS, sizeof(*high), compare_u64);
	/* A million values of 64 random bits collide with a probability of 3 in 10^8. */
	for (uint32_t i = 1; i < STACKS; i++) {
		assert_int_not_equal(low[i - 1], low[i]);
		collisions += high[i - 1] == high[i];
	}
	/* With 32 bits, 116 collide on average; 6 sigma is 65. */
	assert_in_range(collisions, 51, 181);
	assert_in_range(high[STACKS - 1], 1u << 31, UINT32_MAX);
	free(low);
	free(high);
}

static void every_bit_matters_everywhere(void **state)
{
	uint64_t frames[FRAMES];
	struct wire_hash before;

	(void)state;
	one_stack(7, frames);
	before = hash_of(frames, FRAMES, 1);
	for (uint32_t bit = 0; bit < FRAMES * 64; bit++) {
		struct wire_hash after;
		int changed;

		frames[bit / 64] ^= 1ull << bit % 64;
		after = hash_of(frames, FRAMES, 1);
		frames[bit / 64] ^= 1ull << bit % 64;
		changed = __builtin_popcountll(before.low ^ after.low) +
			  __builtin_popcountll(before.high ^ after.high);
		/* Half of 96 on average; 6 sigma is 29. */
		assert_in_range(changed, 19, 77);
	}
}

static void order_length_and_seed_matter(void **state)
{
	const uint64_t ab[] = { 1, 2, 0 }, ba[] = { 2, 1, 0 };
	struct wire_hash one = hash_of(ab, 2, 5), other = hash_of(ba, 2, 5);

	(void)state;
	assert_memory_not_equal(&one, &other, sizeof(one));
	other = hash_of(ab, 3, 5);
	assert_memory_not_equal(&one, &other, sizeof(one));
	other = hash_of(ab, 2, 6);
	assert_memory_not_equal(&one, &other, sizeof(one));
	other = hash_of(ab, 2, 5);
	assert_memory_equal(&one, &other, sizeof(one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_lane_alone_tells_stacks_apart),
		cmocka_unit_test(every_bit_matters_everywhere),
		cmocka_unit_test(order_length_and_seed_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
