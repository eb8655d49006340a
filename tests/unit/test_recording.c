// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../recordings/checksums.h"
#include "recording/recording.h"
#include "report/writer.h"

struct data {
	struct tally *tally;
	struct names *names;
	struct profile_meta meta;
	const struct timeline *timeline;
	unsigned char *bytes; /* as saved */
	size_t size;
};

static void save(struct data *data)
{
	FILE *out;
	struct error err = { 0 };
	char *bytes = NULL;

	free(data->bytes);
	out = open_memstream(&bytes, &data->size);
	assert_non_null(out);
	assert_int_equal(recording_save(out, &data->meta, data->tally, data->names, data->timeline,
					&err),
			 0);
	fclose(out);
	data->bytes = (unsigned char *)bytes;
}

static int load(const void *bytes, size_t size, struct recording **recording, struct error *err)
{
	int fd = memfd_create("recording", MFD_CLOEXEC), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	r = recording_load(fd, "x.stacktally", recording, err);
	close(fd);
	return r;
}

static void add_address(struct data *data, uint64_t at, uint32_t image, uint32_t object)
{
	struct tally_address it = { .address = at, .image = image, .flags = at & 1 };
	struct names_frame frames[2] = {
		{ .name = names_string(data->names, "inner"),
		  .file = names_string(data->names, "a.h"),
		  .line = 3,
		  .object = object,
		  .flags = NAMES_FRAME_INLINED },
		{ .name = at % 5 ? names_string(data->names, at % 2 ? "odd()" : "even()") : NULL,
		  .linkage_name = names_string(data->names, "_Z3oddv"),
		  .module = names_string(data->names, "libx.so"),
		  .offset = at / 7,
		  .object = at % 3 ? object : NAMES_NONE,
		  .flags = image ? 0 : NAMES_FRAME_KERNEL },
	};
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(names_add_address(data->names, frames + at % 2, 2 - at % 2), 0);
}

static void fill(struct data *data)
{
	struct names_object object = { .path = names_string(data->names, "/lib/libx.so"),
				       .start = 0x1000,
				       .end = 0x9000,
				       .offset = 0x200,
				       .build_id_size = 4,
				       .build_id = { 0xde, 0xad, 0xbe, 0xef },
				       .device = 5,
				       .inode = UINT64_MAX };
	uint32_t index;

	data->meta = (struct profile_meta){ .command = "profile",
					    .command_line = "profile -F 49",
					    .title = "Sampling",
					    .event = "cycles",
					    .frequency = 49,
					    .period = 1,
					    .start_time_ns = 2,
					    .duration_ns = 3,
					    .hash_storage = 4,
					    .stack_storage = 5,
					    .timed = true,
					    .wall = true,
					    .hostname = NULL,
					    .kernel_release = "6.1",
					    .scope = "PID 7",
					    .filter = "CPU 3",
					    .user = true,
					    .has = { .processes = true, .inlines = true } };
	assert_int_equal(names_add_object(data->names, &object, &index), 0);
	assert_int_equal(names_add_cgroup(data->names,
					  &(struct names_cgroup){ .id = 40, .path = "/a" }),
			 0);
	assert_int_equal(names_add_cgroup(data->names,
					  &(struct names_cgroup){ .id = 30, .path = "/b" }),
			 0);
	for (uint32_t i = 0; i < 12; i++)
		add_address(data, i % 4 ? i : 0xffffffff81000000u + i, i % 4, index);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t frames[4] = { i, i + 1, i * 2, 11 };
		struct tally_entry entry = { .count = i * 100 + 1,
					     .cgroup = i % 2 ? 40 : 0,
					     .tgid = i,
					     .tid = UINT32_MAX - i,
					     .kernel =
						     i % 3 ? TALLY_STACK_NONE : TALLY_STACK_MISSED,
					     .comm = "comm" };

		assert_int_equal(tally_stack(data->tally, frames, 1 + i % 4, i & 1, &entry.user),
				 0);
		assert_int_equal(tally_add(data->tally, &entry), 0);
	}
	*tally_losses(data->tally) = (struct tally_losses){ .events = UINT64_MAX,
							    .lost_ring = 1,
							    .lost_counts = 2,
							    .lost_nested = 3,
							    .throttled = 4,
							    .unseen = 6,
							    .lost_time = 7,
							    .lost_threads = 8,
							    .lost_ends = 9,
							    .unwalked = 10,
							    .unsampled = 11,
							    .lost_memory = 12,
							    .due = 13,
							    .due_throttled = 14,
							    .due_stolen = 15,
							    .due_late = 16,
							    .memory_full = true,
							    .counts_full = true };
}

static int set_up(void **state)
{
	static struct data data;

	data = (struct data){ 0 };
	*state = &data;
	if (tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0)
		return 1;
	fill(&data);
	save(&data);
	return 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	names_free(data->names);
	free(data->bytes);
	return 0;
}

static void same_string(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void same_names(const struct names *a, const struct names *b)
{
	assert_int_equal(names_n_frames(a), names_n_frames(b));
	assert_int_equal(names_n_objects(a), names_n_objects(b));
	assert_int_equal(names_n_cgroups(a), names_n_cgroups(b));
	assert_int_equal(names_n_addresses(a), names_n_addresses(b));
	for (uint32_t i = 0; i < names_n_addresses(a); i++) {
		struct names_address x = names_address(a, i), y = names_address(b, i);

		assert_memory_equal(&x, &y, sizeof(x));
	}
	for (uint32_t i = 0; i < names_n_frames(a); i++) {
		const struct names_frame x = names_frame(a, i), y = names_frame(b, i);

		same_string(x.name, y.name);
		same_string(x.linkage_name, y.linkage_name);
		same_string(x.module, y.module);
		same_string(x.file, y.file);
		assert_true(x.offset == y.offset && x.line == y.line);
		assert_true(x.object == y.object && x.flags == y.flags);
	}
	for (uint32_t i = 0; i < names_n_objects(a); i++) {
		const struct names_object *x = &names_objects(a)[i], *y = &names_objects(b)[i];

		assert_string_equal(x->path, y->path);
		assert_true(x->start == y->start && x->end == y->end && x->offset == y->offset);
		assert_true(x->device == y->device && x->inode == y->inode);
		assert_int_equal(x->build_id_size, y->build_id_size);
		assert_memory_equal(x->build_id, y->build_id, sizeof(x->build_id));
	}
	for (uint32_t i = 0; i < names_n_cgroups(a); i++) {
		assert_int_equal(names_cgroups(a)[i].id, names_cgroups(b)[i].id);
		assert_string_equal(names_cgroups(a)[i].path, names_cgroups(b)[i].path);
	}
}

static void loads_what_was_saved(void **state)
{
	struct data *data = *state;
	struct recording *recording = NULL;
	struct error err = { 0 };
	const struct tally *a = data->tally, *b;
	struct data again;

	assert_int_equal(load(data->bytes, data->size, &recording, &err), 0);
	b = recording->tally;
	assert_int_equal(tally_n_addresses(a), tally_n_addresses(b));
	assert_memory_equal(tally_addresses(a), tally_addresses(b),
			    tally_n_addresses(a) * sizeof(struct tally_address));
	assert_int_equal(tally_n_stacks(a), tally_n_stacks(b));
	for (uint32_t i = 0; i < tally_n_stacks(a); i++) {
		const struct tally_stack *x = &tally_stacks(a)[i], *y = &tally_stacks(b)[i];

		assert_true(x->n_frames == y->n_frames && x->flags == y->flags);
		assert_memory_equal(tally_frames(a, x), tally_frames(b, y), x->n_frames * 4);
	}
	assert_int_equal(tally_n_entries(a), tally_n_entries(b));
	assert_memory_equal(tally_entries(a), tally_entries(b),
			    tally_n_entries(a) * sizeof(struct tally_entry));
	assert_true(tally_total(a) == tally_total(b));
	assert_memory_equal(tally_losses_of(a), tally_losses_of(b), sizeof(struct tally_losses));
	same_names(data->names, recording->names);
	assert_string_equal(recording->meta.command, "profile");
	assert_string_equal(recording->meta.command_line, "profile -F 49");
	assert_string_equal(recording->meta.title, "Sampling");
	assert_string_equal(recording->meta.event, "cycles");
	assert_null(recording->meta.hostname);
	assert_string_equal(recording->meta.kernel_release, "6.1");
	assert_int_equal(recording->meta.frequency, 49);
	assert_int_equal(recording->meta.duration_ns, 3);
	assert_int_equal(recording->meta.stack_storage, 5);
	assert_true(recording->meta.timed && recording->meta.wall);
	assert_true(recording->meta.user && !recording->meta.kernel);
	assert_string_equal(recording->meta.scope, "PID 7");
	assert_string_equal(recording->meta.filter, "CPU 3");
	assert_memory_equal(&recording->meta.has, &data->meta.has, sizeof(data->meta.has));

	/* Saving it again makes the same file. */
	again = (struct data){ .tally = recording->tally,
			       .names = recording->names,
			       .meta = recording->meta };
	save(&again);
	assert_int_equal(again.size, data->size);
	assert_memory_equal(again.bytes, data->bytes, data->size);
	free(again.bytes);
	recording_free(recording);
	recording_free(NULL);
}

/* Cuts `n` bytes off the end of a short section. */
static void shorten(struct data *data, const char *kind, unsigned char n)
{
	unsigned char *section = memmem(data->bytes, data->size, kind, 4), *end;

	assert_non_null(section);
	data->size -= n;
	section[4] -= n;
	end = section + RECORDING_SECTION_SIZE + section[4];
	memmove(end, end + n, (size_t)(data->bytes + data->size - end));
}

/* The same with an old version, whose facts end with the flags and whose losses are fewer. */
static void files_of_version_3_are_loaded(void **state)
{
	struct profile_details has = { .processes = true, .threads = true, .inlines = true };
	struct data *data = *state, again;
	struct recording *recording = NULL;
	struct error err = { 0 };

	data->meta.scope = data->meta.filter = NULL;
	data->meta.timed = data->meta.wall = false;
	data->meta.has = (struct profile_details){ 0 };
	save(data);
	data->bytes[RECORDING_MAGIC_SIZE] = 3;
	shorten(data, "META", 2);
	shorten(data, "LOSS", 11);
	make_checksums(data->bytes, data->size);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(recording->meta.title, "Sampling");
	assert_true(recording->meta.user && !recording->meta.kernel);
	assert_null(recording->meta.scope);
	/* All parts of the recording are found in the file. */
	has.cgroups = has.lines = true;
	assert_memory_equal(&recording->meta.has, &has, sizeof(has));
	again = (struct data){ .tally = recording->tally,
			       .names = recording->names,
			       .meta = recording->meta };
	save(&again);
	assert_int_equal(again.bytes[RECORDING_MAGIC_SIZE], RECORDING_VERSION);
	free(again.bytes);
	recording_free(recording);
}

/* Slices of every entry in turn, and bins. */
static void note_times(struct data *data, struct timeline *timeline)
{
	uint32_t n = tally_n_entries(data->tally);

	*timeline = (struct timeline){ .most_rows = TIMELINE_ROWS,
				       .n_seen = n,
				       .bins = { .width_ns = 20, .most = BINS_MOST } };
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = tally_entries(data->tally)[i].count;

		assert_int_equal(timeline_add_slice(timeline, 100ull * i, 100ull * i + 50), 0);
		assert_int_equal(timeline_add_row(timeline, (struct timeline_row){ count, i, 0 }),
				 0);
		assert_int_equal(bins_add(&timeline->bins, 100ull * i, count), 0);
	}
	data->timeline = timeline;
}

static void times_are_kept(void **state)
{
	struct recording *recording = NULL;
	struct data *data = *state, again;
	struct timeline timeline;
	struct error err = { 0 };

	note_times(data, &timeline);
	save(data);
	assert_int_equal(data->bytes[RECORDING_MAGIC_SIZE], RECORDING_TIMES);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(timeline_tells(&recording->timeline, recording->tally));
	assert_int_equal(recording->timeline.n_slices, timeline.n_slices);
	assert_memory_equal(recording->timeline.slices, timeline.slices,
			    timeline.n_slices * sizeof(*timeline.slices));
	assert_int_equal(recording->timeline.bins.n, timeline.bins.n);
	assert_memory_equal(recording->timeline.bins.counts, timeline.bins.counts,
			    timeline.bins.n * sizeof(*timeline.bins.counts));
	again = (struct data){ .tally = recording->tally,
			       .names = recording->names,
			       .meta = recording->meta,
			       .timeline = &recording->timeline };
	save(&again);
	assert_int_equal(again.size, data->size);
	assert_memory_equal(again.bytes, data->bytes, data->size);
	free(again.bytes);
	recording_free(recording);
	data->timeline = NULL;
	timeline_clear(&timeline);
}

static void counts_of_others(struct timeline *timeline)
{
	timeline->rows[0].count++;
	timeline->rows[1].count--;
}

static void an_entry_too_many(struct timeline *timeline)
{
	timeline->rows[timeline->n_rows - 1].entry += 100;
}

static void no_rows(struct timeline *timeline)
{
	timeline->slices[0].n = 0;
}

static void back_in_time(struct timeline *timeline)
{
	timeline->slices[1].begin_ns = timeline->slices[0].begin_ns;
}

static void more_events(struct timeline *timeline)
{
	timeline->rows[0].events = 7;
}

static void wrong_times_are_refused(void **state)
{
	static const struct {
		void (*spoil)(struct timeline *timeline);
		const char *why;
	} cases[] = {
		{ counts_of_others, "slices that count other than their entries" },
		{ an_entry_too_many, "no such entry" },
		{ no_rows, "slice without a count" },
		{ back_in_time, "slice ends too late" },
		{ more_events, "slices that count other than their entries" },
	};
	struct data *data = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recording *recording = NULL;
		struct timeline timeline;
		struct error err = { 0 };

		note_times(data, &timeline);
		cases[i].spoil(&timeline);
		save(data);
		assert_true(load(data->bytes, data->size, &recording, &err) < 0);
		if (!strstr(err.text, cases[i].why))
			fail_msg("%s, not %s", err.text, cases[i].why);
		data->timeline = NULL;
		timeline_clear(&timeline);
	}
}

static void times_of_an_older_version_are_refused(void **state)
{
	struct recording *recording = NULL;
	struct data *data = *state;
	struct timeline timeline;
	struct error err = { 0 };

	note_times(data, &timeline);
	save(data);
	data->bytes[RECORDING_MAGIC_SIZE] = RECORDING_SUMS;
	make_checksums(data->bytes, data->size);
	assert_true(load(data->bytes, data->size, &recording, &err) < 0);
	assert_non_null(strstr(err.text, "section of a newer version"));
	data->timeline = NULL;
	timeline_clear(&timeline);
}

/* Those of version 5 have functions of interpreted programs and functions without a symbol. */
static void files_of_version_5_are_loaded(void **state)
{
	struct names_frame frame = { .object = NAMES_NONE, .flags = NAMES_FRAME_IDENTITY };
	struct tally_address it = { .address = 100, .image = 9 };
	struct recording *recording = NULL;
	struct data *data = *state;
	struct error err = { 0 };
	struct names_address at;
	uint32_t id;

	frame.name = names_string(data->names, "[libc.so.6+0x1230]");
	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	data->meta.timed = data->meta.wall = false;
	save(data);
	data->bytes[RECORDING_MAGIC_SIZE] = 5;
	shorten(data, "LOSS", 11);
	make_checksums(data->bytes, data->size);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	at = names_address(recording->names, id);
	assert_int_equal(names_frame(recording->names, at.first).flags, NAMES_FRAME_IDENTITY);
	recording_free(recording);
}

/* Those of version 6 do not know how many samples were due. */
static void files_of_version_6_are_loaded(void **state)
{
	const struct tally_losses *losses;
	struct recording *recording = NULL;
	struct data *data = *state;
	struct error err = { 0 };

	data->bytes[RECORDING_MAGIC_SIZE] = 6;
	shorten(data, "LOSS", 4);
	make_checksums(data->bytes, data->size);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	losses = tally_losses_of(recording->tally);
	assert_int_equal(losses->lost_memory, 12);
	assert_int_equal(losses->due, 0);
	assert_int_equal(tally_never_came(losses), 0);
	recording_free(recording);
}

/* Large sections are split, also between long strings. */
static void large_ones_have_many_sections(void **state)
{
	struct data *data = *state;
	struct recording *recording = NULL;
	struct error err = { 0 };
	char *name = malloc(RECORDING_STRING_MAX + 100);

	assert_non_null(name);
	for (int i = 0; i < 5; i++) {
		struct tally_address it = { .address = 100 + i, .image = 9 };
		struct names_frame frame = { .object = NAMES_NONE };
		uint32_t id;

		memset(name, 'a' + i, RECORDING_STRING_MAX + 99);
		name[RECORDING_STRING_MAX - 2 + i] = '\0';
		frame.name = names_string(data->names, name);
		assert_int_equal(tally_address(data->tally, &it, &id), 0);
		assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	}
	for (uint32_t i = 0; i < 200000; i++) {
		struct tally_entry entry = { .count = 1, .tgid = i, .user = i % 6, .comm = "many" };

		entry.kernel = TALLY_STACK_NONE;
		assert_int_equal(tally_add(data->tally, &entry), 0);
	}
	save(data);
	assert_int_equal(load(data->bytes, data->size, &recording, &err), 0);
	assert_true(tally_total(recording->tally) == tally_total(data->tally));
	/* A longer name is cut to the limit. */
	assert_int_equal(
		strlen(names_frame(recording->names, names_n_frames(data->names) - 1).name),
		RECORDING_STRING_MAX);
	recording_free(recording);
	free(name);
}

/* Sums have the number of their events beside them, and may be too large for 64 bits. */
static void sums_are_saved(void **state)
{
	struct data *data = *state;
	struct tally_entry entry = { .events = 5,
				     .count = UINT64_MAX - 1,
				     .tgid = 77,
				     .kernel = TALLY_STACK_NONE,
				     .user = TALLY_STACK_NONE };
	struct recording *recording = NULL;
	struct error err = { 0 };
	uint32_t last;

	data->meta.summed = true;
	data->meta.measure = "bytes_req";
	data->meta.unit = "bytes";
	tally_losses(data->tally)->failed = 16;
	tally_losses(data->tally)->unread = 17;
	assert_int_equal(tally_add(data->tally, &entry), 0);
	save(data);
	assert_int_equal(data->bytes[RECORDING_MAGIC_SIZE], RECORDING_SUMS);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	last = tally_n_entries(recording->tally) - 1;
	assert_true(recording->meta.summed);
	assert_string_equal(recording->meta.unit, "bytes");
	assert_int_equal(tally_entries(recording->tally)[last].events, 5);
	assert_int_equal(tally_events(recording->tally), 5);
	assert_true(tally_total(recording->tally) == UINT64_MAX);
	assert_int_equal(tally_losses_of(recording->tally)->failed, 16);
	assert_int_equal(tally_losses_of(recording->tally)->unread, 17);
	assert_true(tally_losses_of(recording->tally)->saturated);
	recording_free(recording);
}

static void truncated_names_the_offset(void **state)
{
	struct data *data = *state;

	for (size_t size = 0; size < data->size; size++) {
		struct recording *recording = NULL;
		struct error err = { 0 };
		char expected[64];

		assert_true(load(data->bytes, size, &recording, &err) < 0);
		assert_null(recording);
		snprintf(expected, sizeof(expected), "x.stacktally: truncated at offset %zu", size);
		assert_string_equal(err.text, expected);
		assert_int_equal(err.exit_class, EXIT_CLASS_RUNTIME);
	}
}

/* Errors name the offset, unless the magic is wrong: then the file is no recording. */
static void assert_says_where(const struct error *err, size_t at)
{
	assert_non_null(strstr(err->text, at < RECORDING_MAGIC_SIZE
						  ? " is not a stacktally recording"
						  : " at offset "));
}

static void every_flipped_byte_is_noticed(void **state)
{
	struct data *data = *state;

	for (size_t at = 0; at < data->size; at++) {
		for (int bit = 0; bit < 8; bit++) {
			struct recording *recording = NULL;
			struct error err = { 0 };

			data->bytes[at] ^= (unsigned char)(1 << bit);
			assert_true(load(data->bytes, data->size, &recording, &err) < 0);
			assert_null(recording);
			assert_says_where(&err, at);
			data->bytes[at] ^= (unsigned char)(1 << bit);
		}
	}
}

/* With correct checksums: nothing crashes; if it loads, its report has the sum of its counts. */
static void hostile_bytes_do_no_harm(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct data *data = *state;
	unsigned char *hostile = malloc(data->size);
	FILE *out = fopen("/dev/null", "we");
	unsigned int loaded = 0, refused = 0;

	assert_true(hostile && out);
	for (size_t at = RECORDING_HEADER_SIZE; at < data->size * 2; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			struct report_options options = { .per_process = true, .offset = true };
			struct recording *recording = NULL;
			struct profile profile = { 0 };
			const struct report report = { .options = &options, .profile = &profile };
			struct error err = { 0 };

			memcpy(hostile, data->bytes, data->size);
			hostile[at % data->size] =
				at < data->size
					? values[i]
					: (unsigned char)(hostile[at % data->size] + values[i]);
			make_checksums(hostile, data->size);
			if (load(hostile, data->size, &recording, &err) < 0) {
				assert_null(recording);
				assert_says_where(&err, at % data->size);
				refused++;
				continue;
			}
			loaded++;
			assert_int_equal(profile_build(recording->tally, recording->names,
						       &recording->meta, text_writer.view(&options),
						       NULL, &profile),
					 0);
			assert_true(profile.total == tally_total(recording->tally));
			assert_int_equal(text_writer.write(&report, out, &err), 0);
			profile_clear(&profile);
			recording_free(recording);
		}
	}
	assert_true(loaded > 100 && refused > 100);
	fclose(out);
	free(hostile);
}

static void only_regular_files(void **state)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(recording_load(ends[0], "p", &recording, &err) < 0);
	assert_string_equal(err.text, "p is not a regular file: copy the recording to one");
	close(ends[0]);
	close(ends[1]);
}

static void errors_are_precise(void **state)
{
	struct data *data = *state;
	struct recording *recording = NULL;
	struct error err = { 0 };
	unsigned char *longer = malloc(data->size + 1);

	assert_non_null(longer);
	assert_true(load("ELF file", 8, &recording, &err) < 0);
	assert_string_equal(err.text, "x.stacktally is not a stacktally recording");
	memcpy(longer, data->bytes, data->size);
	longer[data->size] = 0;
	assert_true(load(longer, data->size + 1, &recording, &err) < 0);
	assert_non_null(strstr(err.text, "something follows the end at offset "));
	longer[RECORDING_MAGIC_SIZE] = RECORDING_NEWEST + 1;
	assert_true(load(longer, data->size, &recording, &err) < 0);
	assert_non_null(strstr(err.text, "version"));
	longer[RECORDING_MAGIC_SIZE] = RECORDING_OLDEST - 1;
	assert_true(load(longer, data->size, &recording, &err) < 0);
	assert_non_null(strstr(err.text, "version"));
	free(longer);
}

static void unnamed_addresses_are_not_saved(void **state)
{
	struct data *data = *state;
	struct tally_address it = { .address = 12345 };
	struct error err = { 0 };
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &it, &id), 0);
	assert_true(recording_save(stderr, &data->meta, data->tally, data->names, NULL, &err) < 0);
	assert_string_equal(err.text, "cannot save a recording: 12 of 13 addresses have names");
}

static void write_errors_are_told(void **state)
{
	struct data *data = *state;
	struct error err = { 0 };
	FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(recording_save(full, &data->meta, data->tally, data->names, NULL, &err) < 0);
	assert_string_equal(err.text, "cannot save a recording: No space left on device");
	fclose(full);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void labels_of_cgroups(void **state)
{
	static const struct names_label labels[] = { { LABEL_CONTAINER_NAME, "web" },
						     { LABEL_IMAGE, "localhost/web:1" } };
	struct recording *recording = NULL;
	struct error err = { 0 };
	struct data *data = *state;

	assert_int_equal(names_add_cgroup(data->names,
					  &(struct names_cgroup){ 50, "/c", labels, 2 }),
			 0);
	save(data);
	assert_int_equal(data->bytes[RECORDING_MAGIC_SIZE], RECORDING_LABELS);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(names_n_cgroups(recording->names), 3);
	assert_int_equal(names_cgroups(recording->names)[1].n_labels, 0);
	assert_int_equal(names_cgroups(recording->names)[2].n_labels, 2);
	assert_string_equal(names_cgroup_label(&names_cgroups(recording->names)[2], LABEL_IMAGE),
			    "localhost/web:1");
	assert_null(names_cgroup_label(&names_cgroups(recording->names)[2], LABEL_POD));
	recording_free(recording);
}

static void names_of_processes(void **state)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	struct data *data = *state;

	assert_int_equal(names_add_process(data->names, &(struct names_process){ 9, "java" }), 0);
	assert_int_equal(names_add_process(data->names, &(struct names_process){ 7, "sh" }), 0);
	assert_int_equal(names_add_process(data->names, &(struct names_process){ 7, "node" }), 0);
	save(data);
	assert_int_equal(data->bytes[RECORDING_MAGIC_SIZE], RECORDING_NAMED);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(names_n_processes(recording->names), 2);
	assert_int_equal(names_processes(recording->names)[0].tgid, 7);
	assert_string_equal(names_processes(recording->names)[0].comm, "node");
	assert_string_equal(names_process_by_tgid(names_processes(recording->names), 2, 9)->comm,
			    "java");
	assert_null(names_process_by_tgid(names_processes(recording->names), 2, 8));
	recording_free(recording);
}

static void blocks_that_were_replaced(void **state)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	struct data *data = *state;

	tally_losses(data->tally)->replaced_blocks = 31;
	tally_losses(data->tally)->unmapped = 37;
	save(data);
	assert_int_equal(data->bytes[RECORDING_MAGIC_SIZE], RECORDING_BLOCKS);
	if (load(data->bytes, data->size, &recording, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(tally_losses_of(recording->tally)->replaced_blocks, 31);
	assert_int_equal(tally_losses_of(recording->tally)->unmapped, 37);
	recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(labels_of_cgroups),
		TEST(names_of_processes),
		TEST(blocks_that_were_replaced),
		TEST(loads_what_was_saved),
		TEST(files_of_version_3_are_loaded),
		TEST(times_are_kept),
		TEST(wrong_times_are_refused),
		TEST(times_of_an_older_version_are_refused),
		TEST(files_of_version_5_are_loaded),
		TEST(files_of_version_6_are_loaded),
		TEST(large_ones_have_many_sections),
		TEST(sums_are_saved),
		TEST(truncated_names_the_offset),
		TEST(every_flipped_byte_is_noticed),
		TEST(hostile_bytes_do_no_harm),
		TEST(only_regular_files),
		TEST(errors_are_precise),
		TEST(unnamed_addresses_are_not_saved),
		TEST(write_errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
