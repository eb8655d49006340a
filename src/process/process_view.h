/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live process as /proc shows it: its root directory, its user, its id in its own pid namespace.
 * All is opened below one descriptor of /proc/PID, so a process id that is reused midway gives an
 * error and never the data of another process.
 */
#ifndef STACKTALLY_PROCESS_PROCESS_VIEW_H
#define STACKTALLY_PROCESS_PROCESS_VIEW_H

#include <stdint.h>
#include <sys/types.h>

struct process_view {
	int dir;  /* O_PATH descriptor of /proc/PID; -1: not open */
	int root; /* of its root directory; -1: the process has gone, or we may not */
};

#define PROCESS_VIEW_NONE ((struct process_view){ .dir = -1, .root = -1 })

/* Does not change between fork and exit, but for the user. */
struct process_identity {
	uint64_t start_time; /* clock ticks since boot: tells apart processes with the same id */
	uid_t uid;	     /* effective */
	pid_t innermost;     /* the id in the process's own pid namespace; 0: not known */
};

/* Opens the view of a live process. 0, -ESRCH, or another negative errno. */
int process_view_open(pid_t tgid, struct process_view *ret_view);
void process_view_close(struct process_view *view);

/* Reads the identity from /proc/PID/status and stat (proc(5)). 0 or a negative errno. */
int process_view_identity(const struct process_view *view, struct process_identity *ret_identity);

#endif
