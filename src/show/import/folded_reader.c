// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads folded stacks, ours or another program's: lines of `COMM;root;...;leaf COUNT`, with or
 * without a comm (import/folded_form.h). Where lines have two counts, it is a difference.
 *
 * Frames are the kernel's if they end with `_[k]` or follow our mark for a missed stack or, where
 * the form says so, `-`. The annotations `_[k]`, `_[i]`, `_[j]`, `_[0]` and `_[1]` are removed.
 * Stacks deeper than TALLY_MAX_FRAMES lose their root and are marked as cut. Empty lines and
 * comments are skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/folded_form.h"
#include "import/folded_line.h"
#include "import/frame_set.h"
#include "import/kind.h"
#include "view/stack_list.h"

#define START 512 /* bytes at the beginning that tell that it is text */

/* Which of the two counts of a difference is read; other files have one. */
enum folded_column { FOLDED_COUNT, FOLDED_BASE };

struct folded_reader {
	struct frame_set frames;
	struct folded_form form;
	enum folded_column column;
	struct frame_side user, kernel;
	bool in_kernel; /* the remaining frames of the stack are the kernel's */
	uint64_t total;
};

/* Handles the marks of writers. False: the piece is a frame. */
static bool take_mark(struct folded_reader *reader, const struct folded_piece *piece)
{
	if (reader->form.delimited && !reader->in_kernel && folded_is_delimiter(piece)) {
		reader->in_kernel = true;
		return true;
	}
	switch (stack_mark_of(piece->start, piece->size)) {
	case STACK_MARK_MISSED_USER:
		reader->user.missed = true;
		reader->in_kernel = true;
		return true;
	case STACK_MARK_MISSED_KERNEL:
		reader->kernel.missed = true;
		return true;
	case STACK_MARK_TRUNCATED:
		/* It precedes the frames of its stack. */
		reader->in_kernel = reader->in_kernel || reader->user.n > 0 || reader->user.missed;
		*(reader->in_kernel ? &reader->kernel.cut : &reader->user.cut) = true;
		return true;
	case STACK_MARK_NONE:
		return true;
	default:
		return false;
	}
}

static uint32_t flags_of(struct folded_reader *reader, struct folded_piece *piece)
{
	char letter = folded_take_annotation(piece);
	uint32_t flags = 0;

	/* A frame above a kernel frame is the kernel's, too. */
	reader->in_kernel = reader->in_kernel || letter == 'k';
	if (reader->in_kernel)
		flags |= NAMES_FRAME_KERNEL;
	if (letter == 'i')
		flags |= NAMES_FRAME_INLINED;
	if (letter == 'j' || letter == '1' || (!reader->in_kernel && folded_is(piece, "[jit]")))
		flags |= NAMES_FRAME_JIT;
	if (piece->size > strlen("[unwind: ") && folded_begins(piece, "[unwind: "))
		flags |= NAMES_FRAME_UNWIND;
	return flags;
}

static int add_frame(struct folded_reader *reader, struct folded_piece piece)
{
	static const struct folded_piece no_module = { "", 0 };
	uint32_t flags = flags_of(reader, &piece), id;
	int r = frame_set_address(&reader->frames, &piece, &no_module, flags, &id);

	return r < 0 ? r : frame_side_add(reader->in_kernel ? &reader->kernel : &reader->user, id);
}

/* The stack of a side; a tally has the leaf first. */
static int stack_of(struct folded_reader *reader, struct frame_side *side, uint32_t *ret_id)
{
	frame_side_reverse(side);
	return frame_side_stack(side, reader->frames.tally, ret_id);
}

/* Takes the thread's name and ids from the front. */
static void take_comm(const struct folded_reader *reader, struct folded_piece *stack,
		      struct tally_entry *entry)
{
	struct folded_piece comm;
	struct folded_ids ids = { 0 };

	folded_next_piece(stack, &comm);
	if (reader->form.ids != FOLDED_NO_IDS)
		folded_take_ids(&comm, &ids);
	memcpy(entry->comm, comm.start,
	       comm.size < sizeof(entry->comm) ? comm.size : sizeof(entry->comm) - 1);
	entry->tgid = ids.pid;
	entry->tid = ids.tid;
}

static int read_stack(struct folded_reader *reader, struct folded_piece stack, uint64_t count)
{
	struct tally_entry entry = { .count = count };
	struct folded_piece piece;
	int r = 0;

	frame_side_start(&reader->user);
	frame_side_start(&reader->kernel);
	reader->in_kernel = false;
	if (reader->form.comm || stack.size == 0 || stack.start[0] == ';')
		take_comm(reader, &stack, &entry);
	while (r == 0 && folded_next_piece(&stack, &piece))
		if (piece.size > 0 && !take_mark(reader, &piece))
			r = add_frame(reader, piece);
	if (r == 0)
		r = stack_of(reader, &reader->user, &entry.user);
	if (r == 0)
		r = stack_of(reader, &reader->kernel, &entry.kernel);
	return r < 0 ? r : tally_add(reader->frames.tally, &entry);
}

static int refuse(const struct folded_piece *word, enum folded_number kind, struct error *err)
{
	int size = word->size < 60 ? (int)word->size : 60;

	switch (kind) {
	case FOLDED_FRACTION:
		return error_set(err, -EBADMSG,
				 "%.*s is not a whole number: multiply all counts by a power of "
				 "ten",
				 size, word->start);
	case FOLDED_NEGATIVE:
		return error_set(err, -EBADMSG, "%.*s: counts below 0 are themselves a difference",
				 size, word->start);
	case FOLDED_LARGE:
		return error_set(err, -EBADMSG, "%.*s: the counts are too large", size,
				 word->start);
	default:
		return error_set(err, -EBADMSG, "not a folded stack with its count");
	}
}

/* Takes the counts from the end; *ret_count is that of the column that is read. */
static int take_counts(const struct folded_reader *reader, struct folded_piece *line,
		       uint64_t *ret_count, struct error *err)
{
	struct folded_piece word;
	enum folded_number kind;
	uint64_t base = 0, count = 0;

	kind = folded_take_number(line, &word, &count);
	if (kind == FOLDED_WHOLE && reader->form.difference)
		kind = folded_take_number(line, &word, &base);
	if (kind != FOLDED_WHOLE)
		return refuse(&word, kind, err);
	*ret_count = reader->column == FOLDED_BASE ? base : count;
	return 0;
}

static int read_line(struct folded_reader *reader, struct folded_piece line, struct error *err)
{
	uint64_t count = 0;
	int r;

	if (memchr(line.start, '\0', line.size))
		return refuse(&line, FOLDED_NONE, err);
	r = take_counts(reader, &line, &count, err);
	if (r < 0 || count == 0)
		return r;
	reader->total += count; /* both fit in 63 bits */
	if (reader->total > INT64_MAX)
		return error_set(err, -EBADMSG, "the sum of the counts is too large");
	r = read_stack(reader, line, count);
	return r < 0 ? error_set(err, r,
				 r == -EFBIG ? "too many different frames" : "out of memory")
		     : 0;
}

static int read_lines(struct folded_reader *reader, const char *text, size_t size,
		      struct error *err)
{
	struct folded_piece line;
	struct folded_lines lines;
	struct error why = { 0 };
	int r = 0;

	folded_lines_start(&lines, text, size);
	while (r == 0 && folded_next_line(&lines, &line))
		r = read_line(reader, line, &why);
	return r < 0 ? error_set(err, r, "line %" PRIu64 ": %s", lines.number, why.text) : 0;
}

static int read_column(const struct import_file *file, const struct folded_form *form,
		       enum folded_column column, struct baseline *base, struct error *err)
{
	struct folded_reader reader = { .form = *form, .column = column };
	int r = frame_set_start(&reader.frames, base->tally, base->names);

	r = r < 0 ? error_set(err, r, "out of memory")
		  : read_lines(&reader, file->bytes, file->size, err);
	frame_set_clear(&reader.frames);
	frame_side_clear(&reader.user);
	frame_side_clear(&reader.kernel);
	return r;
}

static bool is_folded(const char *bytes, size_t size)
{
	return !memchr(bytes, '\0', size < START ? size : START);
}

static int read_folded(const struct import_file *file, struct baseline *base, struct error *err)
{
	struct folded_form form;
	int r = folded_form_of(file->bytes, file->size, &form, err);

	if (r == 0)
		r = read_column(file, &form, FOLDED_COUNT, base, err);
	if (r < 0 || !form.difference)
		return r;
	r = baseline_new(&base->before, err);
	return r < 0 ? r : read_column(file, &form, FOLDED_BASE, base->before, err);
}

const struct import_kind folded_kind = {
	.name = "folded stacks",
	.knows = is_folded,
	.read = read_folded,
};
