// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/raw_tracepoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/*
 * Events of single calls have no tracepoint: perf and ftrace make them of raw_syscalls'. Locks
 * (with lockdep) and preemption are traced also on the way to a raw tracepoint's program, before
 * the kernel sees that it is running already: there would be no end.
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
 * "p:GROUP/EVENT ..." (other letters for other kinds, "r16" and the like). Such an event may have
 * the name of a tracepoint, in another group.
 */
static bool is_among(char *line, const struct event *events, uint32_t n)
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
	size_t room = 0;

	for (uint32_t i = 0; i < n; i++)
		if (category_has_none(events[i].name))
			return false;
	while (dynamic && getline(&line, &room, dynamic) >= 0)
		if (is_among(line, events, n))
			return false;
	return !dynamic || !ferror(dynamic);
}
