/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings that live as long as their pool: each distinct string is stored once, so equal strings
 * have equal pointers. Freed all at once. Not for
 * several threads.
 */
#ifndef STACKTALLY_BASE_POOL_H
#define STACKTALLY_BASE_POOL_H

#include <stddef.h>

struct pool;

int pool_new(struct pool **ret_pool);
/* Gives one reference back; the last one frees it. */
void pool_free(struct pool *pool);
/* One more reference, to be given back as well: the pool lives as long as any of its users. */
struct pool *pool_share(struct pool *pool);

/* The pool's copy of the string, NUL-terminated; NULL when out of memory. */
const char *pool_string(struct pool *pool, const char *string);
const char *pool_string_n(struct pool *pool, const char *bytes, size_t size);

#endif
