// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/compared.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/message.h"

#define LINE_SIZE 700

/* Recordings have a command; text of other programs does not tell what it is of. */
static bool is_known(const struct profile_meta *meta)
{
	return meta->command != NULL;
}

static bool same(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Processes have other ids when they have been started again. */
static bool same_scope(const char *now, const char *base)
{
	return same(now, base) || (now && base && (now[0] == 'P' || now[0] == 'T') &&
				   strncmp(now, base, strlen("PID")) == 0);
}

static void add(char line[static LINE_SIZE], const char *what, const char *base, const char *now)
{
	size_t used = strlen(line);

	snprintf(line + used, LINE_SIZE - used, "%s%s %s there, %s here", used ? "; " : "", what,
		 base ? base : "not known", now ? now : "not known");
}

static const char *stacks(const struct profile_meta *meta)
{
	return meta->user && meta->kernel ? "user + kernel" : meta->user ? "user" : "kernel";
}

static void warn(const struct compared *compared)
{
	const struct profile_meta *now = compared->now, *base = compared->base;
	char line[LINE_SIZE] = "";

	if (!same(now->event, base->event))
		add(line, "the event is", base->event, now->event);
	if (!same_scope(now->scope, base->scope))
		add(line, "the scope is", base->scope, now->scope);
	if (!same(now->filter, base->filter))
		add(line, "the filter is", base->filter ? base->filter : "none",
		    now->filter ? now->filter : "none");
	if (now->has.idle != base->has.idle)
		add(line, "idle CPUs are", base->has.idle ? "counted" : "left out",
		    now->has.idle ? "counted" : "left out");
	if (now->user != base->user || now->kernel != base->kernel)
		add(line, "the stacks are", stacks(base), stacks(now));
	if (*line)
		message_line("WARNING: compared with %s, which is of something else: %s",
			     compared->path, line);
}

static const char *kind(const struct profile_meta *meta)
{
	return meta->wall				  ? "measures time on and off the CPU"
	       : meta->timed				  ? "measures time off the CPU"
	       : strcmp(meta->command, "stackcount") == 0 ? "counts events"
							  : "samples CPUs";
}

int compared_check(const struct compared *compared, enum scale_how how, struct error *err)
{
	const struct profile_meta *now = compared->now, *base = compared->base;
	bool known = is_known(now) && is_known(base);

	if (known && !same(kind(now), kind(base)))
		return error_set(err, -EINVAL,
				 "cannot compare with %s: it %s (%s), and this measurement %s (%s)",
				 compared->path, kind(base), base->event ? base->event : "?",
				 kind(now), now->event ? now->event : "?");
	if (known)
		warn(compared);
	if (how == SCALE_RATES && !scale_has_rates(now, base))
		message_note(
			base->duration_ns && now->duration_ns
				? "%s does not have samples of the same kind: shares are compared"
				: "%s does not hold how long it took: shares are compared",
			compared->path);
	return 0;
}
