/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes rights from the calling thread, for ever: from a child that has no other threads, or from
 * the thread of the live page. By system calls only, as libc's functions change all threads.
 */
#ifndef STACKTALLY_CONFINED_RIGHTS_H
#define STACKTALLY_CONFINED_RIGHTS_H

#include <stdint.h>

/*
 * A measurement runs before other programs (nice -10), and its children read what these wrote, or
 * send what it counted: they run at the ordinary priority, nice 0, if ours is a higher one.
 */
void rights_drop_priority(void);

/*
 * Drops users, groups and capabilities, and leaves no system calls but those that copy files:
 * pread() of any descriptor, pwrite() to `copy` up to `size` bytes, write() to `reply`,
 * exit_group(). 0 or a negative errno.
 */
int rights_keep_copying(int copy, uint64_t size, int reply);

/*
 * Drops this thread's capabilities and leaves no system calls but those that serve sockets which
 * are open already: accepting, receiving, sending, waiting, memory, reading and writing `wake`. The
 * thread keeps its user and the memory of the process. 0 or a negative errno.
 */
int rights_keep_serving(int wake);

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
