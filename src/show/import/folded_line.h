/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes folded text apart: lines, the pieces of a stack, and the counts behind it. All pieces lie
 * within the text that they were taken from.
 */
#ifndef STACKTALLY_IMPORT_FOLDED_LINE_H
#define STACKTALLY_IMPORT_FOLDED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the text. `start` is NULL if there is none. */
struct folded_piece {
	const char *start;
	size_t size;
};

/* Lines of a text, without those that are empty or comments. */
struct folded_lines {
	struct folded_piece rest;
	uint64_t number; /* of the line that was returned last, from 1 */
};

/* A byte order mark is skipped. */
void folded_lines_start(struct folded_lines *lines, const char *text, size_t size);
/* The next line without the blanks at its end. False: there is none. */
bool folded_next_line(struct folded_lines *lines, struct folded_piece *ret_line);

/* The next piece before a semicolon. False: there is none. */
bool folded_next_piece(struct folded_piece *rest, struct folded_piece *ret_piece);
bool folded_is(const struct folded_piece *piece, const char *text);
bool folded_begins(const struct folded_piece *piece, const char *text);
/* `-` or `--`: bcc's tools write one between user and kernel functions. */
bool folded_is_delimiter(const struct folded_piece *piece);

enum folded_number {
	FOLDED_NONE,	 /* the last word is no number */
	FOLDED_WHOLE,	 /* also if it is written as 12.0 or 3e2 */
	FOLDED_FRACTION, /* 12.5 */
	FOLDED_NEGATIVE,
	FOLDED_LARGE, /* above INT64_MAX, which formats with signed counts cannot have */
};

/*
 * Looks at the last word of a line, and removes it if it is a number. *ret_word is that word. Only
 * FOLDED_WHOLE sets *ret_count.
 */
enum folded_number folded_take_number(struct folded_piece *line, struct folded_piece *ret_word,
				      uint64_t *ret_count);

/* Removes `_[.]` from the end, as annotations of flame graph programs are; its letter, or 0. */
char folded_take_annotation(struct folded_piece *piece);

/* The ids behind a comm: `-PID`, `-PID/TID`, with `?` for one that is not known. */
struct folded_ids {
	uint32_t pid, tid; /* 0: not known, or not there */
	bool has_tid;
};

/* Removes the ids from the end. False: there are none. */
bool folded_take_ids(struct folded_piece *comm, struct folded_ids *ret_ids);

#endif
