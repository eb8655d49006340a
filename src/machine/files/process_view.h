/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live process as /proc shows it: its root directory, its user, its id in its own pid namespace.
 * All is opened below one descriptor of /proc/PID, so a process id that is reused midway gives an
 * error and never the data of another process. Where the first thread of a process has ended and
 * others go on, /proc/PID shows neither memory nor files: then it is /proc/TID of one that runs.
 */
#ifndef STACKTALLY_FILES_PROCESS_VIEW_H
#define STACKTALLY_FILES_PROCESS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct process_view {
	int dir;  /* O_PATH descriptor of /proc/PID; -1: not open */
	int root; /* of its root directory; -1: the process has gone, or we may not */
	/* O_PATH descriptor of /proc/PID where its leader has ended and `dir` is of another of its
	 * threads; else -1. */
	int leader;
	pid_t thread; /* that `dir` is of */
};

#define PROCESS_VIEW_NONE ((struct process_view){ .dir = -1, .root = -1, .leader = -1 })

/* Does not change between fork and exit, but for the user. */
struct process_identity {
	uint64_t start_time; /* clock ticks since boot: tells apart processes with the same id */
	uid_t uid;	     /* effective */
	pid_t innermost;     /* the id in the process's own pid namespace; 0: not known */
};

/*
 * The thread by whose directory in /proc the memory, the root and the files of a process are seen:
 * the first one, unless that has ended.
 */
pid_t process_view_thread(pid_t tgid);

/*
 * An error, with what to do, if the id is that of a thread which is not the first of its process:
 * ids of processes and threads are easily mistaken. 0 for a process, also if it does not exist.
 */
int process_check_id(pid_t id, struct error *err);

/* Opens the view of a live process. 0, -ESRCH, or another negative errno. */
int process_view_open(pid_t tgid, struct process_view *ret_view);
void process_view_close(struct process_view *view);

/* Reads the identity from /proc/PID/status and stat (proc(5)). 0 or a negative errno. */
int process_view_identity(const struct process_view *view, struct process_identity *ret_identity);

#endif
