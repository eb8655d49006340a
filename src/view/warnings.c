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
	if (losses->counts_full && i == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: hash table full. Consider increasing --hash-storage-size.");
		return true;
	}
	return false;
}
