// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/warnings.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/quantity.h"

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

static void put_never_came(const struct tally_losses *losses, char line[static WARNINGS_LINE_SIZE])
{
	uint64_t n = tally_never_came(losses), all = losses->due > n ? losses->due : n;
	char causes[CAUSES_SIZE] = "";
	size_t used = 0;

	put_cause(causes, &used, losses->due_throttled, "the kernel throttled the event",
		  ": sample less often with -F");
	put_cause(causes, &used, losses->due_stolen, "the host had taken the CPU", "");
	put_cause(causes, &used, losses->due_late, "the CPUs took no interrupt in time",
		  losses->due_late > all / 10 ? ": sample less often with -F" : "");
	snprintf(line, WARNINGS_LINE_SIZE,
		 "%s%" PRIu64 " of %" PRIu64
		 " samples that were due, of any process, never came (%.2g %%): %s",
		 n > all / 100 + 10 ? "WARNING: " : "", n, all, 100 * (double)n / (double)all,
		 causes);
}

bool warnings_line(const struct profile_meta *meta, const struct tally_losses *losses,
		   uint64_t missed_sides, int i, char ret_line[WARNINGS_LINE_SIZE])
{
	bool limited = meta && meta->stack_storage;

	/* Without a limit the advice to raise it would be wrong. */
	if (missed_sides && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " stack traces could not be displayed.%s",
			 missed_sides, limited ? " Consider increasing --stack-storage-size." : "");
		return true;
	}
	if (losses->unseen && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " events, of any process, were not seen: another BPF "
			 "program ran on their CPU",
			 losses->unseen);
		return true;
	}
	if (tally_never_came(losses) && i-- == 0) {
		put_never_came(losses, ret_line);
		return true;
	}
	if (losses->unsampled && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: CPUs that came online were not sampled at once: %.3f s are "
			 "missing at most",
			 (double)losses->unsampled / 1e9);
		return true;
	}
	if (losses->failed && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "%" PRIu64 " events have a value below 0, which is an error if a function "
			 "returns it: they count as events and are in no sum",
			 losses->failed);
		return true;
	}
	if (losses->unread && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: the value of %" PRIu64 " events could not be read: they are in "
			 "no sum and meet no condition",
			 losses->unread);
		return true;
	}
	if (losses->saturated && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: the sum is larger than %" PRIu64 ", the largest number there "
			 "is, and shown as that",
			 UINT64_MAX);
		return true;
	}
	if (losses->lost_time && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %.6f s off the CPU are missing, because their stacks were lost",
			 (double)losses->lost_time / 1e9);
		return true;
	}
	if (losses->lost_threads && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " times a thread left its CPU and was not followed, "
			 "because there were too many threads",
			 losses->lost_threads);
		return true;
	}
	if (losses->lost_calls && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " calls are missing, because there were too many "
			 "threads",
			 losses->lost_calls);
		return true;
	}
	if (losses->lost_blocks && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " blocks of %" PRIu64 " bytes in all are missing, "
			 "freed or not: there were too many, or their stacks were lost",
			 losses->lost_blocks, losses->lost_bytes);
		return true;
	}
	if (losses->lost_values && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: the values of %" PRIu64 " %s are missing, because their "
			 "stacks were lost",
			 losses->lost_values, meta ? quantity_events(meta) : "events");
		return true;
	}
	if (losses->memory_full && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: memory for stacks full. Consider increasing --memory.");
		return true;
	}
	if (losses->counts_full && i == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: hash table full. Consider increasing --hash-storage-size.");
		return true;
	}
	return false;
}
