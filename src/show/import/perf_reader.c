// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/perf_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/frame_set.h"
#include "view/stack_list.h"

#define NAMELESS "[unknown]"

struct perf_reader {
	struct frame_set frames;
	struct frame_side user, kernel;
	struct folded_piece event; /* of all samples */
	struct tally_entry entry;
	bool in_sample;
	uint64_t line;
	struct error *err;
};

/* What the line of a sample says. */
struct sample {
	struct folded_piece comm, event;
	uint32_t pid, tid;
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct folded_piece part(const char *start, const char *end)
{
	return (struct folded_piece){ start, (size_t)(end - start) };
}

static struct folded_piece trimmed(struct folded_piece piece)
{
	while (piece.size > 0 && is_blank(piece.start[0]))
		piece = (struct folded_piece){ piece.start + 1, piece.size - 1 };
	while (piece.size > 0 &&
	       (is_blank(piece.start[piece.size - 1]) || piece.start[piece.size - 1] == '\r'))
		piece.size--;
	return piece;
}

/* The next line, without the blanks at its end. False: there is none. */
static bool next_line(struct folded_piece *rest, struct folded_piece *ret_line)
{
	const char *stop;

	if (rest->size == 0)
		return false;
	stop = memchr(rest->start, '\n', rest->size);
	*ret_line = part(rest->start, stop ? stop : rest->start + rest->size);
	rest->size -= ret_line->size + (stop ? 1 : 0);
	rest->start += ret_line->size + (stop ? 1 : 0);
	while (ret_line->size > 0 && strchr(" \t\r", ret_line->start[ret_line->size - 1]) &&
	       ret_line->start[ret_line->size - 1])
		ret_line->size--;
	return true;
}

/* A number, with what may stand before it removed. */
static bool take_id(struct folded_piece *text, uint32_t *ret_id)
{
	uint64_t id = 0;
	size_t n = 0;

	for (; n < text->size && is_digit(text->start[n]) && id <= UINT32_MAX; n++)
		id = id * 10 + (uint64_t)(text->start[n] - '0');
	if (n == 0 || id > UINT32_MAX)
		return false;
	*text = (struct folded_piece){ text->start + n, text->size - n };
	*ret_id = (uint32_t)id;
	return true;
}

/* ` 12/34 ` or ` 12 `, as ids stand behind a comm. */
static bool take_ids(struct folded_piece text, struct sample *sample)
{
	if (!take_id(&text, &sample->pid))
		return false;
	sample->tid = 0;
	if (text.size > 0 && *text.start == '/') {
		text = (struct folded_piece){ text.start + 1, text.size - 1 };
		if (!take_id(&text, &sample->tid))
			return false;
	}
	return text.size > 0 && is_blank(*text.start);
}

/* Where the time ends, the first number with a colon and a blank behind it; else the line's end. */
static size_t end_of_time(const struct folded_piece *line)
{
	for (size_t i = 1; i + 1 < line->size; i++)
		if (line->start[i] == ':' && line->start[i + 1] == ' ' &&
		    is_digit(line->start[i - 1]))
			return i;
	return line->size;
}

/* Comms may hold blanks and numbers: the last ids before the time are those of the sample. */
static bool take_comm(const struct folded_piece *line, struct sample *sample)
{
	size_t end = end_of_time(line);

	for (size_t i = end; i-- > 1;) {
		struct folded_piece rest = { line->start + i, line->size - i };

		if (!is_blank(line->start[i - 1]) || !take_ids(rest, sample))
			continue;
		sample->comm = trimmed(part(line->start, line->start + i));
		return sample->comm.size > 0;
	}
	return false;
}

/* `cpu_core/cycles/` and `cpu_atom/cycles/` are cycles of two kinds of CPUs. */
static struct folded_piece bare_event(struct folded_piece event)
{
	const char *slash = memchr(event.start, '/', event.size);
	const char *end =
		slash ? memchr(slash + 1, '/', (size_t)(event.start + event.size - slash - 1))
		      : NULL;

	return end ? part(slash + 1, end) : event;
}

/* The line ends with its event and a colon. */
static bool parse_sample(const struct folded_piece *line, struct sample *sample)
{
	const char *end = line->start + line->size, *event;

	if (line->size < 3 || is_blank(*line->start) || end[-1] != ':')
		return false;
	event = memrchr(line->start, ' ', line->size);
	if (!event || end - 1 <= event + 1 || !take_comm(line, sample))
		return false;
	sample->event = bare_event(part(event + 1, end - 1));
	return true;
}

bool perf_reader_knows(const char *text, size_t size)
{
	struct folded_piece rest = { text, size }, line;
	struct sample sample;

	while (next_line(&rest, &line))
		if (line.size > 0 && line.start[0] != '#')
			return parse_sample(&line, &sample);
	return false;
}

static int refuse(struct perf_reader *reader, const char *what)
{
	return error_set(reader->err, -EBADMSG, "line %" PRIu64 ": %s", reader->line, what);
}

/* ---- frames */

static bool is_kernel(const struct folded_piece *file)
{
	if (file->size >= 7 && memcmp(file->start + file->size - 7, "vmlinux", 7) == 0)
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

/* Without `+0x1f` at the end. */
static struct folded_piece without_offset(struct folded_piece name)
{
	const char *plus = memrchr(name.start, '+', name.size);
	size_t n = plus ? (size_t)(name.start + name.size - plus) : 0;

	if (n < 4 || plus[1] != '0' || plus[2] != 'x')
		return name;
	for (size_t i = 3; i < n; i++)
		if (!strchr("0123456789abcdef", plus[i]) || !plus[i])
			return name;
	return part(name.start, plus);
}

/* `ADDRESS NAME (FILE)`. */
static bool parse_frame(struct folded_piece line, struct folded_piece *name,
			struct folded_piece *file)
{
	const char *open;
	size_t n = 0;

	line = trimmed(line);
	while (n < line.size && strchr("0123456789abcdef", line.start[n]) && line.start[n])
		n++;
	open = memrchr(line.start, '(', line.size);
	/* A file's name may hold parentheses: `(/usr/bin/x (deleted))`. */
	if (open) {
		struct folded_piece tail = part(open, line.start + line.size);

		if (folded_begins(&tail, "(deleted)"))
			open = memrchr(line.start, '(', (size_t)(open - line.start));
	}
	if (n == 0 || n == line.size || !is_blank(line.start[n]) || !open ||
	    open < line.start + n + 1 || line.start[line.size - 1] != ')' || !is_blank(open[-1]))
		return false;
	*name = without_offset(trimmed(part(line.start + n, open)));
	*file = part(open + 1, line.start + line.size - 1);
	if (name->size == 0)
		*name = (struct folded_piece){ NAMELESS, strlen(NAMELESS) };
	return file->size > 0;
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
	uint32_t flags = 0;
	bool inlined;

	if (!parse_frame(*line, &name, &file))
		return refuse(reader, "not a frame of perf script: ADDRESS NAME (FILE)");
	if (take_mark(reader, &name))
		return 0;
	inlined = folded_is(&file, "inlined");
	module = inlined || folded_is(&file, NAMELESS) ? nothing : base_name(file);
	/* Callers of user code are user code. */
	if (reader->user.n == 0 && (inlined ? reader->kernel.n > 0 : is_kernel(&file)))
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

static int begin_sample(struct perf_reader *reader, const struct folded_piece *line)
{
	struct sample sample;
	size_t size;

	if (!parse_sample(line, &sample))
		return refuse(reader, "not a sample of perf script with its stack");
	if (reader->event.size == 0)
		reader->event = sample.event;
	if (reader->event.size != sample.event.size ||
	    memcmp(reader->event.start, sample.event.start, sample.event.size) != 0)
		return refuse(reader, "samples of a second event, whose sum means nothing: "
				      "keep those of one");
	size = sample.comm.size < TALLY_COMM_SIZE ? sample.comm.size : TALLY_COMM_SIZE - 1;
	/* One id is that of the thread. */
	reader->entry = (struct tally_entry){ .count = 1,
					      .tgid = sample.tid ? sample.pid : 0,
					      .tid = sample.tid ? sample.tid : sample.pid };
	memcpy(reader->entry.comm, sample.comm.start, size);
	frame_side_start(&reader->user);
	frame_side_start(&reader->kernel);
	reader->in_sample = true;
	return 0;
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
	/* A sample ends with a colon, a frame with its file. */
	if (is_blank(line->start[0]) || line->start[line->size - 1] == ')')
		return reader->in_sample ? read_frame(reader, line)
					 : refuse(reader, "a frame without a sample");
	r = end_sample(reader);
	return r < 0 ? r : begin_sample(reader, line);
}

int perf_read(const char *text, size_t size, struct profile_meta *meta, struct tally *tally,
	      struct names *names, struct error *err)
{
	struct perf_reader reader = { .err = err };
	struct folded_piece rest = { text, size }, line;
	int r = frame_set_start(&reader.frames, tally, names);

	if (r < 0)
		error_set(err, r, "out of memory");
	while (r == 0 && next_line(&rest, &line)) {
		reader.line++;
		r = read_line(&reader, &line);
	}
	if (r == 0)
		r = end_sample(&reader);
	if (r == 0 && reader.event.size > 0) {
		meta->event =
			pool_string_n(reader.frames.strings, reader.event.start, reader.event.size);
		if (!meta->event)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	frame_side_clear(&reader.user);
	frame_side_clear(&reader.kernel);
	frame_set_clear(&reader.frames);
	return r;
}
