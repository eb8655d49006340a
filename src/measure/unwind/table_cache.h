/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of compiled rows on disk: one file for each compiled one, in a directory that only root
 * or the user may write to. A directory that others may write to is not used.
 *
 * The key is a file's device, inode, size and change time beside its build-id, so that a
 * forged build-id cannot give rows to another file. Bounds and a checksum are verified on load.
 * Several threads may use a cache and several processes a directory: files appear whole or not at
 * all. Must not know: how tables are stored for walks.
 */
#ifndef STACKTALLY_UNWIND_TABLE_CACHE_H
#define STACKTALLY_UNWIND_TABLE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "cfi/unwind_rows.h"

/* To be incremented whenever the compiler's rows for any file change. */
#define TABLE_CACHE_VERSION 21

#define TABLE_CACHE_LIMIT    (256ull << 20) /* bytes of all files together */
#define TABLE_CACHE_MAX_FILE (128u << 20)   /* bytes of one */

#define TABLE_BUILD_ID_MAX 20

/* The key: all of it is compared. */
struct table_identity {
	uint64_t device, inode, size;
	int64_t changed_ns; /* st_ctim, which nobody can set */
	uint32_t build_id_size;
	uint8_t build_id[TABLE_BUILD_ID_MAX];
};

/* The identity of an open file; a build-id that is too long counts as none. 0 or a negative errno.
 */
int table_identity_read(int fd, const uint8_t *build_id, uint32_t build_id_size,
			struct table_identity *ret_identity);

struct table_cache;

/* The default directory; "" when there is none. */
void table_cache_place(char *ret_path, size_t size);

/*
 * Opens a directory, creating it if needed. `limit` in bytes; 0: TABLE_CACHE_LIMIT. 0; -EPERM:
 * others own it or may write to it; or another negative errno.
 */
int table_cache_open(const char *directory, uint64_t limit, struct table_cache **ret_cache);
void table_cache_close(struct table_cache *cache);
DEFINE_OWN(struct table_cache, table_cache_close)

/*
 * Loads rows and adds their rules to `rules`. 0; -ENOENT: there are none; -EBADMSG: they are
 * damaged, of another version, or not to be trusted; or another negative errno. On failure, some
 * rules may have been added.
 */
int table_cache_load(struct table_cache *cache, const struct table_identity *identity,
		     struct rule_table *rules, struct unwind_rows *ret_rows);

/* Saves rows. `rules` must have the rules of this file only. 0 or a negative errno. */
int table_cache_save(struct table_cache *cache, const struct table_identity *identity,
		     const struct rule_table *rules, const struct unwind_rows *rows);

#endif
