// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/pprof_prune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/regexp.h"

#define PATTERN_MAX 4096 /* bytes of an expression */

/*
 * Writes Go's expression as a POSIX one that has to match everything: groups without a number are
 * groups, \d are digits. Laziness makes no difference then. False: something else that POSIX reads
 * otherwise or not at all, or that takes much memory (counted repetitions).
 */
static bool translate(struct pprof_span from, char *to)
{
	const char *at = from.at, *end = from.at + from.size;

	*to++ = '^';
	*to++ = '(';
	while (at < end) {
		char next = at + 1 < end ? at[1] : '\0';

		if (*at == '{' || *at == '\0')
			return false;
		if (*at == '(' && next == '?') {
			if (end - at < 3 || at[2] != ':')
				return false;
			*to++ = '(';
			at += 3;
		} else if (*at == '\\' && next == 'd') {
			memcpy(to, "[0-9]", 5);
			to += 5;
			at += 2;
		} else if (*at == '\\') {
			if (!next ||
			    (strchr("wWsSbB", next) == NULL &&
			     ((next | 0x20) >= 'a' && (next | 0x20) <= 'z')) ||
			    (next >= '0' && next <= '9'))
				return false;
			*to++ = *at++;
			*to++ = *at++;
		} else {
			*to++ = *at++;
		}
	}
	*to++ = ')';
	*to++ = '$';
	*to = '\0';
	return true;
}

static int compile(const struct pprof_file *file, uint64_t string, const char *field,
		   regex_t *expression, bool *ret_given, struct error *err)
{
	struct pprof_span text = pprof_file_string(file, string);
	own(own_free) char *pattern = NULL;

	if (text.size == 0)
		return 0;
	/* \d takes five bytes in place of two. */
	pattern = text.size > PATTERN_MAX ? NULL : malloc(3 * text.size + 8);
	if (!pattern && text.size <= PATTERN_MAX)
		return error_set(err, -ENOMEM, "out of memory");
	if (!pattern || !translate(text, pattern) ||
	    regexp_compile(expression, pattern, REG_NOSUB) != 0)
		return error_set(err, -EINVAL,
				 "it wants frames left out by an expression that is not "
				 "understood: its %s is %.*s",
				 field, (int)(text.size < 100 ? text.size : 100), text.at);
	*ret_given = true;
	return 0;
}

int pprof_prune_start(struct pprof_prune *prune, const struct pprof_file *file, struct error *err)
{
	int r;

	*prune = (struct pprof_prune){ 0 };
	r = compile(file, file->drop_frames, "drop_frames", &prune->drop, &prune->drops, err);
	if (r == 0 && prune->drops)
		r = compile(file, file->keep_frames, "keep_frames", &prune->keep, &prune->keeps,
			    err);
	return r;
}

void pprof_prune_clear(struct pprof_prune *prune)
{
	if (prune->drops)
		regfree(&prune->drop);
	if (prune->keeps)
		regfree(&prune->keep);
	*prune = (struct pprof_prune){ 0 };
}

/* The length of a name without its arguments, which are not those of a reserved name. */
static size_t bare_size(const char *name)
{
	static const char *const reserved[] = { "(anonymous namespace)", "operator()" };
	const char *at = name;

	while (*at) {
		size_t skip = 0;

		for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
			if (strncmp(at, reserved[i], strlen(reserved[i])) == 0)
				skip = strlen(reserved[i]);
		if (!skip && *at == '(')
			break;
		at += skip ? skip : 1;
	}
	return (size_t)(at - name);
}

bool pprof_prune_matches(const struct pprof_prune *prune, const char *name)
{
	own(own_free) char *bare = NULL;

	if (!prune->drops || !name || !*name)
		return false;
	name += *name == '.';
	bare = strndup(name, bare_size(name));
	return bare && regexec(&prune->drop, bare, 0, NULL, 0) == 0 &&
	       !(prune->keeps && regexec(&prune->keep, bare, 0, NULL, 0) == 0);
}
