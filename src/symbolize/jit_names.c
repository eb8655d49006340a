// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/jit_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EITHER	   "[jit: "
#define MAX_EITHER 200 /* bytes of each of two names */

enum jit_when jit_names_when(const struct jit_window *window, uint64_t at, uint64_t time)
{
	/* Runtimes buffer records, and some have another clock: a time tells only if it fits. */
	if (time && time >= window->from_ns && time <= window->until_ns)
		return JIT_DURING_IMAGE;
	if (at < window->from)
		return JIT_BEFORE_IMAGE;
	return at < window->until ? JIT_DURING_IMAGE : JIT_AFTER_IMAGE;
}

bool jit_names_wants(const struct symbol_query *query, enum jit_when when)
{
	return when != JIT_AFTER_IMAGE || !query->name || query->is_late;
}

void jit_names_give(struct symbol_query *query, enum jit_when when, uint64_t start,
		    const char *name)
{
	bool is_late = when == JIT_AFTER_IMAGE;

	if (query->is_late && !is_late)
		query->other = NULL;
	else if (when != JIT_BEFORE_IMAGE && query->name && strcmp(query->name, name) != 0 &&
		 (!query->other || strcmp(query->other, name) == 0))
		query->other = query->name;
	query->is_late = is_late;
	query->start = start;
	query->name = name;
}

int jit_names_end(struct symbol_query *queries, size_t n, struct pool *pool)
{
	const char *name = NULL, *other = NULL, *either = NULL;

	for (size_t i = 0; i < n; i++) {
		char text[2 * MAX_EITHER + 32];

		if (!queries[i].other)
			continue;
		if (queries[i].name != name || queries[i].other != other) {
			name = queries[i].name;
			other = queries[i].other;
			snprintf(text, sizeof(text), EITHER "%.*s or %.*s]", MAX_EITHER, other,
				 MAX_EITHER, name);
			either = pool_string(pool, text);
			if (!either)
				return -ENOMEM;
		}
		queries[i].name = either;
	}
	return 0;
}

bool jit_names_is_either(const char *name)
{
	return name && strncmp(name, EITHER, strlen(EITHER)) == 0;
}
