// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the text that `perf script` prints: for each sample a line `COMM PID/TID [CPU] TIME: PERIOD
 * EVENT: FIELDS` and its stack, leaf first, a frame a line, `ADDRESS NAME+OFFSET (FILE)`; what perf
 * was told to leave out may be missing (perf_line.h). Samples are counted; their periods and times
 * are not kept. A frame without a name is called by its file. Samples of two events have no sum
 * that means anything: --value says of which they are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/frame_set.h"
#include "import/kind.h"
#include "import/perf_line.h"
#include "view/stack_list.h"

#define NAMELESS "[unknown]"

struct perf_reader {
	struct frame_set frames;
	struct frame_side user, kernel;
	const char *wanted;	   /* the event to read; NULL: there is only one */
	struct folded_piece event; /* of all samples that are read */
	struct tally_entry entry;
	bool in_sample, is_skipped; /* the frames of what is skipped are as well */
	uint64_t n;		    /* samples */
	uint64_t line;
	struct error *err;
};

static struct folded_piece part(const char *start, const char *end)
{
	return (struct folded_piece){ start, (size_t)(end - start) };
}

static bool is_perf_script(const char *text, size_t size)
{
	struct folded_piece rest = { text, size }, line;
	struct perf_sample sample;

	while (perf_next_line(&rest, &line))
		if (line.size > 0 && line.start[0] != '#')
			return perf_sample_parse(&line, &sample);
	return false;
}

static int refuse(struct perf_reader *reader, const char *what)
{
	return error_set(reader->err, -EBADMSG, "line %" PRIu64 ": %s", reader->line, what);
}

/* ---- frames */

static bool ends_with(const struct folded_piece *file, const char *end)
{
	size_t size = strlen(end);

	return file->size >= size && memcmp(file->start + file->size - size, end, size) == 0;
}

/* Modules of the kernel are files, which may be packed. */
static bool is_kernel(const struct folded_piece *file)
{
	static const char *const ends[] = { "vmlinux", ".ko", ".ko.xz", ".ko.gz", ".ko.zst" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(file, ends[i]))
			return true;
	return file->size > 0 && file->start[0] == '[' && !folded_is(file, "[unknown]") &&
	       !folded_begins(file, "[vdso") && !folded_begins(file, "[vsyscall") &&
	       !folded_begins(file, "[heap") && !folded_begins(file, "[stack") &&
	       !folded_begins(file, "[anon");
}

static bool is_jit(const struct folded_piece *file)
{
	return folded_begins(file, "/tmp/perf-") || folded_begins(file, "//anon") ||
	       folded_begins(file, "[anon");
}

static struct folded_piece base_name(struct folded_piece path)
{
	const char *slash = path.start[0] == '[' ? NULL : memrchr(path.start, '/', path.size);

	return slash && slash + 1 < path.start + path.size ? part(slash + 1, path.start + path.size)
							   : path;
}

/* Our own marks for what is missing. */
static bool take_mark(struct perf_reader *reader, const struct folded_piece *name)
{
	switch (stack_mark_of(name->start, name->size)) {
	case STACK_MARK_MISSED_USER:
		reader->user.missed = true;
		return true;
	case STACK_MARK_MISSED_KERNEL:
		reader->kernel.missed = true;
		return true;
	case STACK_MARK_TRUNCATED:
		*(reader->user.n || !reader->kernel.n ? &reader->user.cut : &reader->kernel.cut) =
			true;
		return true;
	case STACK_MARK_NONE:
		return true;
	default:
		return false;
	}
}

static int add_frame(struct perf_reader *reader, struct folded_piece name,
		     const struct folded_piece *module, uint32_t flags)
{
	struct frame_side *side = flags & NAMES_FRAME_KERNEL ? &reader->kernel : &reader->user;
	uint32_t id;
	int r;

	r = frame_set_address(&reader->frames, &name, module, flags, &id);
	if (r == 0)
		r = frame_side_add(side, id);
	return r < 0 ? error_set(reader->err, r, "out of memory") : 0;
}

/* The last `->` behind the first byte, or NULL. */
static const char *last_arrow(const struct folded_piece *name)
{
	size_t size = name->size;
	const char *at;

	while ((at = memrchr(name->start, '>', size))) {
		size = (size_t)(at - name->start);
		if (size > 1 && at[-1] == '-')
			return at - 1;
	}
	return NULL;
}

/* Java's agent writes `caller->inlined` as one name. */
static int add_inlined(struct perf_reader *reader, struct folded_piece name,
		       const struct folded_piece *module, uint32_t flags)
{
	const char *arrow;
	int r = 0;

	while (r == 0 && (arrow = last_arrow(&name))) {
		const char *end = name.start + name.size;

		if (arrow + 2 < end)
			r = add_frame(reader, part(arrow + 2, end), module,
				      flags | NAMES_FRAME_INLINED);
		name = part(name.start, arrow);
	}
	return r < 0 ? r : add_frame(reader, name, module, flags);
}

/* A frame without a name is called by its file: `[libc.so.6]`. */
static int add_nameless(struct perf_reader *reader, const struct folded_piece *module,
			uint32_t flags)
{
	char text[256];
	int size = snprintf(text, sizeof(text), module->start[0] == '[' ? "%.*s" : "[%.*s]",
			    module->size < 200 ? (int)module->size : 200, module->start);

	return add_frame(reader, (struct folded_piece){ text, (size_t)size }, module,
			 flags | NAMES_FRAME_IDENTITY);
}

static int read_frame(struct perf_reader *reader, const struct folded_piece *line)
{
	struct folded_piece name, file, module, nothing = { "", 0 };
	struct perf_frame frame;
	uint32_t flags = 0;
	bool inlined;

	if (!perf_frame_parse(*line, &frame))
		return refuse(reader, "not a frame of perf script: ADDRESS NAME (FILE)");
	name = frame.name.size > 0 ? frame.name
				   : (struct folded_piece){ NAMELESS, strlen(NAMELESS) };
	file = frame.file.start ? frame.file : nothing;
	if (take_mark(reader, &name))
		return 0;
	inlined = folded_is(&file, "inlined");
	module = inlined || folded_is(&file, NAMELESS) ? nothing : base_name(file);
	/* Callers of user code are user code. */
	if (reader->user.n == 0 &&
	    (frame.in_kernel || (inlined ? reader->kernel.n > 0 : is_kernel(&file))))
		flags |= NAMES_FRAME_KERNEL;
	flags |= inlined ? NAMES_FRAME_INLINED : 0;
	if (is_jit(&file))
		return add_inlined(reader, name, &module, flags | NAMES_FRAME_JIT);
	if (folded_is(&name, NAMELESS) && module.size > 0)
		return add_nameless(reader, &module, flags);
	return add_frame(reader, name, &module, flags);
}

/* ---- samples */

static int end_sample(struct perf_reader *reader)
{
	struct tally *tally = reader->frames.tally;
	int r;

	if (!reader->in_sample)
		return 0;
	reader->in_sample = false;
	r = frame_side_stack(&reader->user, tally, &reader->entry.user);
	if (r == 0)
		r = frame_side_stack(&reader->kernel, tally, &reader->entry.kernel);
	if (r == 0)
		r = tally_add(tally, &reader->entry);
	return r < 0 ? error_set(reader->err, r, "out of memory") : 0;
}

static bool is_same(const struct folded_piece *a, const struct folded_piece *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->start, b->start, a->size) == 0);
}

static int shown_size(const struct folded_piece *event)
{
	return event->size < 64 ? (int)event->size : 64;
}

/* Samples of two events have no sum that means anything. */
static int choose_event(struct perf_reader *reader, const struct folded_piece *event)
{
	if (reader->wanted)
		reader->is_skipped = !folded_is(event, reader->wanted);
	if (!reader->is_skipped && reader->n++ == 0)
		reader->event = *event;
	if (reader->is_skipped || is_same(&reader->event, event))
		return 0;
	return error_set(reader->err, -EBADMSG,
			 "line %" PRIu64 ": samples of a second event, whose sum means nothing: "
			 "--value %.*s or --value %.*s",
			 reader->line, shown_size(&reader->event), reader->event.start,
			 shown_size(event), event->start);
}

static int begin_sample(struct perf_reader *reader, const struct folded_piece *line)
{
	struct perf_sample sample;
	struct perf_frame frame;
	size_t size;
	int r;

	if (!perf_sample_parse(line, &sample))
		return refuse(reader, "not a sample of perf script with its stack");
	reader->is_skipped = sample.is_record;
	r = sample.is_record ? 0 : choose_event(reader, &sample.event);
	if (r < 0 || reader->is_skipped)
		return r;
	size = sample.comm.size < TALLY_COMM_SIZE ? sample.comm.size : TALLY_COMM_SIZE - 1;
	/* One id is that of the thread. */
	reader->entry = (struct tally_entry){ .count = 1,
					      .tgid = sample.tid ? sample.pid : 0,
					      .tid = sample.tid ? sample.tid : sample.pid };
	memcpy(reader->entry.comm, sample.comm.start, size);
	frame_side_start(&reader->user);
	frame_side_start(&reader->kernel);
	reader->in_sample = true;
	/* Without call graphs, the only frame is in the same line. */
	return perf_frame_parse(sample.rest, &frame) && frame.file.start
		       ? read_frame(reader, &sample.rest)
		       : 0;
}

/* Comms are aligned with blanks in files without call graphs; frames have a tab, or blanks. */
static bool is_frame(const struct folded_piece *line)
{
	struct perf_sample sample;

	return line->start[0] == '\t' ||
	       (line->start[0] == ' ' && !perf_sample_parse(line, &sample));
}

static int read_line(struct perf_reader *reader, const struct folded_piece *line)
{
	int r;

	/* Names end at the first NUL, so no frame with one would be found again. */
	if (memchr(line->start, '\0', line->size))
		return refuse(reader, "a NUL byte");
	if (line->size == 0)
		return reader->user.n || reader->kernel.n ? end_sample(reader) : 0;
	if (line->start[0] == '#')
		return 0;
	if (is_frame(line)) {
		if (reader->is_skipped || perf_line_is_source(line))
			return 0;
		return reader->in_sample ? read_frame(reader, line)
					 : refuse(reader, "a frame without a sample");
	}
	r = end_sample(reader);
	return r < 0 ? r : begin_sample(reader, line);
}

static int read_perf_script(const struct import_file *file, struct baseline *base,
			    struct error *err)
{
	struct perf_reader reader = { .err = err, .wanted = file->value };
	struct folded_piece rest = { file->bytes, file->size }, line;
	int r = frame_set_start(&reader.frames, base->tally, base->names);

	if (r < 0)
		error_set(err, r, "out of memory");
	while (r == 0 && perf_next_line(&rest, &line)) {
		reader.line++;
		r = read_line(&reader, &line);
	}
	if (r == 0)
		r = end_sample(&reader);
	if (r == 0 && file->value && reader.n == 0)
		r = error_set(err, -EINVAL, "--value %s: no sample is of that event", file->value);
	if (r == 0 && reader.event.size > 0) {
		base->meta.event =
			pool_string_n(reader.frames.strings, reader.event.start, reader.event.size);
		if (!base->meta.event)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	frame_side_clear(&reader.user);
	frame_side_clear(&reader.kernel);
	frame_set_clear(&reader.frames);
	return r;
}

const struct import_kind perf_kind = {
	.name = "the text of perf script",
	.has_values = true,
	.knows = is_perf_script,
	.read = read_perf_script,
};
