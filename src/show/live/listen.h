/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the listening socket that "ADDRESS:PORT" describes. */
#ifndef STACKTALLY_LIVE_LISTEN_H
#define STACKTALLY_LIVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define LISTEN_WHERE_SIZE 64 /* of an address with its port, bytes with the NUL */

/*
 * Listens at `where`, in the forms that server_open() lists. `ret_where` receives the address and
 * the port in use as they stand in a URL, such as "127.0.0.1:4711" or "[::1]:4711"; `ret_public`,
 * whether other machines can connect. Returns a non-blocking descriptor, which the caller closes,
 * or a negative errno.
 */
int listen_at(const char *where, char ret_where[LISTEN_WHERE_SIZE], bool *ret_public,
	      struct error *err);

#endif
