/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON (RFC 8259) in memory from front to back, without a tree: what is not asked for is
 * skipped. It takes what is well formed as it is meant; of what is not, some is an error and the
 * rest means something or other, within the bounds of the text. Nothing is allocated.
 */
#ifndef STACKTALLY_BASE_JSON_READER_H
#define STACKTALLY_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

struct json_reader {
	const char *at, *end;
	bool failed; /* not JSON; stays */
};

/* Whether the next value is an object ('{') or a list ('['), which is then entered. */
bool json_enter(struct json_reader *json, char bracket);

/*
 * The key of the next member of the object that was entered, cut at `size`; its value must be read
 * next. False: the object has ended, or the reading failed.
 */
bool json_member(struct json_reader *json, char *ret_key, size_t size);
/* The same for the elements of a list. */
bool json_element(struct json_reader *json);

/*
 * The next value if it is a string, without escapes, cut at `size`, and with U+FFFD
 * for what is no character; false and "" if it is another
 * value, which is skipped.
 */
bool json_text(struct json_reader *json, char *ret_text, size_t size);

/* The next value if it is a number; false if it is another value, which is skipped. */
bool json_number(struct json_reader *json, double *ret_number);

void json_skip(struct json_reader *json);

#endif
