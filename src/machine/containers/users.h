/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The users that /etc/passwd has; no directory service is asked.
 */
#ifndef STACKTALLY_CONTAINERS_USERS_H
#define STACKTALLY_CONTAINERS_USERS_H

#include <stddef.h>
#include <sys/types.h>

/* The home directory of a user. 0, or -ENOENT: there is no such user, or its home is too long. */
int users_home(uid_t user, char *ret_home, size_t size);

/* The id of a user, by its name or as a number. 0, or -ENOENT. */
int users_id(const char *name, uid_t *ret_user);

#endif
