/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --keep keeps: recordings of the last intervals, in files of a file system in memory. Each
 * process that keeps has a directory of its own, COMMAND.PID, which only its user and root can
 * enter. So `stacktally last` needs no server: it reads files, and what a process kept is there
 * even if the process was killed.
 */
#ifndef STACKTALLY_RUN_KEPT_H
#define STACKTALLY_RUN_KEPT_H

#include <stdint.h>

#include "base/error.h"

#define KEPT_ROOT    "/run/stacktally"	       /* or what RUNTIME_DIRECTORY says */
#define KEPT_SERVICE "/run/stacktally-profile" /* of the service */
#define KEPT_BYTES   (64ull << 20)	       /* of a process */
#define KEPT_FILES   4096u

/* A recording, by its name: when it ended, ns since 1970. */
struct kept_file {
	uint64_t ended_ns, bytes;
};

struct kept_files {
	struct kept_file *list; /* ascending */
	uint32_t n, capacity;
};

/* The recordings in a directory. 0 or a negative errno; kept_files_clear() is due in both cases. */
int kept_files_read(int directory, struct kept_files *ret_files);
void kept_files_clear(struct kept_files *files);

/* The name of a recording in its directory. Returns `name`. */
#define KEPT_NAME_SIZE 48
const char *kept_file_name(uint64_t ended_ns, char name[static KEPT_NAME_SIZE]);

/*
 * Opens a directory of our own below the root, which is made if it is missing and must not be
 * another user's. 0 or a negative errno with `err` set. *ret_path is allocated.
 */
int kept_open(const char *command, int *ret_directory, char **ret_path, struct error *err);

/* Removes recordings that ended before `since_ns`, and the oldest beyond KEPT_BYTES. */
void kept_prune(int directory, uint64_t since_ns);
/* Removes what processes left that are gone and that ended before `since_ns`. */
void kept_prune_left(uint64_t since_ns);
/* Removes the directory with all that is in it. */
void kept_remove(int directory, const char *path);

#endif
