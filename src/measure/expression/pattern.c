// SPDX-License-Identifier: GPL-2.0-or-later
#include "expression/pattern.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Lets the characters from `first` to `last` follow a position. */
static void accept(struct wire_pattern *pattern, uint32_t position, unsigned char first,
		   unsigned char last)
{
	/* Texts end before a NUL. */
	for (uint32_t i = first ? first : 1; i <= last; i++)
		pattern->accepts[i] |= 1ull << position;
}

/* Takes a set behind its bracket. 0 or -EINVAL. */
static int take_set(const char **at, struct wire_pattern *pattern, uint32_t position)
{
	bool inverted = **at == '^' || **at == '!';
	const char *first;

	*at += inverted;
	/* A bracket in the first place is one of the set. */
	for (first = *at; **at && (**at != ']' || *at == first);) {
		unsigned char from = (unsigned char)**at, to = from;

		(*at)++;
		if (**at == '-' && (*at)[1] && (*at)[1] != ']') {
			to = (unsigned char)(*at)[1];
			*at += 2;
		}
		accept(pattern, position, from, to);
	}
	if (!**at)
		return -EINVAL;
	(*at)++;
	for (uint32_t i = 1; inverted && i < 256; i++)
		pattern->accepts[i] ^= 1ull << position;
	return 0;
}

/* Takes one character of the text, of whatever form. 0 or -EINVAL. */
static int take_one(const char **at, bool wildcards, struct wire_pattern *pattern,
		    uint32_t position)
{
	unsigned char character = (unsigned char)*(*at)++;

	if (wildcards && character == '[')
		return take_set(at, pattern, position);
	if (wildcards && character == '?') {
		accept(pattern, position, 1, 255);
		return 0;
	}
	if (wildcards && character == '\\') {
		if (!**at)
			return -EINVAL;
		character = (unsigned char)*(*at)++;
	}
	accept(pattern, position, character, character);
	return 0;
}

int pattern_compile(const char *text, bool wildcards, struct wire_pattern *ret_pattern)
{
	uint32_t position = 0;

	memset(ret_pattern, 0, sizeof(*ret_pattern));
	while (*text) {
		int r;

		if (wildcards && *text == '*') {
			ret_pattern->stays |= 1ull << position;
			text++;
			continue;
		}
		if (position == WIRE_PATTERN_SIZE)
			return -E2BIG;
		r = take_one(&text, wildcards, ret_pattern, position++);
		if (r < 0)
			return r;
	}
	ret_pattern->end = 1ull << position;
	return 0;
}
