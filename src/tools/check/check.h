/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktally check: what works on this machine, what is missing, and how to get it.
 */
#ifndef STACKTALLY_CHECK_CHECK_H
#define STACKTALLY_CHECK_CHECK_H

#include <stdbool.h>

/*
 * Tries all and prints it to stdout. Returns the exit code: 0 if all that was tried works, 1 if
 * something does not, 3 if nothing can be measured.
 */
int check(bool json);

#endif
