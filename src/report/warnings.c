// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/warnings.h"

#include <inttypes.h>
#include <stdio.h>

bool warnings_line(const struct profile *profile, int i, char ret_line[WARNINGS_LINE_SIZE])
{
	bool limited = profile->meta && profile->meta->stack_storage;

	/* Without a limit the advice to raise it would be wrong. */
	if (profile->missed_sides && i-- == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: %" PRIu64 " stack traces could not be displayed.%s",
			 profile->missed_sides,
			 limited ? " Consider increasing --stack-storage-size." : "");
		return true;
	}
	if (profile->losses->counts_full && i == 0) {
		snprintf(ret_line, WARNINGS_LINE_SIZE,
			 "WARNING: hash table full. Consider increasing --hash-storage-size.");
		return true;
	}
	return false;
}
