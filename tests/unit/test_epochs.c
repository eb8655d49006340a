// SPDX-License-Identifier: GPL-2.0-or-later
/* Draining the counts of an epoch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drain/epochs.h"

#define SETS 8u

static struct wire_counts counts[SETS * WIRE_EPOCHS];
static volatile uint32_t now;

struct taken {
	uint32_t n, most;
	uint64_t sum, lows, highs;
};

static int take(void *context, const struct wire_hash *hash, uint64_t count)
{
	struct taken *taken = context;

	if (taken->n == taken->most)
		return -7;
	taken->n++;
	taken->sum += count;
	taken->lows += hash->low;
	taken->highs += hash->high;
	return 0;
}

static struct epochs *fill(void)
{
	struct epochs *epochs = NULL;

	memset(counts, 0, sizeof(counts));
	counts[0] = (struct wire_counts){ .low = { 1, 9, 2 },
					  .count = { 10, 0, 1ull << 40 },
					  .high = { 3, 9, 4 } };
	counts[SETS - 1] = (struct wire_counts){ .low = { 5 }, .count = { 7 }, .high = { ~0u } };
	counts[SETS] = (struct wire_counts){ .low = { 8 }, .count = { 100 }, .high = { 8 } };
	assert_int_equal(epochs_new(counts, SETS, &now, &epochs), 0);
	return epochs;
}

static void draining_takes_all_of_one_epoch_only(void **state)
{
	struct epochs *epochs = fill();
	struct taken taken = { .most = 100 }, other = { .most = 100 }, again = { .most = 100 };

	(void)state;
	assert_int_equal(epochs_drain(epochs, 0, take, &taken), 0);
	assert_int_equal(taken.n, 3);
	assert_int_equal(taken.sum, 17 + (1ull << 40));
	assert_int_equal(taken.lows, 1 + 2 + 5);
	assert_int_equal(taken.highs, 3 + 4 + 0xffffffffull);
	assert_int_equal(epochs_drain(epochs, 0, take, &again), 0);
	assert_int_equal(again.n, 0);
	assert_int_equal(epochs_drain(epochs, 1, take, &other), 0);
	assert_int_equal(other.n, 1);
	assert_int_equal(other.sum, 100);
	epochs_free(epochs);
}

static void the_callback_can_stop(void **state)
{
	struct epochs *epochs = fill();
	struct taken taken = { .most = 1 };

	(void)state;
	assert_int_equal(epochs_drain(epochs, 0, take, &taken), -7);
	assert_int_equal(taken.n, 1);
	epochs_free(epochs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draining_takes_all_of_one_epoch_only),
		cmocka_unit_test(the_callback_can_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
