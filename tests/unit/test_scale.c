// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/profile.h"

#define SECOND 1000000000u

struct example {
	struct profile_meta now, base;
	enum scale_how how; /* the wanted one */
	uint64_t count;	    /* a count of the base */
	enum scale_how expected_how;
	uint64_t expected;
};

/* The totals are 30 now and 10 in the base. */
static void counts_are_scaled(void **state)
{
	const struct profile_meta at_49 = { .event = "cycles",
					    .frequency = 49,
					    .duration_ns = 5ull * SECOND };
	const struct profile_meta at_98 = { .event = "cycles",
					    .frequency = 98,
					    .duration_ns = 10ull * SECOND };
	/* A period of 10 ms of the CPU clock is 100 Hz. */
	const struct profile_meta clock = { .event = "cpu-clock",
					    .period = 10000000,
					    .duration_ns = 5ull * SECOND };
	const struct profile_meta at_50 = { .event = "cpu-clock",
					    .frequency = 50,
					    .duration_ns = 5ull * SECOND };
	const struct profile_meta each = { .event = "c:malloc",
					   .period = 1,
					   .duration_ns = 2ull * SECOND };
	const struct profile_meta in_1000 = { .event = "instructions",
					      .period = 1000,
					      .duration_ns = 1ull * SECOND };
	const struct profile_meta endless = { .event = "c:malloc",
					      .period = 1ull << 62,
					      .duration_ns = UINT64_MAX };
	const struct profile_meta unknown = { 0 };
	const struct example examples[] = {
		{ at_49, at_98, SCALE_RATES, 46, SCALE_RATES, 12 }, /* 11.5 */
		{ at_98, at_49, SCALE_RATES, 46, SCALE_RATES, 184 },
		{ at_49, at_49, SCALE_RATES, 46, SCALE_RATES, 46 },
		{ at_50, clock, SCALE_RATES, 46, SCALE_RATES, 23 },
		{ clock, at_50, SCALE_RATES, 46, SCALE_RATES, 92 },
		{ each, in_1000, SCALE_RATES, 3, SCALE_RATES, 6000 },
		{ in_1000, each, SCALE_RATES, 6000, SCALE_RATES, 3 },
		{ endless, each, SCALE_RATES, 1, SCALE_RATES, 0 },
		{ endless, endless, SCALE_RATES, UINT64_MAX, SCALE_RATES, UINT64_MAX },
		/* Rates that are not comparable: shares. */
		{ at_49, each, SCALE_RATES, 46, SCALE_SHARES, 138 },
		{ at_49, unknown, SCALE_RATES, 46, SCALE_SHARES, 138 },
		{ unknown, at_49, SCALE_RATES, 46, SCALE_SHARES, 138 },
		/* Shares and counts are always possible. */
		{ at_49, at_98, SCALE_SHARES, 46, SCALE_SHARES, 138 },
		{ at_49, at_98, SCALE_COUNTS, 46, SCALE_COUNTS, 46 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *example = &examples[i];
		struct scale scale =
			scale_make(example->how, &example->now, 30, &example->base, 10);

		if (scale.how != example->expected_how ||
		    scale_count(&scale, example->count) != example->expected)
			fail_msg("example %zu: %llu", i,
				 (unsigned long long)scale_count(&scale, example->count));
	}
}

static void nothing_has_no_share(void **state)
{
	const struct profile_meta meta = { 0 };
	struct scale scale = scale_make(SCALE_SHARES, &meta, 0, &meta, 7);

	(void)state;
	assert_int_equal(scale_count(&scale, 7), 7);
	scale = scale_make(SCALE_SHARES, &meta, 7, &meta, 0);
	assert_int_equal(scale_count(&scale, 0), 0);
}

/* At a rate, a sample is a part of a second only of what goes on while a CPU works. */
static void samples_of_some_events_stand_for_time(void **state)
{
	static const struct {
		const char *event;
		uint64_t ns;
	} events[] = {
		{ NULL, 20000000 },	   { "cpu-clock", 20000000 },
		{ "cycles:u", 20000000 },  { "ref-cycles", 20000000 },
		{ "page-faults", 0 },	   { "cache-misses", 0 },
		{ "context-switches", 0 }, { "stalled-cycles-frontend", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const struct profile_meta meta = { .event = events[i].event, .frequency = 50 };

		assert_int_equal(profile_sample_ns(&meta), events[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_some_events_stand_for_time),
		cmocka_unit_test(counts_are_scaled),
		cmocka_unit_test(nothing_has_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
