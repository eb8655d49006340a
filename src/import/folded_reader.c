// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/folded_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/own.h"
#include "base/pool.h"
#include "view/frame_text.h"
#include "view/stack_list.h"

struct piece {
	const char *start;
	size_t size;
};

struct folded_reader {
	struct tally *tally;
	struct names *names;
	struct pool *strings;
	struct index frames; /* address ids by name and side */
	struct piece frame;  /* the current one */
	uint32_t user[TALLY_MAX_FRAMES], kernel[TALLY_MAX_FRAMES]; /* root first */
	uint32_t n_user, n_kernel;
	bool in_kernel; /* the remaining frames are the kernel's */
	bool missed_user, missed_kernel, cut_user, cut_kernel;
};

/* Java's names contain a semicolon: `Lpackage/Class;::method`. */
static const char *end_of_piece(const struct piece *rest)
{
	const char *at = rest->start, *stop = rest->start + rest->size;

	while ((at = memchr(at, ';', (size_t)(stop - at))) && stop - at > 2 && at[1] == ':' &&
	       at[2] == ':' && at > rest->start)
		at++;
	return at;
}

/* The next piece before a semicolon. False: there is none. */
static bool next_piece(struct piece *rest, struct piece *ret_piece)
{
	const char *end;

	if (!rest->start)
		return false;
	end = end_of_piece(rest);
	*ret_piece = (struct piece){ rest->start, end ? (size_t)(end - rest->start) : rest->size };
	if (end) {
		rest->size -= ret_piece->size + 1;
		rest->start = end + 1;
	} else {
		rest->start = NULL;
	}
	return true;
}

static bool is(const struct piece *piece, const char *text)
{
	return piece->size == strlen(text) && memcmp(piece->start, text, piece->size) == 0;
}

/* Removes `_[.]` from the end; returns its letter, or 0. */
static char take_annotation(struct piece *piece)
{
	const char *end = piece->start + piece->size;
	char letter;

	if (piece->size <= 4 || end[-1] != ']' || end[-3] != '[' || end[-4] != '_')
		return 0;
	letter = end[-2];
	if (letter != 'k' && letter != 'i' && letter != 'j')
		return 0;
	piece->size -= 4;
	return letter;
}

/* Whether our writer prints this for a frame without a name. */
static bool is_nameless(const struct piece *piece, uint32_t flags)
{
	const struct names_frame nameless = { .flags = flags };

	return is(piece, frame_text_name(&nameless));
}

/* The address that stands for frames of this name. */
static int address_of(struct folded_reader *reader, const struct piece *piece, uint32_t flags,
		      uint32_t *ret_id)
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
static bool take_mark(struct folded_reader *reader, const struct piece *piece)
{
	if (is(piece, "-") || is(piece, "--")) {
		reader->in_kernel = true;
		return true;
	}
	switch (stack_mark_of(piece->start, piece->size)) {
	case STACK_MARK_MISSED_USER:
		reader->missed_user = true;
		reader->in_kernel = true;
		return true;
	case STACK_MARK_MISSED_KERNEL:
		reader->missed_kernel = true;
		return true;
	case STACK_MARK_TRUNCATED:
		/* It precedes the frames of its stack. */
		reader->in_kernel = reader->in_kernel || reader->n_user || reader->missed_user;
		*(reader->in_kernel ? &reader->cut_kernel : &reader->cut_user) = true;
		return true;
	case STACK_MARK_NONE:
		return true;
	default:
		return false;
	}
}

static int add_frame(struct folded_reader *reader, struct piece piece)
{
	char letter = take_annotation(&piece);
	uint32_t flags = 0, *n;

	/* A frame above a kernel frame is the kernel's, too. */
	reader->in_kernel = reader->in_kernel || letter == 'k';
	if (reader->in_kernel)
		flags |= NAMES_FRAME_KERNEL;
	if (letter == 'i')
		flags |= NAMES_FRAME_INLINED;
	if (letter == 'j' || (!reader->in_kernel && is(&piece, "[jit]")))
		flags |= NAMES_FRAME_JIT;
	if (piece.size > strlen("[unwind: ") &&
	    memcmp(piece.start, "[unwind: ", strlen("[unwind: ")) == 0)
		flags |= NAMES_FRAME_UNWIND;
	n = reader->in_kernel ? &reader->n_kernel : &reader->n_user;
	if (*n == TALLY_MAX_FRAMES)
		return -E2BIG;
	return address_of(reader, &piece, flags,
			  (reader->in_kernel ? reader->kernel : reader->user) + (*n)++);
}

/* The stack of these frames; a tally has the leaf first. */
static int stack_of(struct folded_reader *reader, uint32_t *frames, uint32_t n, bool cut,
		    bool missed, uint32_t *ret_id)
{
	if (missed && n == 0) {
		*ret_id = TALLY_STACK_MISSED;
		return 0;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t other = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = other;
	}
	return tally_stack(reader->tally, frames, n, cut ? TALLY_STACK_CUT : 0, ret_id);
}

/* Removes the comm from the front, if the first piece is short enough to be one. */
static void take_comm(struct piece *stack, struct tally_entry *entry)
{
	struct piece all = *stack, first;

	next_piece(stack, &first);
	if (first.size < sizeof(entry->comm))
		memcpy(entry->comm, first.start, first.size);
	else
		*stack = all;
}

static int read_stack(struct folded_reader *reader, struct piece stack, uint64_t count)
{
	struct tally_entry entry = { .count = count };
	struct piece piece;
	int r = 0;

	reader->n_user = reader->n_kernel = 0;
	reader->missed_user = reader->missed_kernel = false;
	reader->cut_user = reader->cut_kernel = reader->in_kernel = false;
	take_comm(&stack, &entry);
	while (r == 0 && next_piece(&stack, &piece))
		if (piece.size > 0 && !take_mark(reader, &piece))
			r = add_frame(reader, piece);
	if (r == 0)
		r = stack_of(reader, reader->user, reader->n_user, reader->cut_user,
			     reader->missed_user, &entry.user);
	if (r == 0)
		r = stack_of(reader, reader->kernel, reader->n_kernel, reader->cut_kernel,
			     reader->missed_kernel, &entry.kernel);
	return r < 0 ? r : tally_add(reader->tally, &entry);
}

/* Removes the number behind the last space. */
static int take_count(struct piece *line, uint64_t *ret_count)
{
	const char *space = memrchr(line->start, ' ', line->size);
	const char *end = line->start + line->size;
	uint64_t count = 0;

	if (!space || space + 1 == end)
		return -EBADMSG;
	for (const char *digit = space + 1; digit < end; digit++) {
		if (*digit < '0' || *digit > '9' || __builtin_mul_overflow(count, 10, &count) ||
		    __builtin_add_overflow(count, *digit - '0', &count))
			return -EBADMSG;
	}
	line->size = (size_t)(space - line->start);
	*ret_count = count;
	return 0;
}

static int read_line(struct folded_reader *reader, struct piece line)
{
	uint64_t count;
	int r;

	while (line.size > 0 && strchr("\r \t", line.start[line.size - 1]))
		line.size--;
	if (line.size == 0 || line.start[0] == '#')
		return 0;
	if (memchr(line.start, '\0', line.size))
		return -EBADMSG;
	r = take_count(&line, &count);
	return r < 0 || count == 0 ? r : read_stack(reader, line, count);
}

static const char *what(int code)
{
	return code == -EBADMSG ? "not a folded stack with its count"
	       : code == -E2BIG ? "more frames than a stack may have"
	       : code == -EFBIG ? "too many different frames"
				: "out of memory";
}

int folded_read(const char *text, size_t size, struct tally *tally, struct names *names,
		struct error *err)
{
	own(own_free) struct folded_reader *reader = calloc(1, sizeof(*reader));
	own(own_pool_free) struct pool *strings = NULL;
	const char *end = text + size;
	size_t number = 0;
	int r = reader ? pool_new(&strings) : -ENOMEM;

	if (r == 0)
		r = names_share_strings(names, strings);
	if (r < 0)
		return error_set(err, r, "out of memory");
	reader->tally = tally;
	reader->names = names;
	reader->strings = strings;
	while (r == 0 && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		number++;
		r = read_line(reader, (struct piece){ text, (size_t)((stop ? stop : end) - text) });
		text = stop ? stop + 1 : end;
	}
	index_free(&reader->frames);
	/* The first line decides whether it is a file of this kind. */
	if (r == -EBADMSG && tally_n_entries(tally) == 0)
		return error_set(err, -ENOEXEC, "not folded stacks");
	return r < 0 ? error_set(err, r, "line %zu: %s", number, what(r)) : 0;
}
