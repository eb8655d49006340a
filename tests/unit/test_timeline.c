// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For the report that viewers by time showed other phases than a program had: what was counted in
 * which slice of the time, and the order of samples that follows from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_data.h"
#include "view/sample_order.h"

#define MS 1000000ull

/* Text for asserts: for each slice its begin and end in ms, and its rows. */
static void describe(const struct timeline *timeline, char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		const struct timeline_slice *slice = &timeline->slices[i];

		used += (size_t)snprintf(text + used, size - used,
					 "%u-%u:", (unsigned int)(slice->begin_ns / MS),
					 (unsigned int)(slice->end_ns / MS));
		for (uint32_t row = slice->first; row < slice->first + slice->n; row++)
			used += (size_t)snprintf(text + used, size - used, " %u*%u",
						 timeline->rows[row].entry,
						 (unsigned int)timeline->rows[row].count);
		used += (size_t)snprintf(text + used, size - used, "; ");
	}
	assert_true(used < size);
}

static void expect(const struct timeline *timeline, const char *wanted)
{
	char text[1024] = "";

	describe(timeline, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void growth_is_noted(void **state)
{
	struct timeline timeline = { .width_ns = 50 * MS, .most_rows = 100 };
	struct tally *tally = data_tally();

	(void)state;
	data_count(tally, 2, 1, "ab", "");
	data_count(tally, 1, 1, "ac", "");
	timeline_note(&timeline, tally, 50 * MS);
	timeline_note(&timeline, tally, 100 * MS); /* nothing */
	data_count(tally, 4, 1, "ac", "");
	assert_false(timeline_tells(&timeline, tally));
	timeline_note(&timeline, tally, 150 * MS);
	expect(&timeline, "0-50: 0*2 1*1; 100-150: 1*4; ");
	assert_true(timeline_tells(&timeline, tally));
	assert_int_equal(timeline_longest_ns(&timeline), 50 * MS);

	/* After the report of an interval. */
	tally_clear(tally);
	timeline_begin(&timeline);
	data_count(tally, 1, 1, "ad", "");
	timeline_note(&timeline, tally, 170 * MS);
	assert_int_equal(timeline.begin_ns, 150 * MS);
	expect(&timeline, "150-170: 0*1; ");
	assert_true(timeline_tells(&timeline, tally));
	timeline_clear(&timeline);
	tally_free(tally);
}

/* Beyond the bound neighbours become one, and no count is lost. */
static void many_rows_make_slices_longer(void **state)
{
	struct timeline timeline = { .width_ns = 50 * MS, .most_rows = 8 };
	struct tally *tally = data_tally();

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		data_count(tally, 1, 1, i % 2 ? "ab" : "ac", "");
		timeline_note(&timeline, tally, (i + 1) * 50 * MS);
		assert_true(timeline.n_rows <= 8);
		assert_true(timeline_tells(&timeline, tally));
	}
	assert_true(timeline.n_slices > 1);
	assert_int_equal(timeline.slices[0].begin_ns, 0);
	assert_int_equal(timeline.slices[timeline.n_slices - 1].end_ns, 5000 * MS);
	assert_true(timeline_longest_ns(&timeline) <= timeline.width_ns);
	timeline_clear(&timeline);
	tally_free(tally);
}

/* A pause is not filled by joining what is before and behind it, as long as there is room. */
static void pauses_stay(void **state)
{
	struct timeline timeline = { .width_ns = 50 * MS, .most_rows = 4 };
	struct tally *tally = data_tally();

	(void)state;
	data_count(tally, 1, 1, "ab", "");
	timeline_note(&timeline, tally, 50 * MS);
	timeline_note(&timeline, tally, 60000 * MS);
	for (uint64_t i = 0; i < 4; i++) {
		data_count(tally, 1, 1, "ab", "");
		timeline_note(&timeline, tally, (60050 + i * 50) * MS);
	}
	expect(&timeline, "0-50: 0*1; 60000-60100: 0*2; 60100-60200: 0*2; ");
	timeline_clear(&timeline);
	tally_free(tally);
}

static void too_many_entries_give_it_up(void **state)
{
	struct timeline timeline = { .width_ns = 50 * MS, .most_rows = 4 };
	struct tally *tally = data_tally();
	const char *const stacks[] = { "a", "b", "c", "d", "e", "f" };

	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		data_count(tally, 1, 1, stacks[i], "");
		timeline_note(&timeline, tally, (i + 1) * 50 * MS);
	}
	assert_true(timeline.given_up);
	assert_int_equal(timeline.n_rows, 0);
	assert_false(timeline_tells(&timeline, tally));
	timeline_clear(&timeline);
	tally_free(tally);
}

static const char *leaf_name(const struct profile *profile, uint32_t number)
{
	struct profile_entry entry;

	profile_read(profile, &profile->entries[number], &entry);
	return profile->frames[entry.user[0]].is.name;
}

/* The functions at the leaves in the order of time, a letter for each sample. */
static void leaves(const struct tally *tally, const struct timeline *timeline, uint32_t view,
		   char *text)
{
	struct profile_meta meta = { 0 };
	struct sample_order *order = NULL;
	const struct sample_runs *runs;
	struct profile profile = { 0 };
	struct names *names = NULL;
	size_t n = 0;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(data_resolve(NULL, tally, names), 0);
	assert_int_equal(profile_build(tally, names, &meta, view, NULL, &profile), 0);
	assert_int_equal(sample_order_new(&profile, timeline, &order), 0);
	while (sample_order_next(order, &runs) == 0 && runs) {
		for (uint32_t i = 0; i < runs->n; i++)
			for (uint64_t j = 0; j < runs->list[i].count; j++)
				text[n++] = leaf_name(&profile, runs->list[i].entry)[0];
		text[n++] = ' ';
	}
	text[n] = '\0';
	sample_order_free(order);
	profile_clear(&profile);
	names_free(names);
}

static void a_change_within_a_slice_is_one(void **state)
{
	struct timeline timeline = { .width_ns = 50 * MS, .most_rows = 100 };
	struct tally *tally = data_tally();
	char text[100];

	(void)state;
	/* In the order in which stacks came first, z would be ahead of y in the second slice. */
	data_count(tally, 1, 1, "mz", "");
	data_count(tally, 1, 1, "my", "");
	data_count(tally, 1, 2, "ny", "");
	timeline_note(&timeline, tally, 50 * MS);
	data_count(tally, 2, 1, "my", "");
	timeline_note(&timeline, tally, 100 * MS);
	data_count(tally, 1, 1, "mz", "");
	data_count(tally, 1, 1, "my", "");
	timeline_note(&timeline, tally, 150 * MS);
	data_count(tally, 2, 1, "mz", "");
	timeline_note(&timeline, tally, 200 * MS);
	leaves(tally, &timeline, PROFILE_VIEW_ENTRY_OF | PROFILE_VIEW_THREAD, text);
	assert_string_equal(text, "zyy yy yz zz ");
	/* Entries that the view counts together. */
	leaves(tally, &timeline, PROFILE_VIEW_ENTRY_OF, text);
	assert_int_equal(strlen(text), 9 + 4);
	timeline_clear(&timeline);
	tally_free(tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_noted),
		cmocka_unit_test(many_rows_make_slices_longer),
		cmocka_unit_test(pauses_stay),
		cmocka_unit_test(too_many_entries_give_it_up),
		cmocka_unit_test(a_change_within_a_slice_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
