/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes rights from this process, for ever. For a child that has one thread, whatever its parent
 * has: by system calls only.
 */
#ifndef STACKTALLY_CONFINED_RIGHTS_H
#define STACKTALLY_CONFINED_RIGHTS_H

#include <stdint.h>

/*
 * Drops users, groups and capabilities, and leaves no system calls but those that copy files:
 * pread() of any descriptor, pwrite() to `copy` up to `size` bytes, write() to `reply`,
 * exit_group(). 0 or a negative errno.
 */
int rights_keep_copying(int copy, uint64_t size, int reply);

#endif
