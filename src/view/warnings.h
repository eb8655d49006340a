/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report could not show, in bcc's words if it has some. The commands print it after the
 * report.
 */
#ifndef STACKTALLY_VIEW_WARNINGS_H
#define STACKTALLY_VIEW_WARNINGS_H

#include <stdbool.h>

#include "view/profile.h"

#define WARNINGS_LINE_SIZE 160

/* The i-th line, from 0, without newline; false when there are no more. */
bool warnings_line(const struct profile_meta *meta, const struct tally_losses *losses,
		   uint64_t missed_sides, int i, char ret_line[WARNINGS_LINE_SIZE]);

#endif
