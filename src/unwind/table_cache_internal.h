/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of one file of the cache (table_cache_file.c). For table_cache.c and its tests only.
 */
#ifndef STACKTALLY_UNWIND_TABLE_CACHE_INTERNAL_H
#define STACKTALLY_UNWIND_TABLE_CACHE_INTERNAL_H

#include "unwind/table_cache.h"

/* As table_cache_load(), from an open file of `size` bytes. 0, -EBADMSG or -ENOMEM. */
int table_cache_file_read(int fd, size_t size, const struct table_identity *identity,
			  struct rule_table *rules, struct unwind_rows *ret_rows);
/* The content to save, which the caller frees. 0 or -ENOMEM. */
int table_cache_file_format(const struct table_identity *identity, const struct rule_table *rules,
			    const struct unwind_rows *rows, void **ret_bytes, size_t *ret_size);

#endif
