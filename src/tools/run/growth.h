/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fail-if-more: functions that grew since the base of a difference.
 */
#ifndef STACKTALLY_RUN_GROWTH_H
#define STACKTALLY_RUN_GROWTH_H

#include <stdbool.h>

#include "report/report.h"

/*
 * Prints on stderr the functions of a report with a base whose self or total grew by more than
 * `percent` of all counts of the base, scaled. 0 or a negative errno.
 */
int growth_tell(const struct report *report, double percent, bool *ret_grew);

#endif
