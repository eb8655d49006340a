/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `stacktally probe ready|alive`: what a measurement beside this process says of itself. */
#ifndef STACKTALLY_RUN_PROBE_H
#define STACKTALLY_RUN_PROBE_H

#include "base/error.h"

/*
 * Asks the file that STACKTALLY_STATE_FILE names. "ready": a measurement runs, and gave a sign of
 * life in the last three minutes; "alive": the same, but it may also start or end. 0; or a negative
 * errno with `err` set: it is not.
 */
int probe(const char *what, struct error *err);

#endif
