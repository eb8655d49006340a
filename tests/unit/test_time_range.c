// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of time: as users write them, and what they leave of a timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/range.h"
#include "tally/timeline_part.h"

#define MS 1000000ull

static void ranges_are_parsed(void **state)
{
	static const struct {
		const char *text;
		uint64_t begin_ms, end_ms; /* 0: up to the end */
	} right[] = { { "10-20", 10000, 20000 },
		      { "0-1", 0, 1000 },
		      { "1.5-2.25", 1500, 2250 },
		      { "90-", 90000, 0 },
		      { "-5", 0, 5000 },
		      { ".5-1", 500, 1000 },
		      { "0-", 0, 0 },
		      { "7.-8", 7000, 8000 } };
	static const char *const wrong[] = { "",    "-",     "5",	    "a-b",  "1-2-3",  "5-1",
					     "3-3", "-0",    "1 - 2",	    "1-2s", "1..2-3", "--5",
					     ".-5", "1e3-2", "9999999999-", "-1.-" };
	struct plan_range range = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_null(plan_range_parse(right[i].text, &range));
		assert_int_equal(range.begin_ns, right[i].begin_ms * MS);
		assert_int_equal(range.end_ns, right[i].end_ms ? right[i].end_ms * MS : UINT64_MAX);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!plan_range_parse(wrong[i], &range))
			fail_msg("'%s' is taken", wrong[i]);
}

static void paths_are_split(void **state)
{
	struct plan_range range = { 0 };

	(void)state;
	assert_int_equal(plan_range_split("a.b", &range), 3);
	assert_int_equal(plan_range_split("a:b", &range), 3);
	assert_int_equal(plan_range_split(":1-2", &range), 4);
	assert_false(range.given);
	assert_int_equal(plan_range_split("c:a:1-2", &range), 3);
	assert_true(range.given);
	assert_int_equal(range.end_ns, 2000 * MS);
}

/* Slices of 10 ms, but for a pause from 20 to 40, of the entries 0, 1, 2, 0 and 1. */
static struct timeline some_times(void)
{
	static const uint64_t begins[] = { 0, 10, 40, 50, 60 };
	struct timeline timeline = { .most_rows = 100, .bins = { .width_ns = 5, .most = 4 } };

	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(timeline_add_slice(&timeline, begins[i], begins[i] + 10), 0);
		assert_int_equal(timeline_add_row(&timeline,
						  (struct timeline_row){ i + 1, i % 3, 0 }),
				 0);
		assert_int_equal(timeline_add_row(&timeline,
						  (struct timeline_row){ 10, i % 3 + 1, 1 }),
				 0);
		assert_int_equal(bins_add(&timeline.bins, begins[i], 11 + i), 0);
	}
	return timeline;
}

static void slices_are_in_one_of_two_parts(void **state)
{
	struct timeline timeline = some_times();

	(void)state;
	for (uint64_t at = 1; at <= 80; at++) {
		struct timeline_count counts[4] = { 0 };
		struct timeline_span before = { 0, at }, behind = { at, UINT64_MAX };

		timeline_counts(&timeline, before, counts);
		timeline_counts(&timeline, behind, counts);
		assert_int_equal(counts[0].count + counts[1].count + counts[2].count +
					 counts[3].count,
				 65);
		assert_int_equal(counts[1].events + counts[2].events + counts[3].events, 5);
		assert_int_equal(timeline_span(&timeline, before).end_ns,
				 timeline_span(&timeline, behind).begin_ns);
	}
	timeline_clear(&timeline);
}

static void a_part_has_entries_of_its_own(void **state)
{
	const uint32_t entry_of[] = { 0, TIMELINE_NO_ENTRY, 0, 1 };
	struct timeline timeline = some_times(), part = { 0 };
	struct timeline_span span = { 8, 58 };

	(void)state;
	span = timeline_span(&timeline, span);
	assert_int_equal(span.begin_ns, 10);
	assert_int_equal(span.end_ns, 60);
	assert_int_equal(timeline_part(&timeline, span, entry_of, 2, &part), 0);
	assert_int_equal(part.n_slices, 3);
	assert_int_equal(part.slices[0].begin_ns, 0);
	assert_int_equal(part.slices[1].begin_ns, 30);
	assert_int_equal(part.slices[2].end_ns, 50);
	/* 1*2 is left out, 2*10 is entry 0; 2*3 and 3*10; 0*4, and 1*10 is left out. */
	assert_int_equal(part.n_rows, 4);
	assert_int_equal(part.rows[0].count, 10);
	assert_int_equal(part.rows[0].events, 1);
	assert_int_equal(part.rows[1].count, 3);
	assert_int_equal(part.rows[2].entry, 1);
	assert_int_equal(part.rows[2].count, 10);
	assert_int_equal(part.rows[3].count, 4);
	timeline_clear(&part);
	timeline_clear(&timeline);
}

static void many_bins_become_wider(void **state)
{
	struct timeline timeline = some_times();
	uint64_t total = 0;

	(void)state;
	assert_int_equal(timeline.bins.width_ns, 20);
	assert_int_equal(timeline.bins.n, 4);
	for (uint32_t i = 0; i < timeline.bins.n; i++)
		total += timeline.bins.counts[i];
	assert_int_equal(total, 65);
	assert_int_equal(bins_add(&timeline.bins, 79, 1ull << 40), 0);
	assert_int_equal(timeline.bins.counts[3], UINT32_MAX);
	timeline_clear(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_parsed),
		cmocka_unit_test(paths_are_split),
		cmocka_unit_test(slices_are_in_one_of_two_parts),
		cmocka_unit_test(a_part_has_entries_of_its_own),
		cmocka_unit_test(many_bins_become_wider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
