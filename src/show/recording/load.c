// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "recording/times.h"

struct loading {
	struct reader reader;
	struct recording *recording;
	const char **strings; /* reference n is strings[n - 1] */
	uint32_t n_strings, string_capacity;
	uint64_t previous; /* the address before */
	uint64_t total;	   /* sum of all counts */
	struct times_loading times;
	bool seen[RECORDING_N_SECTIONS];
	bool complete;
};

DEFINE_OWN(struct recording, recording_free)

static int out_of_memory(struct loading *loading)
{
	return reader_fail(&loading->reader, -ENOMEM, "out of memory");
}

static void load_string(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	uint64_t size = reader_up_to(reader, RECORDING_STRING_MAX, "string too long");
	const unsigned char *bytes = reader_bytes(reader, size);
	char *copy;

	if (reader->failed)
		return;
	if (memchr(bytes, '\0', size)) {
		reader_fail(reader, -EBADMSG, "string with a NUL");
		return;
	}
	if (grow(&loading->strings, &loading->string_capacity, (size_t)loading->n_strings + 1) <
	    0) {
		out_of_memory(loading);
		return;
	}
	copy = strndup((const char *)bytes, size);
	loading->strings[loading->n_strings] =
		copy ? names_string(loading->recording->names, copy) : NULL;
	free(copy);
	if (!loading->strings[loading->n_strings++])
		out_of_memory(loading);
}

static const char *string(struct loading *loading)
{
	uint64_t id = reader_up_to(&loading->reader, loading->n_strings, "no such string");

	return id ? loading->strings[id - 1] : NULL;
}

static void load_meta(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct profile_meta *meta = &loading->recording->meta;
	uint64_t flags;

	meta->command = string(loading);
	meta->command_line = string(loading);
	meta->title = string(loading);
	meta->event = string(loading);
	meta->hostname = string(loading);
	meta->kernel_release = string(loading);
	meta->frequency = reader_number(reader);
	meta->period = reader_number(reader);
	meta->start_time_ns = reader_number(reader);
	meta->duration_ns = reader_number(reader);
	meta->hash_storage = reader_number(reader);
	meta->stack_storage = reader_number(reader);
	flags = reader_up_to(reader, RECORDING_META_FLAGS(reader->version), "unknown flag");
	meta->user = flags & RECORDING_META_USER;
	meta->kernel = flags & RECORDING_META_KERNEL;
	meta->timed = flags & RECORDING_META_TIMED;
	meta->wall = flags & RECORDING_META_WALL;
	meta->summed = flags & RECORDING_META_SUMMED;
	meta->has = (struct profile_details){ .processes = flags & RECORDING_META_PROCESSES,
					      .threads = flags & RECORDING_META_THREADS,
					      .cgroups = flags & RECORDING_META_CGROUPS,
					      .idle = flags & RECORDING_META_IDLE,
					      .inlines = flags & RECORDING_META_INLINES,
					      .lines = flags & RECORDING_META_LINES };
	if (reader->version < 4)
		return;
	meta->scope = string(loading);
	meta->filter = string(loading);
	if (reader->version < RECORDING_UNITS)
		return;
	meta->measure = string(loading);
	meta->unit = string(loading);
}

/* Files of version 3 do not say what they hold: it is there if it occurs. */
static void find_details(struct recording *recording)
{
	profile_find_details(recording->tally, recording->names, &recording->meta.has);
	recording->meta.has.processes = true;
}

/* Absent if no unwinding tables were used. */
static void load_unwinding(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct profile_unwinding *is = &loading->recording->meta.unwinding;

	is->tables = reader_number(reader);
	is->rows = reader_number(reader);
	is->bytes = reader_number(reader);
	is->compiled = reader_number(reader);
	is->compile_ns = reader_number(reader);
	is->cached = reader_number(reader);
	is->cached_ns = reader_number(reader);
	is->waited = reader_number(reader);
	is->waited_completed = reader_number(reader);
}

static void load_object(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct names_object object = { .path = string(loading) };
	const unsigned char *build_id;
	uint32_t index;

	object.start = reader_number(reader);
	object.end = reader_number(reader);
	object.offset = reader_number(reader);
	object.device = reader_number(reader);
	object.inode = reader_number(reader);
	object.build_id_size =
		(uint32_t)reader_up_to(reader, NAMES_BUILD_ID_SIZE, "build-id too long");
	build_id = reader_bytes(reader, object.build_id_size);
	if (!reader->failed && !object.path)
		reader_fail(reader, -EBADMSG, "object without a path");
	if (reader->failed)
		return;
	memcpy(object.build_id, build_id, object.build_id_size);
	if (names_add_object(loading->recording->names, &object, &index) < 0)
		out_of_memory(loading);
}

static void load_labels(struct loading *loading, struct names_label labels[NAMES_MAX_LABELS],
			uint32_t *ret_n)
{
	struct reader *reader = &loading->reader;
	uint32_t n = (uint32_t)reader_up_to(reader, NAMES_MAX_LABELS, "too many labels");

	for (uint32_t i = 0; i < n && !reader->failed; i++) {
		labels[i] = (struct names_label){ .key = string(loading) };
		labels[i].value = string(loading);
		if (!reader->failed && (!labels[i].key || !labels[i].value))
			reader_fail(reader, -EBADMSG, "label without a key or a value");
	}
	*ret_n = n;
}

static void load_cgroup(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct names *names = loading->recording->names;
	struct names_label labels[NAMES_MAX_LABELS];
	struct names_cgroup cgroup = { .id = reader_number(reader), .labels = labels };
	uint32_t n = names_n_cgroups(names);

	cgroup.path = string(loading);
	if (reader->version >= RECORDING_LABELS)
		load_labels(loading, labels, &cgroup.n_labels);
	if (reader->failed)
		return;
	/* Ascending ids: names_add_cgroup() then appends. */
	if (!cgroup.path || (n > 0 && names_cgroups(names)[n - 1].id >= cgroup.id))
		reader_fail(reader, -EBADMSG, "cgroups without a path or out of order");
	else if (names_add_cgroup(names, &cgroup) < 0)
		out_of_memory(loading);
}

static void load_process(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct names *names = loading->recording->names;
	uint32_t n = names_n_processes(names);
	struct names_process process;

	process.tgid = (uint32_t)reader_up_to(reader, UINT32_MAX, "process id too large");
	process.comm = string(loading);
	if (reader->failed)
		return;
	/* Ascending: names_add_process() then appends. */
	if (!process.comm || (n > 0 && names_processes(names)[n - 1].tgid >= process.tgid))
		reader_fail(reader, -EBADMSG, "processes without a name or out of order");
	else if (names_add_process(names, &process) < 0)
		out_of_memory(loading);
}

/* The language that flags say, before version 7. */
static uint8_t language_of_flags(uint64_t flags)
{
	return !(flags & RECORDING_FRAME_PROGRAM)   ? LANGUAGE_NONE
	       : flags & RECORDING_FRAME_PHP	    ? LANGUAGE_PHP
	       : flags & RECORDING_FRAME_PERL	    ? LANGUAGE_PERL
	       : flags & RECORDING_FRAME_RUBY	    ? LANGUAGE_RUBY
	       : flags & RECORDING_FRAME_JAVASCRIPT ? LANGUAGE_JAVASCRIPT
						    : LANGUAGE_PYTHON;
}

static void load_frame_flags(struct reader *reader, struct names_frame *ret_frame)
{
	const uint32_t program =
		reader->version == 5 || reader->version == 6 ? RECORDING_FRAME_PROGRAM : 0;
	const uint32_t others = reader->version == 6
					? RECORDING_FRAME_PHP | RECORDING_FRAME_PERL |
						  RECORDING_FRAME_RUBY | RECORDING_FRAME_JAVASCRIPT
					: 0;
	const uint32_t known =
		NAMES_FRAME_KERNEL | NAMES_FRAME_INLINED | NAMES_FRAME_JIT | NAMES_FRAME_CHAINED |
		NAMES_FRAME_UNWIND | (reader->version < 5 ? 0 : NAMES_FRAME_IDENTITY) |
		(reader->version < 6 ? 0 : NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING);
	uint64_t flags =
		reader_up_to(reader, RECORDING_FRAME_LANGUAGE(N_LANGUAGES) - 1, "unknown language");
	uint64_t language = flags / RECORDING_FRAME_LANGUAGE(1);

	flags %= RECORDING_FRAME_LANGUAGE(1);
	if (reader->version < 7) {
		language = language_of_flags(flags);
		flags &= ~(uint64_t)(program | others);
	}
	if (flags & ~(uint64_t)known)
		reader_fail(reader, -EBADMSG, "unknown flag");
	ret_frame->flags = (uint16_t)flags;
	ret_frame->language = (uint8_t)language;
}

static struct names_frame load_frame(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct names_frame frame = { .name = string(loading) };
	uint64_t object;

	frame.linkage_name = string(loading);
	frame.module = string(loading);
	frame.file = string(loading);
	frame.offset = reader_number(reader);
	frame.line = (uint32_t)reader_up_to(reader, UINT32_MAX, "line number too large");
	object = reader_up_to(reader, names_n_objects(loading->recording->names), "no such object");
	frame.object = object ? (uint32_t)(object - 1) : NAMES_NONE;
	load_frame_flags(reader, &frame);
	return frame;
}

static void load_address(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct names_frame frames[NAMES_MAX_INLINED];
	struct tally_address address;
	uint32_t n;

	loading->previous += recording_unzigzag(reader_number(reader));
	address.address = loading->previous;
	address.image = (uint32_t)reader_up_to(reader, UINT32_MAX, "image too large");
	address.flags = (uint32_t)reader_up_to(reader,
					       reader->version < 5
						       ? TALLY_ADDRESS_FLAGS & ~TALLY_ADDRESS_SCRIPT
						       : TALLY_ADDRESS_FLAGS,
					       "unknown flag");
	n = (uint32_t)reader_up_to(reader, NAMES_MAX_INLINED, "too many frames");
	if (n == 0)
		reader_fail(reader, -EBADMSG, "address without a frame");
	for (uint32_t i = 0; i < n && !reader->failed; i++)
		frames[i] = load_frame(loading);
	if (reader->failed)
		return;
	if (tally_append_address(loading->recording->tally, &address) < 0 ||
	    names_add_address(loading->recording->names, frames, n) < 0)
		out_of_memory(loading);
}

static void load_stack(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct tally *tally = loading->recording->tally;
	uint32_t n = (uint32_t)reader_up_to(reader, TALLY_MAX_FRAMES, "stack too deep");
	uint32_t flags = (uint32_t)reader_up_to(reader, TALLY_STACK_ENDED(TALLY_N_ENDS) - 1,
						"unknown way to end");
	uint32_t *frames;

	if (n == 0)
		reader_fail(reader, -EBADMSG, "stack without a frame");
	else if (n > reader->end - reader->at)
		reader_fail(reader, -EBADMSG, "section ends within a stack");
	else if (flags & (TALLY_STACK_ENDED(1) - 1) & ~TALLY_STACK_FLAGS)
		reader_fail(reader, -EBADMSG, "unknown flag");
	if (reader->failed)
		return;
	if (tally_append_stack(tally, n, flags, &frames) < 0)
		out_of_memory(loading);
	else
		reader_ids(reader, frames, n, tally_n_addresses(tally), "no such address");
}

static uint32_t stack_id(struct loading *loading)
{
	uint64_t n = tally_n_stacks(loading->recording->tally);
	uint64_t id = reader_up_to(&loading->reader, n + 1, "no such stack");

	if (id == RECORDING_STACK_NONE)
		return TALLY_STACK_NONE;
	return id == RECORDING_STACK_MISSED ? TALLY_STACK_MISSED
					    : (uint32_t)(id - RECORDING_STACK_FIRST);
}

static void load_entry(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct tally_entry entry = { .count = reader_number(reader) };
	const unsigned char *comm;
	uint64_t size;

	if (reader->version >= RECORDING_SUMS)
		entry.events = reader_number(reader);
	if (reader->version >= RECORDING_CALLS)
		entry.largest = reader_number(reader);
	entry.cgroup = reader_number(reader);
	entry.tgid = (uint32_t)reader_up_to(reader, UINT32_MAX, "process id too large");
	entry.tid = (uint32_t)reader_up_to(reader, UINT32_MAX, "thread id too large");
	entry.kernel = stack_id(loading);
	entry.user = stack_id(loading);
	size = reader_up_to(reader, TALLY_COMM_SIZE - 1, "comm too long");
	comm = reader_bytes(reader, size);
	if (!reader->failed &&
	    __builtin_add_overflow(loading->total, entry.count, &loading->total)) {
		loading->total = UINT64_MAX;
		if (reader->version < RECORDING_SUMS)
			reader_fail(reader, -EBADMSG, "counts too large");
	}
	if (reader->failed)
		return;
	memcpy(entry.comm, comm, size);
	if (tally_append_entry(loading->recording->tally, &entry) < 0)
		out_of_memory(loading);
}

static void load_slice(struct loading *loading)
{
	times_load_slice(&loading->times, &loading->reader);
}

static void load_bins(struct loading *loading)
{
	times_load_bins(&loading->times, &loading->reader);
}

static void load_losses(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	struct tally_losses *losses = tally_losses(loading->recording->tally);

	losses->events = reader_number(reader);
	losses->lost_ring = reader_number(reader);
	losses->lost_counts = reader_number(reader);
	losses->lost_nested = reader_number(reader);
	losses->throttled = reader_number(reader);
	losses->unseen = reader_number(reader);
	losses->counts_full = reader_up_to(reader, 1, "unknown flag");
	if (reader->version < 6)
		return;
	losses->lost_time = reader_number(reader);
	losses->lost_threads = reader_number(reader);
	losses->lost_ends = reader_number(reader);
	losses->unwalked = reader_number(reader);
	losses->unsampled = reader_number(reader);
	losses->lost_memory = reader_number(reader);
	losses->memory_full = reader_up_to(reader, 1, "unknown flag");
	if (reader->version < 7)
		return;
	losses->due = reader_number(reader);
	losses->due_throttled = reader_number(reader);
	losses->due_stolen = reader_number(reader);
	losses->due_late = reader_number(reader);
	if (reader->version < RECORDING_SUMS)
		return;
	losses->failed = reader_number(reader);
	losses->unread = reader_number(reader);
	if (reader->version < RECORDING_CALLS)
		return;
	losses->unreturned = reader_number(reader);
	losses->unentered = reader_number(reader);
	losses->lost_calls = reader_number(reader);
	losses->lost_values = reader_number(reader);
	losses->unallocated = reader_number(reader);
	losses->lost_blocks = reader_number(reader);
	losses->lost_bytes = reader_number(reader);
	if (reader->version < RECORDING_BLOCKS)
		return;
	losses->replaced_blocks = reader_number(reader);
	losses->unmapped = reader_number(reader);
}

static bool is_optional(int section)
{
	return section == RECORDING_UNWINDING || section == RECORDING_PROCESSES ||
	       section == RECORDING_SLICES || section == RECORDING_BINS;
}

static void load_end(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	const struct tally *tally = loading->recording->tally;
	const uint64_t expected[] = { loading->n_strings, tally_n_addresses(tally),
				      tally_n_stacks(tally), tally_n_entries(tally),
				      loading->total };

	if (loading->seen[RECORDING_SLICES])
		times_check(&loading->times, reader);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (reader_number(reader) != expected[i] && !reader->failed)
			reader_fail(reader, -EBADMSG, "a section is missing before the end");
	for (int i = 0; i < RECORDING_N_SECTIONS; i++)
		if (!loading->seen[i] && !is_optional(i))
			reader_fail(reader, -EBADMSG, "a section is missing before the end");
	loading->complete = true;
}

struct section_loader {
	void (*load)(struct loading *loading);
	bool once; /* a single section with a single item */
};

static const struct section_loader loaders[RECORDING_N_SECTIONS] = {
	[RECORDING_STRINGS] = { load_string, false },
	[RECORDING_META] = { load_meta, true },
	[RECORDING_UNWINDING] = { load_unwinding, true },
	[RECORDING_OBJECTS] = { load_object, false },
	[RECORDING_CGROUPS] = { load_cgroup, false },
	[RECORDING_PROCESSES] = { load_process, false },
	[RECORDING_ADDRESSES] = { load_address, false },
	[RECORDING_STACKS] = { load_stack, false },
	[RECORDING_ENTRIES] = { load_entry, false },
	[RECORDING_SLICES] = { load_slice, false },
	[RECORDING_BINS] = { load_bins, true },
	[RECORDING_LOSSES] = { load_losses, true },
	[RECORDING_END] = { load_end, true },
};

/* The first version that has such a section. */
static uint32_t first_version(enum recording_section section)
{
	return section == RECORDING_PROCESSES				  ? RECORDING_NAMED
	       : section == RECORDING_SLICES || section == RECORDING_BINS ? RECORDING_TIMES
									  : RECORDING_OLDEST;
}

static void load_section(struct loading *loading)
{
	struct reader *reader = &loading->reader;
	const struct section_loader *loader = &loaders[reader->section];
	bool *seen = &loading->seen[reader->section];

	if (loader->once && *seen)
		reader_fail(reader, -EBADMSG, "section occurs twice");
	if (reader->version < first_version(reader->section))
		reader_fail(reader, -EBADMSG, "section of a newer version");
	*seen = true;
	if (loader->once && !reader->failed) {
		loader->load(loading);
		if (reader_more(reader))
			reader_fail(reader, -EBADMSG, "section is longer than it should be");
	}
	while (reader_more(reader))
		loader->load(loading);
}

static int load_all(struct loading *loading)
{
	struct reader *reader = &loading->reader;

	while (!loading->complete && reader_next(reader) == 0)
		load_section(loading);
	if (!reader->failed && reader->next != reader->size)
		reader_fail(reader, -EBADMSG, "something follows the end");
	return reader->failed;
}

int recording_load(int fd, const char *path, struct recording **ret_recording, struct error *err)
{
	own(own_recording_free) struct recording *recording = calloc(1, sizeof(*recording));
	struct loading loading = { .recording = recording };
	int r;

	if (recording)
		recording->timeline.most_rows = TIMELINE_ROWS;
	if (!recording || tally_new(0, 0, &recording->tally) < 0 ||
	    names_new(&recording->names) < 0)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	loading.times = (struct times_loading){ &recording->timeline, recording->tally, NULL, 0 };
	r = reader_open(&loading.reader, fd, path, err);
	if (r == 0)
		r = load_all(&loading);
	if (r == 0 && loading.reader.version < 4)
		find_details(recording);
	reader_close(&loading.reader);
	free(loading.strings);
	times_loading_clear(&loading.times);
	if (r < 0)
		return r;
	*ret_recording = take_ptr(recording);
	return 0;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	tally_free(recording->tally);
	names_free(recording->names);
	timeline_clear(&recording->timeline);
	free(recording);
}
