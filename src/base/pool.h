/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings that live as long as their pool. Each distinct string is stored once, so equal strings
 * have equal pointers. Reference-counted; used by one thread at a time.
 */
#ifndef STACKTALLY_BASE_POOL_H
#define STACKTALLY_BASE_POOL_H

#include <stddef.h>

#include "base/own.h"

struct pool;

/* With one reference. 0 or -ENOMEM. */
int pool_new(struct pool **ret_pool);
/* Drops one reference; dropping the last one frees the pool and its strings. */
void pool_free(struct pool *pool);
DEFINE_OWN(struct pool, pool_free)
/* Takes one more reference, to be dropped by pool_free(). Returns the pool. */
struct pool *pool_share(struct pool *pool);

/* The pool's copy of the string, NUL-terminated; NULL if memory is short. */
const char *pool_string(struct pool *pool, const char *string);
const char *pool_string_n(struct pool *pool, const char *bytes, size_t size);

#endif
