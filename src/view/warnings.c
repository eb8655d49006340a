// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/warnings.h"

#include <inttypes.h>
#include <stdio.h>

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
	if (losses->unsampled && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: CPUs that came online were not sampled at once: %.3f s are "
			 "missing at most",
			 (double)losses->unsampled / 1e9);
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
