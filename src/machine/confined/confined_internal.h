/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two ends of a call share: confined.c is ours, confined_child.c the child's, and
 * confined_rights.c takes the child's rights away.
 */
#ifndef STACKTALLY_CONFINED_CONFINED_INTERNAL_H
#define STACKTALLY_CONFINED_CONFINED_INTERNAL_H

#include "confined/confined.h"

/* A call, with its descriptors; the bytes of the request follow. */
struct confined_message {
	confined_work *work;
	uint64_t size;
	uint32_t n_fds;
};

/*
 * A piece of an answer, which follows. A piece without bytes ends the answer with the result. Both
 * ends are copies of one process, so numbers need no fixed byte order.
 */
/* The exit status of a child that could not give up its rights: this and the errno. */
#define CONFINED_EXIT_RIGHTS 128

struct confined_piece {
	uint32_t size;
	int32_t result;
};

#define CONFINED_PIECE_SIZE 65536

/* Answers the calls that come over the socket, in a process that has no rights. Never returns. */
_Noreturn void confined_serve(int socket, const struct confined_limits *limits);

/*
 * Takes all rights from this process but those that answering calls over `socket` takes. Returns
 * the socket's new number, or a negative errno.
 */
int confined_drop_rights(int socket, const struct confined_limits *limits);

#endif
