// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/folded_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "base/pool.h"
#include "import/folded_line.h"
#include "view/frame_text.h"
#include "view/stack_list.h"

/* Frames of one side of a stack, root first. */
struct side {
	uint32_t *frames;
	uint32_t n, room;
	bool missed, cut;
};

struct folded_reader {
	struct tally *tally;
	struct names *names;
	struct pool *strings;
	struct folded_form form;
	enum folded_column column;
	struct index frames; /* address ids by name and side */
	struct side user, kernel;
	bool in_kernel; /* the remaining frames of the stack are the kernel's */
	uint64_t total;
};

/* Whether our writer prints this for a frame without a name. */
static bool is_nameless(const struct folded_piece *piece, uint32_t flags)
{
	const struct names_frame nameless = { .flags = flags };

	return folded_is(piece, frame_text_name(&nameless));
}

/* The address that stands for frames of this name. */
static int address_of(struct folded_reader *reader, const struct folded_piece *piece,
		      uint32_t flags, uint32_t *ret_id)
{
	uint64_t hash = hash_bytes(piece->start, piece->size) ^ hash_u64(flags);
	struct tally_address address = { .image = !(flags & NAMES_FRAME_KERNEL) };
	struct names_frame frame = { .object = NAMES_NONE, .flags = flags };
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&reader->frames, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&reader->frames, &cursor)) {
		struct names_frame known = names_frame(reader->names, at);
		const char *name = frame_text_name(&known);

		if (known.flags == flags && strlen(name) == piece->size &&
		    memcmp(name, piece->start, piece->size) == 0) {
			*ret_id = at;
			return 0;
		}
	}
	*ret_id = tally_n_addresses(reader->tally);
	address.address = *ret_id;
	if (!is_nameless(piece, flags)) {
		frame.name = pool_string_n(reader->strings, piece->start, piece->size);
		if (!frame.name)
			return -ENOMEM;
	}
	r = names_add_address(reader->names, &frame, 1);
	if (r == 0)
		r = tally_append_address(reader->tally, &address);
	return r < 0 ? r : index_add(&reader->frames, hash, *ret_id);
}

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
	uint32_t flags = flags_of(reader, &piece);
	struct side *side = reader->in_kernel ? &reader->kernel : &reader->user;
	int r = grow(&side->frames, &side->room, (size_t)side->n + 1);

	return r < 0 ? r : address_of(reader, &piece, flags, &side->frames[side->n++]);
}

/* The stack of a side; a tally has the leaf first. What is too deep loses its root. */
static int stack_of(struct folded_reader *reader, struct side *side, uint32_t *ret_id)
{
	uint32_t *frames = side->frames, n = side->n;

	if (side->missed && n == 0) {
		*ret_id = TALLY_STACK_MISSED;
		return 0;
	}
	if (n > TALLY_MAX_FRAMES) {
		frames += n - TALLY_MAX_FRAMES;
		n = TALLY_MAX_FRAMES;
		side->cut = true;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t other = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = other;
	}
	return tally_stack(reader->tally, frames, n, side->cut ? TALLY_STACK_CUT : 0, ret_id);
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

static void start_side(struct side *side)
{
	side->n = 0;
	side->missed = side->cut = false;
}

static int read_stack(struct folded_reader *reader, struct folded_piece stack, uint64_t count)
{
	struct tally_entry entry = { .count = count };
	struct folded_piece piece;
	int r = 0;

	start_side(&reader->user);
	start_side(&reader->kernel);
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
	return r < 0 ? r : tally_add(reader->tally, &entry);
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

int folded_read(const char *text, size_t size, const struct folded_form *form,
		enum folded_column column, struct tally *tally, struct names *names,
		struct error *err)
{
	own(own_pool_free) struct pool *strings = NULL;
	struct folded_reader reader = {
		.tally = tally, .names = names, .form = *form, .column = column
	};
	int r = pool_new(&strings);

	if (r == 0)
		r = names_share_strings(names, strings);
	if (r < 0)
		return error_set(err, r, "out of memory");
	reader.strings = strings;
	r = read_lines(&reader, text, size, err);
	index_free(&reader.frames);
	free(reader.user.frames);
	free(reader.kernel.frames);
	return r;
}
