/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a measurement whose report cannot be written, on a full disk for example: it cannot be
 * made again.
 */
#ifndef STACKTALLY_RUN_RESCUE_H
#define STACKTALLY_RUN_RESCUE_H

#include "report/report.h"

/*
 * Saves a recording, readable by the user only, in the first of TMPDIR, /var/tmp, /tmp and the
 * working directory that takes it, and says on stderr where, or that none did.
 */
void rescue(const struct measurement *measurement);

#endif
