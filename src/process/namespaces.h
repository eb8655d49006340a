/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's own view of the machine: its root directory, its ids, its user. Everything is
 * opened below a descriptor of /proc/PID, so a process id that is given to another process
 * midway is noticed, and paths are resolved inside the process's root, so that no link leads
 * out of it.
 *
 * Distinct roots are kept open (a bounded number), for files that are wanted after the process
 * has ended. Must not know: mappings, identities of files.
 */
#ifndef STACKTALLY_PROCESS_NAMESPACES_H
#define STACKTALLY_PROCESS_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define ROOT_OWN     0u		/* the root we have ourselves */
#define ROOT_UNKNOWN UINT32_MAX /* not looked at, or more roots than can be kept */

/* A process while it is looked at; closed by view_close(). */
struct process_view {
	int dir;  /* /proc/PID, or -1 when the process is gone */
	int root; /* its root directory, or -1: not permitted, or gone */
};

#define PROCESS_VIEW_NONE ((struct process_view){ .dir = -1, .root = -1 })

/* What stays true of a process between its first sight and its end, mostly. */
struct process_identity {
	uint64_t start_time; /* ticks since boot: tells users of one process id apart */
	uid_t uid;	     /* effective */
	pid_t innermost;     /* its id in its own pid namespace */
};

struct answering;
struct roots;

/* `answering` is borrowed. */
int roots_new(struct answering *answering, struct roots **ret_roots);
void roots_free(struct roots *roots);

/* The view of a live process. 0, -ESRCH, or another negative errno. */
int view_open(pid_t tgid, struct process_view *ret_view);
void view_close(struct process_view *view);
int view_identity(const struct process_view *view, struct process_identity *ret_identity);

/* The kept root that is the root of this process, kept from now on if it is new and fits. */
uint32_t roots_learn(struct roots *roots, const struct process_view *view);
/*
 * Nothing on the way of a path in it can stop answering, as far as was known some seconds ago. The
 * path has no links in it, as the kernel's names of mappings have none.
 */
bool roots_path_is_local(const struct roots *roots, uint32_t root, const char *path);
/* A borrowed descriptor of a kept root and of the /tmp in it, or -1. */
int roots_directory(const struct roots *roots, uint32_t root);
int roots_tmp(const struct roots *roots, uint32_t root);

/*
 * An O_PATH descriptor of a path inside a root. With `follow` links are followed as that root has
 * them; without, no link is. Waits as long as what it leads through; answering_place() does not.
 */
int place_in_root(int root, const char *path, bool follow);
/* As fstat(), but of what the kernel remembers: file systems are not asked, if they honour that. */
int stat_remembered(int path_fd, struct stat *ret_status);
/*
 * The regular file that an O_PATH descriptor stands for, which is closed in any case: FIFOs and
 * devices are not opened at all. A descriptor for reading and its status, or a negative errno
 * (-EINVAL: not a regular file).
 */
int open_regular(int path_fd, struct stat *ret_status);

#endif
