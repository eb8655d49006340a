// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/regexp.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Groups within groups. */
#define DEPTH_MAX 100u

/* The end of a bracket expression that begins here; of a broken one, the end of the text. */
static const char *bracket_end(const char *at)
{
	at++;
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		/* [:alpha:], [.-.], [=a=] */
		const char closing[] = { at[1], ']', '\0' };
		const char *end = *at == '[' && at[1] && strchr(":.=", at[1])
					  ? strstr(at + 2, closing)
					  : NULL;

		at = end ? end + 2 : at + 1;
	}
	return *at ? at + 1 : at;
}

/* How often `{N}`, `{N,}` or `{N,M}` repeats what is before it: at least once. */
static uint64_t repeats(const char *at)
{
	char *end;
	uint64_t least = strtoul(at + 1, &end, 10);
	uint64_t most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;

	most = most > least ? most : least;
	return most > 1 ? most : 1;
}

static bool is_too_large(const char *text)
{
	uint64_t outer[DEPTH_MAX], size = 0, last = 0, limit = strlen(text) + REGEXP_REPEATED_MAX;
	uint32_t depth = 0;

	while (*text && size <= limit) {
		const char *next = text + 1;

		if (*text == '(' && depth == DEPTH_MAX)
			return true;
		if (*text == '(') {
			outer[depth++] = size;
			size = last = 0;
		} else if (*text == ')' && depth > 0) {
			last = size + 1;
			size = outer[--depth] + last;
		} else if (*text == '{') {
			uint64_t times = repeats(text);

			if (times > limit)
				return true;
			size += last * (times - 1);
			last *= times;
			next = strchr(text, '}') ? strchr(text, '}') + 1 : next;
		} else {
			if (*text == '[')
				next = bracket_end(text);
			else if (*text == '\\' && text[1])
				next = text + 2;
			last = *text && strchr("*+?", *text) ? last : 1;
			size++;
		}
		text = next;
	}
	return size > limit;
}

int regexp_compile(regex_t *ret_regex, const char *text, int flags)
{
	if (is_too_large(text))
		return REG_ESPACE;
	return regcomp(ret_regex, text, REG_EXTENDED | flags);
}
