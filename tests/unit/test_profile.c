// SPDX-License-Identifier: GPL-2.0-or-later
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "recording/recording.h"
#include "report/writer.h"
#include "view/profile.h"
#include "view/summary.h"
#include "view/warnings.h"

struct data {
	struct tally *tally;
	struct names *names;
	struct profile_meta meta;
};

static int set_up(void **state)
{
	static struct data data;

	data = (struct data){ 0 };
	*state = &data;
	return tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	names_free(data->names);
	return 0;
}

static uint32_t address(struct data *data, uint64_t at, uint32_t image, const char *name,
			uint64_t offset)
{
	struct tally_address it = { .address = at, .image = image };
	struct names_frame frame = { .name = name ? names_string(data->names, name) : NULL,
				     .offset = offset,
				     .object = NAMES_NONE };
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(id, names_n_addresses(data->names));
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	return id;
}

static uint32_t stack(struct data *data, uint32_t n, const uint32_t *frames)
{
	uint32_t id;

	assert_int_equal(tally_stack(data->tally, frames, n, 0, &id), 0);
	return id;
}

static void count(struct data *data, uint64_t n, uint32_t tgid, uint32_t kernel, uint32_t user)
{
	struct tally_entry entry = { .count = n, .tgid = tgid, .kernel = kernel, .user = user };

	snprintf(entry.comm, sizeof(entry.comm), "comm%u", tgid);
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

static struct profile build(struct data *data, uint32_t view)
{
	struct profile profile = { 0 };

	assert_int_equal(profile_build(data->tally, data->names, &data->meta, view, NULL, &profile),
			 0);
	return profile;
}

static void merges_equal_entries_of_a_view(void **state)
{
	struct data *data = *state;
	uint32_t a = address(data, 0x10, 1, "f", 0), b = address(data, 0x14, 1, "f", 4);
	uint32_t c = address(data, 0x10, 2, "f", 0), d = address(data, 0x20, 1, "g", 0);
	const struct {
		uint32_t view, n;
	} cases[] = {
		{ 0, 2 },
		{ PROFILE_VIEW_PROCESS, 3 },
		{ PROFILE_VIEW_COMM, 3 },
		{ PROFILE_VIEW_OFFSET, 3 },
		{ PROFILE_VIEW_ADDRESS, 3 },
		{ PROFILE_VIEW_OFFSET | PROFILE_VIEW_PROCESS, 4 },
		{ PROFILE_VIEW_NO_USER, 1 },
		{ PROFILE_VIEW_NO_KERNEL, 2 },
	};

	count(data, 1, 1, TALLY_STACK_NONE, stack(data, 1, &a));
	count(data, 2, 1, TALLY_STACK_NONE, stack(data, 1, &b));
	count(data, 4, 2, TALLY_STACK_NONE, stack(data, 1, &c));
	count(data, 8, 1, TALLY_STACK_NONE, stack(data, 1, &d));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile profile = build(data, cases[i].view);

		assert_int_equal(profile.n_entries, cases[i].n);
		assert_int_equal(profile.total, 15);
		for (uint32_t entry = 1; entry < profile.n_entries; entry++)
			assert_true(profile.entries[entry - 1].count <=
				    profile.entries[entry].count);
		profile_clear(&profile);
	}
	profile_clear(NULL);
}

/* Large shuffled counts are sorted by all of their bits, ties in order of appearance. */
static void sorts_by_count(void **state)
{
	struct data *data = *state;
	struct profile profile;
	uint64_t seed = 7;

	for (uint32_t i = 1; i <= 3000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		count(data, i % 3 ? 5 : seed >> (i % 40 + 14), i, TALLY_STACK_NONE,
		      TALLY_STACK_NONE);
	}
	profile = build(data, PROFILE_VIEW_PROCESS);
	assert_int_equal(profile.n_entries, 3000);
	for (uint32_t i = 1; i < profile.n_entries; i++) {
		const struct tally_entry *before = &profile.entries[i - 1], *it = before + 1;

		assert_true(before->count < it->count ||
			    (before->count == it->count && before->tgid < it->tgid));
	}
	profile_clear(&profile);
}

static bool warned(const struct profile *profile, int i, char line[WARNINGS_LINE_SIZE])
{
	return warnings_line(profile->meta, profile->losses, profile->missed_sides, i, line);
}

static void counts_missed_sides(void **state)
{
	struct data *data = *state;
	uint32_t a = address(data, 0x10, 1, "f", 0);
	char line[WARNINGS_LINE_SIZE];
	struct profile_entry entry;
	struct profile profile;

	count(data, 3, 1, TALLY_STACK_MISSED, TALLY_STACK_MISSED);
	count(data, 4, 1, TALLY_STACK_MISSED, stack(data, 1, &a));
	count(data, 5, 1, TALLY_STACK_NONE, TALLY_STACK_NONE);
	profile = build(data, PROFILE_VIEW_PROCESS);
	assert_int_equal(profile.missed_sides, 3);
	assert_int_equal(profile.missed_counts, 7);
	profile_read(&profile, &profile.entries[0], &entry);
	assert_true(entry.has_kernel && entry.kernel_missed && entry.is == profile.entries);
	profile_read(&profile, &profile.entries[1], &entry);
	assert_true(entry.has_user && !entry.user_missed);
	profile_read(&profile, &profile.entries[2], &entry);
	assert_false(entry.has_kernel || entry.has_user);
	assert_true(warned(&profile, 0, line));
	assert_string_equal(line, "WARNING: 3 stack traces could not be displayed.");
	assert_false(warned(&profile, 1, line));
	profile_clear(&profile);

	data->meta.stack_storage = 16384;
	tally_losses(data->tally)->counts_full = true;
	profile = build(data, PROFILE_VIEW_PROCESS | PROFILE_VIEW_NO_KERNEL);
	assert_int_equal(profile.missed_sides, 1);
	assert_true(warned(&profile, 0, line));
	assert_string_equal(line, "WARNING: 1 stack traces could not be displayed. "
				  "Consider increasing --stack-storage-size.");
	assert_true(warned(&profile, 1, line));
	assert_string_equal(line,
			    "WARNING: hash table full. Consider increasing --hash-storage-size.");
	assert_false(warned(&profile, 2, line));
	profile_clear(&profile);
}

/* The summary's numbers are those of a profile by process and address. */
static void is_summed_up_without_being_built(void **state)
{
	struct data *data = *state;
	uint32_t a = address(data, 0x10, 1, "f", 0), b = address(data, 0x20, 1, "g", 0);
	uint32_t elsewhere = address(data, 0x10, 2, "f", 0);
	uint32_t stacks[] = { stack(data, 1, &a), stack(data, 1, &b), stack(data, 1, &elsewhere) };
	struct summary summary;
	struct profile profile;

	count(data, 3, 1, TALLY_STACK_MISSED, stacks[0]);
	count(data, 4, 1, TALLY_STACK_NONE, stacks[0]);
	count(data, 4, 1, TALLY_STACK_NONE, stacks[1]);
	count(data, 5, 1, TALLY_STACK_NONE, stacks[2]); /* the same address in another image */
	count(data, 6, 2, TALLY_STACK_NONE, stacks[0]);
	count(data, 7, 2, stacks[0], stacks[0]);
	count(data, 8, 2, TALLY_STACK_NONE, TALLY_STACK_NONE);
	profile = build(data, PROFILE_VIEW_PROCESS | PROFILE_VIEW_ADDRESS);
	assert_int_equal(summary_of(data->tally, data->names, &summary), 0);
	assert_int_equal(summary.n_stacks, 6);
	assert_int_equal(summary.n_stacks, profile.n_entries);
	assert_int_equal(summary.total, profile.total);
	assert_int_equal(summary.missed_sides, profile.missed_sides);
	profile_clear(&profile);
}

/* Inlined functions lengthen stacks up to a limit, beyond which they are marked as cut. */
static void inlined_frames_are_bounded(void **state)
{
	struct data *data = *state;
	struct tally_address it = { .address = 0x10, .image = 1 };
	struct names_frame frames[NAMES_MAX_INLINED];
	uint32_t id, addresses[TALLY_MAX_FRAMES] = { 0 };
	struct profile_entry entry;
	struct profile profile;

	for (uint32_t i = 0; i < NAMES_MAX_INLINED; i++)
		frames[i] = (struct names_frame){ .name = names_string(data->names, i ? "o" : "i"),
						  .object = NAMES_NONE };
	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(names_add_address(data->names, frames, NAMES_MAX_INLINED), 0);
	count(data, 1, 1, TALLY_STACK_NONE, stack(data, 2, addresses));
	count(data, 2, 1, TALLY_STACK_NONE, stack(data, TALLY_MAX_FRAMES, addresses));
	profile = build(data, 0);
	assert_int_equal(profile.n_frames, 2);
	profile_read(&profile, &profile.entries[0], &entry);
	assert_int_equal(entry.n_user, 2 * NAMES_MAX_INLINED);
	assert_false(entry.user_cut);
	assert_string_equal(profile.frames[entry.user[0]].is.name, "i");
	assert_string_equal(profile.frames[entry.user[1]].is.name, "o");
	profile_read(&profile, &profile.entries[1], &entry);
	assert_int_equal(entry.n_user, PROFILE_MAX_FRAMES);
	assert_true(entry.user_cut);
	profile_clear(&profile);
}

/* Many stacks, some of which merge, among others that do not. */
static void many_stacks_merge(void **state)
{
	enum { N = 4000, NAMES = 50 };
	struct data *data = *state;
	struct profile profile;
	uint64_t total = 0;

	for (uint32_t i = 0; i < 2 * NAMES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i % NAMES);
		address(data, i, 1, name, 0);
	}
	/* Each call path twice, at different addresses. */
	for (uint32_t i = 0; i < N; i++) {
		uint32_t path = i / 2, twin = i % 2 * NAMES;
		uint32_t frames[3] = { path % NAMES + twin, path / NAMES % NAMES + twin, twin };

		count(data, i + 1, 1, TALLY_STACK_NONE, stack(data, 3, frames));
		total += i + 1;
	}
	profile = build(data, PROFILE_VIEW_PROCESS);
	assert_int_equal(profile.n_frames, NAMES);
	assert_int_equal(profile.n_entries, N / 2);
	assert_int_equal(profile.total, total);
	for (uint32_t i = 0; i < profile.n_entries; i++) {
		struct profile_entry entry;
		char leaf[16], caller[16];

		profile_read(&profile, &profile.entries[i], &entry);
		snprintf(leaf, sizeof(leaf), "f%u", i % NAMES);
		snprintf(caller, sizeof(caller), "f%u", i / NAMES % NAMES);
		assert_int_equal(entry.is->count, 4 * i + 3);
		assert_int_equal(entry.n_user, 3);
		assert_string_equal(profile.frames[entry.user[0]].is.name, leaf);
		assert_string_equal(profile.frames[entry.user[1]].is.name, caller);
		assert_string_equal(profile.frames[entry.user[2]].is.name, "f0");
	}
	profile_clear(&profile);
}

/* Entries are put in order where they are; each entry of the tally still finds its own. */
static void entries_find_theirs(void **state)
{
	enum { N = 1000 };
	struct data *data = *state;
	uint32_t f = address(data, 0x10, 1, "f", 0), g = address(data, 0x20, 1, "g", 0);
	uint32_t stacks[] = { stack(data, 1, &f), stack(data, 1, &g) };
	struct profile profile;
	bool met[N] = { false };

	for (uint32_t i = 0; i < N; i++)
		count(data, i * 7919 % 101 + 1, i + 1, TALLY_STACK_NONE, stacks[i % 2]);
	profile = build(data, PROFILE_VIEW_PROCESS | PROFILE_VIEW_ENTRY_OF);
	assert_int_equal(profile.n_entries, N);
	for (uint32_t i = 0; i < N; i++) {
		const struct tally_entry *of = &tally_entries(data->tally)[i];
		struct profile_entry entry;

		assert_true(profile.entry_of[i] < N && !met[profile.entry_of[i]]);
		met[profile.entry_of[i]] = true;
		profile_read(&profile, &profile.entries[profile.entry_of[i]], &entry);
		assert_int_equal(entry.is->tgid, of->tgid);
		assert_int_equal(entry.is->count, of->count);
		assert_string_equal(entry.is->comm, of->comm);
		assert_int_equal(entry.n_user, 1);
		assert_string_equal(profile.frames[entry.user[0]].is.name, i % 2 ? "g" : "f");
	}
	profile_clear(&profile);
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* The memory of a profile is that of its entries: their frames are those of the tally. */
static void frames_are_not_copied(void **state)
{
	enum { N = 16384, DEPTH = 30 };
	struct data *data = *state;
	struct profile profile;
	size_t before, frames = N * DEPTH * sizeof(uint32_t), entries = N * 64;

	for (uint32_t i = 0; i < 256; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		address(data, i, 1, name, 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t list[DEPTH];

		for (uint32_t j = 0; j < DEPTH; j++)
			list[j] = (i >> j % 14) % 256;
		list[0] = i % 256;
		list[1] = i / 256;
		count(data, i + 1, 1, TALLY_STACK_NONE, stack(data, DEPTH, list));
	}
	before = allocated();
	profile = build(data, PROFILE_VIEW_PROCESS);
	assert_int_equal(profile.n_entries, N);
	if (allocated() - before > entries + frames / 4)
		fail_msg("%zu bytes beside %zu of frames", allocated() - before, frames);
	profile_clear(&profile);
	if (before)
		assert_true(allocated() < before + 4096);
}

static void unnamed_addresses_are_unknown(void **state)
{
	struct data *data = *state;
	struct tally_address it = { .address = 0x10 };
	struct profile profile;
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	count(data, 1, 1, stack(data, 1, &id), TALLY_STACK_NONE);
	profile = build(data, 0);
	assert_null(profile.frames[0].is.name);
	assert_int_equal(profile.frames[0].is.flags, NAMES_FRAME_KERNEL);
	profile_clear(&profile);
}

static void names_cannot_forge_lines(void **state)
{
	const struct {
		const char *name, *shown;
	} cases[] = {
		{ "plain;name 1", "plain;name 1" },
		{ "a\nb\tc\x7f", "a?b?c?" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5", "caf\xc3\xa9 \xe2\x82\xac "
							       "\xf0\x9f\x94\xa5" },
		{ "\xc2\x9b", "?" },		/* a C1 control character */
		{ "\xe2\x80\xa8", "?" },	/* a line separator */
		{ "a\xe2\x80\xae z", "a? z" },	/* right to left */
		{ "\xe2\x81\xa7", "?" },	/* an isolate */
		{ "\xef\xbf\xbf", "?" },	/* a noncharacter */
		{ "\xef\xbb\xbf", "?" },	/* a byte order mark */
		{ "\xff\xc3", "??" },		/* not UTF-8 */
		{ "\xc0\x8a", "??" },		/* an overlong newline */
		{ "\xed\xa0\x80", "???" },	/* a surrogate */
		{ "\xf4\x90\x80\x80", "????" }, /* beyond the last character */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes;

		bytes_start(&bytes, NULL);
		bytes_name(&bytes, cases[i].name, strlen(cases[i].name));
		bytes_char(&bytes, '\0');
		assert_int_equal(bytes.failed, 0);
		assert_string_equal(bytes.start, cases[i].shown);
		bytes_clear(&bytes);
	}
}

static void writers_are_found(void **state)
{
	(void)state;
	assert_ptr_equal(writers[0], &text_writer);
	assert_ptr_equal(writer_by_name("folded"), &folded_writer);
	assert_null(writer_by_name("folde"));
	assert_null(writer_by_name(""));
	assert_ptr_equal(writer_by_path("a/b.folded"), &folded_writer);
	assert_ptr_equal(writer_by_path("out.txt"), &text_writer);
	assert_ptr_equal(writer_by_path("x.stacktally"), &recording_writer);
	assert_ptr_equal(writer_by_path("x.json"), &json_writer);
	assert_ptr_equal(writer_by_path("x.speedscope.json"), &speedscope_writer);
	assert_ptr_equal(writer_by_path("x.profile.json"), &firefox_writer);
	assert_null(writer_by_path(".txt"));
	assert_null(writer_by_path("txt"));
}

/* What report_write() writes, allocated. */
static char *written(struct data *data, const struct writer *writer, struct report_head head)
{
	const struct profile_meta meta = { .title = "Title" };
	const struct report_options options = { .per_process = true };
	const struct report report = { .measurement = { &meta, data->tally, data->names, NULL },
				       .options = &options,
				       .head = head };
	struct error err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_write(writer, &report, out, NULL, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void heads_separate_reports(void **state)
{
	const time_t time = 45296; /* 12:34:56 */
	const struct {
		const struct writer *writer;
		struct report_head head;
		const char *before;
	} cases[] = {
		{ &text_writer, { .title = true }, "Title\n\n" },
		{ &text_writer, { .title = false }, "\n" },
		{ &text_writer, { .follows = true }, "\n" },
		{ &text_writer, { .follows = true, .time = time }, "\n12:34:56\n" },
		{ &folded_writer, { .title = true }, "" },
		{ &folded_writer, { .follows = true }, "\n" },
		{ &folded_writer, { .follows = true, .time = time }, "12:34:56\n" },
		{ &json_writer, { .title = true, .follows = true, .time = time }, "" },
	};

	count(*state, 7, 1, TALLY_STACK_NONE, TALLY_STACK_NONE);
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *bare = written(*state, &folded_writer, (struct report_head){ 0 });
		char *text = written(*state, cases[i].writer, cases[i].head);
		size_t size = strlen(cases[i].before);

		if (strncmp(text, cases[i].before, size) != 0 || text[size] == '\n')
			fail_msg("case %zu begins with: %s", i, text);
		if (cases[i].writer == &folded_writer)
			assert_string_equal(text + size, bare);
		free(text);
		free(bare);
	}
}

/* The recording does not depend on options and heads. */
static void recordings_are_reports(void **state)
{
	struct data *data = *state;
	const struct profile_meta meta = { .title = "Title" };
	struct error err = { 0 };
	char *saved = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&saved, &size);

	count(data, 7, 1, TALLY_STACK_NONE, TALLY_STACK_NONE);
	assert_non_null(out);
	assert_int_equal(recording_save(out, &meta, data->tally, data->names, NULL, &err), 0);
	assert_int_equal(fclose(out), 0);
	text = written(data, &recording_writer, (struct report_head){ .title = true });
	assert_memory_equal(text, saved, size);
	free(text);
	free(saved);
}

/* A full disk: the writer stops, and the error stays with the stream. */
static void write_errors_stay_with_the_stream(void **state)
{
	struct data *data = *state;
	struct report_options options = { .per_process = true };
	struct error err = { 0 };
	struct profile profile;
	const struct report report = { .options = &options, .profile = &profile };
	FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	for (uint32_t i = 0; i < 100000; i++)
		count(data, 1, i, TALLY_STACK_NONE, TALLY_STACK_NONE);
	profile = build(data, text_writer.view(&options));
	assert_int_equal(text_writer.write(&report, full, &err), 0);
	assert_true(ferror(full));
	fclose(full);
	profile_clear(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(merges_equal_entries_of_a_view, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sorts_by_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(heads_separate_reports, set_up, tear_down),
		cmocka_unit_test_setup_teardown(recordings_are_reports, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_missed_sides, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_summed_up_without_being_built, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(inlined_frames_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_stacks_merge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(entries_find_theirs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_are_not_copied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unnamed_addresses_are_unknown, set_up, tear_down),
		cmocka_unit_test(names_cannot_forge_lines),
		cmocka_unit_test(writers_are_found),
		cmocka_unit_test_setup_teardown(write_errors_stay_with_the_stream, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
