// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/delays.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cli/message.h"

/* A delay from here on is told; a part of it, if it is no less than this. */
#define TOLD_NS	     NS_PER_SECOND
#define TOLD_PART_NS (100 * NS_PER_MS)

#define PARTS_SIZE 200

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

static double cpu_seconds(int who)
{
	struct rusage used;

	if (getrusage(who, &used) < 0)
		return 0;
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void delays_tell_begin(uint64_t began)
{
	uint64_t late = monotonic_ns() - began;

	if (late >= TOLD_NS)
		message_note("began %.1f s late: until then, it has had %.2f s of the CPUs",
			     seconds(late), cpu_seconds(RUSAGE_SELF));
}

static void put_part(char text[static PARTS_SIZE], size_t *used, uint64_t from, uint64_t to,
		     const char *what)
{
	if (to >= from + TOLD_PART_NS && *used < PARTS_SIZE)
		*used += (size_t)snprintf(text + *used, PARTS_SIZE - *used, "%s%.1f s %s",
					  *used ? ", " : "", seconds(to - from), what);
}

void delays_tell_end(const struct delays *delays)
{
	uint64_t now = monotonic_ns();
	char parts[PARTS_SIZE] = "", helpers[60] = "";
	size_t used = 0;

	if (!delays->written || now - delays->due < TOLD_NS)
		return;
	put_part(parts, &used, delays->due, delays->stopped, "until counting stopped");
	put_part(parts, &used, delays->stopped, delays->counted, "for the last counts");
	put_part(parts, &used, delays->counted, delays->named, "for names");
	put_part(parts, &used, delays->named, delays->written, "for the report");
	put_part(parts, &used, 0, delays->awaited_ns, "for the command to end");
	put_part(parts, &used, delays->written + delays->awaited_ns, now, "to detach and clean up");
	if (!delays->launched)
		snprintf(helpers, sizeof(helpers), ", its readers of files %.2f s",
			 cpu_seconds(RUSAGE_CHILDREN));
	message_note("ended %.1f s late: %s; in all, it has had %.2f s of the CPUs%s",
		     seconds(now - delays->due), parts, cpu_seconds(RUSAGE_SELF), helpers);
}
