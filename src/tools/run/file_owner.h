/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose the files are that a run writes: those of sudo belong to the user who typed it, in all
 * formats, and who can then read and remove them.
 */
#ifndef STACKTALLY_RUN_FILE_OWNER_H
#define STACKTALLY_RUN_FILE_OWNER_H

#include <sys/types.h>

/* The user of SUDO_UID if we are root, else ourselves. */
uid_t file_owner(void);

/*
 * Gives a file that this run has made to that user and the group of SUDO_GID. Where the file system
 * refuses that, it stays root's.
 */
void file_owner_give(int fd);

#endif
