/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes are called, where their threads are called otherwise. */
#ifndef STACKTALLY_RUN_PROCESS_NAMES_H
#define STACKTALLY_RUN_PROCESS_NAMES_H

#include "tally/names.h"
#include "tally/tally.h"

/*
 * Gives `names` the comm of each process that runs now and of which the tally has a thread with
 * another comm; of a process that has ended, none. 0 or -ENOMEM.
 */
int process_names_add(const struct tally *tally, struct names *names);

/* How many threads have a comm that matches the shell wildcard now. */
uint32_t process_names_count(const char *wildcard);

#endif
