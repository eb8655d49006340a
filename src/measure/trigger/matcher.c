// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/matcher.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/regexp.h"

/* Longer ones are no names of anything. */
#define PATTERN_MAX 4096

struct matcher {
	bool regexp;
	regex_t regex; /* with regexp */
	char *glob;    /* without */
};

/* "^(pattern)$" would change what back references count; a whole match is asked for instead. */
static int compile(struct matcher *matcher, const char *pattern, struct error *err)
{
	char reason[200];
	int r;

	r = regexp_compile(&matcher->regex, pattern, 0);
	if (r == 0) {
		matcher->regexp = true;
		return 0;
	}
	regerror(r, &matcher->regex, reason, sizeof(reason));
	return error_set(err, -EINVAL, "the regular expression %.200s cannot be used: %s", pattern,
			 reason);
}

int matcher_new(const char *pattern, bool regexp, struct matcher **ret_matcher, struct error *err)
{
	own(own_matcher_free) struct matcher *matcher = NULL;
	int r;

	if (strlen(pattern) > PATTERN_MAX)
		return error_set(err, -EINVAL, "the pattern is longer than %d characters",
				 PATTERN_MAX);
	matcher = calloc(1, sizeof(*matcher));
	if (!matcher)
		return error_set(err, -ENOMEM, "out of memory");
	if (regexp) {
		r = compile(matcher, pattern, err);
		if (r < 0)
			return r;
	} else {
		matcher->glob = strdup(pattern);
		if (!matcher->glob)
			return error_set(err, -ENOMEM, "out of memory");
	}
	*ret_matcher = take_ptr(matcher);
	return 0;
}

/* Linear in practice: on a mismatch only the last `*` is tried again, one character further. */
static bool glob_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			retry = name;
		} else if (*pattern == '?' || (*pattern && *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/*
 * POSIX wants the leftmost match and of those the longest, so the whole name is matched exactly
 * when the match found begins at 0 and ends at its end: any other match that begins at 0 is
 * shorter.
 */
bool matcher_matches(const struct matcher *matcher, const char *name)
{
	regmatch_t match;

	if (!matcher->regexp)
		return glob_matches(matcher->glob, name);
	if (regexec(&matcher->regex, name, 1, &match, 0) != 0)
		return false;
	return match.rm_so == 0 && name[match.rm_eo] == '\0';
}

bool matcher_is_name(const struct matcher *matcher)
{
	return !matcher->regexp && !strpbrk(matcher->glob, "*?");
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	if (matcher->regexp)
		regfree(&matcher->regex);
	free(matcher->glob);
	free(matcher);
}

void matcher_describe(const char *pattern, bool regexp, char *buffer, size_t size)
{
	FILE *out = fmemopen(buffer, size, "w");

	if (!out) {
		snprintf(buffer, size, "%s", pattern);
		return;
	}
	if (regexp) {
		fputs(pattern, out);
	} else {
		fputc('^', out);
		for (const char *at = pattern; *at; at++) {
			if (*at == '*')
				fputs(".*", out);
			else
				fputc(*at == '?' ? '.' : *at, out);
		}
		fputc('$', out);
	}
	fclose(out);
	buffer[size - 1] = '\0';
}
