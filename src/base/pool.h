/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings that live as long as their pool: each distinct string is stored once, so equal strings
 * have equal pointers. Freed all at once.
 */
#ifndef STACKTALLY_BASE_POOL_H
#define STACKTALLY_BASE_POOL_H

#include <stddef.h>

struct pool;

int pool_new(struct pool **ret_pool);
void pool_free(struct pool *pool);

/* The pool's copy of the string, NUL-terminated; NULL when out of memory. */
const char *pool_string(struct pool *pool, const char *string);
const char *pool_string_n(struct pool *pool, const char *bytes, size_t size);

#endif
