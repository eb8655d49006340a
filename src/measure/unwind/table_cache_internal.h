/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of one file of the cache, which is also how a child that compiles a file answers
 * (table_cache_file.c). For table_cache.c, rows_confined.c and tests only.
 */
#ifndef STACKTALLY_UNWIND_TABLE_CACHE_INTERNAL_H
#define STACKTALLY_UNWIND_TABLE_CACHE_INTERNAL_H

#include "base/byte_stream.h"
#include "unwind/table_cache.h"

/* As table_cache_load(), from `size` bytes, all of which are checked. 0, -EBADMSG or -ENOMEM. */
int table_cache_content_read(const struct byte_source *source, size_t size,
			     const struct table_identity *identity, struct rule_table *rules,
			     struct unwind_rows *ret_rows);
/* The same from an open file, from its offset on. */
int table_cache_file_read(int fd, size_t size, const struct table_identity *identity,
			  struct rule_table *rules, struct unwind_rows *ret_rows);
/* The content to save, which the caller frees. 0 or -ENOMEM. */
int table_cache_file_format(const struct table_identity *identity, const struct rule_table *rules,
			    const struct unwind_rows *rows, void **ret_bytes, size_t *ret_size);

#endif
