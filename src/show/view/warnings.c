// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/warnings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "view/quantity.h"

/* What the warnings are about. */
struct facts {
	const struct profile_meta *meta; /* may be NULL */
	const struct tally_losses *losses;
	uint64_t missed_sides;
};

/* Bytes of all causes with their numbers and advice, and of the end of the text. */
#define CAUSES_SIZE 256

/* Appends a cause and how many samples it cost. */
static void put_cause(char text[static CAUSES_SIZE], size_t *used, uint64_t n, const char *cause,
		      const char *advice)
{
	if (n && *used < CAUSES_SIZE)
		*used += (size_t)snprintf(text + *used, CAUSES_SIZE - *used, "%s%s (%" PRIu64 ")%s",
					  *used ? "; " : "", cause, n, advice);
}

/* Writes a line; returns true. */
__attribute__((format(printf, 2, 3))) static bool put(char line[static WARNINGS_LINE_SIZE],
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, WARNINGS_LINE_SIZE, format, arguments);
	va_end(arguments);
	return true;
}

/* ---- the warnings: each writes its line and returns true, if there is a reason for it ---- */

static bool put_missed_sides(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	/* Without a limit the advice to raise it would be wrong. */
	return facts->missed_sides &&
	       put(line, "WARNING: %" PRIu64 " stack traces could not be displayed.%s",
		   facts->missed_sides,
		   facts->meta && facts->meta->stack_storage
			   ? " Consider increasing --stack-storage-size."
			   : "");
}

static bool put_never_came(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	const struct tally_losses *losses = facts->losses;
	uint64_t n = tally_never_came(losses), all = losses->due > n ? losses->due : n;
	char causes[CAUSES_SIZE] = "";
	size_t used = 0;

	if (!n)
		return false;
	put_cause(causes, &used, losses->due_throttled, "the kernel throttled the event",
		  ": sample less often with -F");
	put_cause(causes, &used, losses->due_stolen, "the host had taken the CPU", "");
	put_cause(causes, &used, losses->due_late, "the CPUs took no interrupt in time",
		  losses->due_late > all / 10 ? ": sample less often with -F" : "");
	return put(line,
		   "%s%" PRIu64 " of %" PRIu64
		   " samples that were due, of any process, never came (%.2g %%): %s",
		   n > all / 100 + 10 ? "WARNING: " : "", n, all, 100 * (double)n / (double)all,
		   causes);
}

static bool put_unseen(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->unseen &&
	       put(line,
		   "WARNING: %" PRIu64 " events, of any process, were not seen: another BPF "
		   "program ran on their CPU",
		   facts->losses->unseen);
}

static bool put_unsampled(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->unsampled &&
	       put(line,
		   "WARNING: CPUs that came online were not sampled at once: %.3f s are "
		   "missing at most",
		   (double)facts->losses->unsampled / 1e9);
}

static bool put_failed(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->failed &&
	       put(line,
		   "%" PRIu64 " events have a value below 0, which is an error if a function "
		   "returns it: they count as events and are in no sum",
		   facts->losses->failed);
}

static bool put_unread(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->unread &&
	       put(line,
		   "WARNING: the value of %" PRIu64 " events could not be read: they are in "
		   "no sum and meet no condition",
		   facts->losses->unread);
}

static bool put_saturated(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->saturated &&
	       put(line,
		   "WARNING: the sum is larger than %" PRIu64 ", the largest number there "
		   "is, and shown as that",
		   UINT64_MAX);
}

static bool put_lost_time(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->lost_time &&
	       put(line, "WARNING: %.6f s off the CPU are missing, because their stacks were lost",
		   (double)facts->losses->lost_time / 1e9);
}

static bool put_lost_threads(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->lost_threads &&
	       put(line,
		   "WARNING: %" PRIu64 " times a thread left its CPU and was not followed, "
		   "because there were too many threads",
		   facts->losses->lost_threads);
}

static bool put_lost_calls(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->lost_calls &&
	       put(line,
		   "WARNING: %" PRIu64 " calls are missing, because there were too many "
		   "threads",
		   facts->losses->lost_calls);
}

static bool put_lost_blocks(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->lost_blocks &&
	       put(line,
		   "WARNING: %" PRIu64 " blocks of %" PRIu64 " bytes in all are missing, "
		   "freed or not: there were too many, or their stacks were lost",
		   facts->losses->lost_blocks, facts->losses->lost_bytes);
}

static bool put_lost_values(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->lost_values &&
	       put(line,
		   "WARNING: the values of %" PRIu64
		   " %s are missing, because their stacks were lost",
		   facts->losses->lost_values,
		   facts->meta ? quantity_events(facts->meta) : "events");
}

static bool put_memory_full(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->memory_full &&
	       put(line, "WARNING: memory for stacks full. Consider increasing --memory.");
}

static bool put_counts_full(const struct facts *facts, char line[static WARNINGS_LINE_SIZE])
{
	return facts->losses->counts_full &&
	       put(line, "WARNING: hash table full. Consider increasing --hash-storage-size.");
}

/* In the order in which they are printed. */
static bool (*const warnings[])(const struct facts *, char *) = {
	put_missed_sides, put_unseen,	   put_never_came,  put_unsampled,    put_failed,
	put_unread,	  put_saturated,   put_lost_time,   put_lost_threads, put_lost_calls,
	put_lost_blocks,  put_lost_values, put_memory_full, put_counts_full,
};

bool warnings_line(const struct profile_meta *meta, const struct tally_losses *losses,
		   uint64_t missed_sides, int i, char ret_line[WARNINGS_LINE_SIZE])
{
	const struct facts facts = {
		.meta = meta,
		.losses = losses,
		.missed_sides = missed_sides,
	};

	for (size_t at = 0; at < sizeof(warnings) / sizeof(warnings[0]); at++)
		if (warnings[at](&facts, ret_line) && i-- == 0)
			return true;
	return false;
}
