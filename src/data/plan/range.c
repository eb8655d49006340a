// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/range.h"

#include <string.h>

#define NS_OF_SECOND 1000000000ull
#define SECONDS_MOST 1000000000ull
#define DIGITS	     "0123456789"

/* Digits with at most one point. False: there are none, or they are too many. */
static bool parse_seconds(const char **at, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0, unit = NS_OF_SECOND / 10;
	const char *begin = *at;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		seconds = seconds * 10 + (uint64_t)(**at - '0');
		if (seconds > SECONDS_MOST)
			return false;
	}
	if (**at == '.')
		for ((*at)++; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
			ns += unit * (uint64_t)(**at - '0');
	*ret_ns = seconds * NS_OF_SECOND + ns;
	return *at > begin && strpbrk(begin, DIGITS) == begin + (*begin == '.');
}

const char *plan_range_parse(const char *text, struct plan_range *ret_range)
{
	struct plan_range range = { .given = true, .end_ns = UINT64_MAX };
	const char *at = text;

	if (strcmp(text, "-") == 0 || (*at != '-' && !parse_seconds(&at, &range.begin_ns)))
		return "must be BEGIN-END, in seconds since the begin";
	if (*at != '-' || (*++at && (!parse_seconds(&at, &range.end_ns) || *at)))
		return "must be BEGIN-END, in seconds since the begin";
	if (range.begin_ns >= range.end_ns)
		return "ends before it begins";
	*ret_range = range;
	return NULL;
}

uint64_t plan_range_split(const char *text, struct plan_range *ret_range)
{
	const char *colon = strrchr(text, ':');

	return colon > text && !plan_range_parse(colon + 1, ret_range) ? (uint64_t)(colon - text)
								       : strlen(text);
}
