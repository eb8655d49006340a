// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/raw_tracepoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/*
 * Categories without raw tracepoints. Events of single system calls are made from those of
 * raw_syscalls by perf and ftrace. Events of locks (with lockdep) and of preemption also fire on
 * the way to a raw tracepoint's program, before the kernel checks whether it is running already:
 * the recursion would have no end.
 */
static const char *const WITHOUT[] = { "syscalls:", "lock:", "preemptirq:" };

static bool category_has_none(const char *name)
{
	for (size_t i = 0; i < sizeof(WITHOUT) / sizeof(WITHOUT[0]); i++)
		if (strncmp(name, WITHOUT[i], strlen(WITHOUT[i])) == 0)
			return true;
	return false;
}

static int compare_name(const void *name, const void *event)
{
	return strcmp(name, ((const struct event *)event)->name);
}

/*
 * Whether a line of dynamic_events defines one of the events: "p:GROUP/EVENT ...", with other
 * letters, or "r16" and the like, for other kinds.
 */
static bool defines_one(char *line, const struct event *events, uint32_t n)
{
	char *name = strchr(line, ':'), *slash;

	if (!name)
		return false;
	name++;
	name[strcspn(name, " \t\n;")] = '\0';
	slash = strchr(name, '/');
	if (!slash)
		return false;
	*slash = ':';
	return bsearch(name, events, n, sizeof(*events), compare_name);
}

bool raw_tracepoints_serve(const struct event *events, uint32_t n, FILE *dynamic)
{
	own(own_free) char *line = NULL;
	size_t capacity = 0;

	for (uint32_t i = 0; i < n; i++)
		if (category_has_none(events[i].name))
			return false;
	while (dynamic && getline(&line, &capacity, dynamic) >= 0)
		if (defines_one(line, events, n))
			return false;
	return !dynamic || !ferror(dynamic);
}
