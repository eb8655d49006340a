/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `stacktally last`: what a process with --keep has kept of the last minutes, as one recording. */
#ifndef STACKTALLY_RUN_LAST_H
#define STACKTALLY_RUN_LAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct last {
	int fd;		   /* of the recording, in memory */
	bool of_events;	   /* it is of stackcount */
	uint64_t begin_ns; /* what was asked for begins there, ns since the recording's begin */
	uint64_t ago_ns;   /* it ends so long ago */
	char from[300];	   /* the directory that it was kept in */
	uint32_t others;   /* processes that keep, besides */
};

/*
 * The last `ns`. `name` says of which process, as COMMAND.PID or PID; NULL: the one that kept
 * something last. 0 or a negative errno with `err` set; else the caller closes ret_last->fd.
 */
int last_load(uint64_t ns, const char *name, struct last *ret_last, struct error *err);

#endif
