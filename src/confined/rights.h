/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes rights from this process, for ever. For a child that has one thread, whatever its parent
 * has: by system calls only.
 */
#ifndef STACKTALLY_CONFINED_RIGHTS_H
#define STACKTALLY_CONFINED_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Drops users, groups and capabilities, if this process has any. 0 or a negative errno.
 * *ret_nobody: it cannot open files that only we may read.
 */
int rights_become_nobody(bool *ret_nobody);

/*
 * The same, and leaves no system calls but those that copy files: pread() of any descriptor,
 * pwrite() to `copy` up to `size` bytes, write() to `reply`, exit_group(). 0 or a negative errno.
 */
int rights_keep_copying(int copy, uint64_t size, int reply);

/*
 * For the process that speaks to a server on the network: no users, groups, capabilities and
 * descriptors but `*socket`, which becomes 0; limits of memory, files and descriptors. It may fork.
 * 0 or a negative errno.
 */
int rights_begin_sending(int *socket);
/*
 * Leaves, for one request, no system calls but those of client sockets (IPv4, IPv6, and netlink,
 * which getaddrinfo() asks for addresses), of reading files and descriptors, and of memory.
 */
int rights_keep_sending(void);

#endif
