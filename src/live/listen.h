/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From "ADDRESS:PORT" to a listening socket. */
#ifndef STACKTALLY_LIVE_LISTEN_H
#define STACKTALLY_LIVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define LISTEN_WHERE_SIZE 64

/*
 * Listens where server_open() says. `ret_where` receives "127.0.0.1:4711" as a URL has it.
 * Returns the descriptor (non-blocking) or a negative errno.
 */
int listen_at(const char *where, char ret_where[LISTEN_WHERE_SIZE], bool *ret_public,
	      struct error *err);

#endif
