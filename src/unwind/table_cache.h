/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiled rows on disk, so that the next measurement need not compile them again: a file for
 * each, rules by value, in a directory that only root or we may write to.
 *
 * Who names a build-id in a file of his own must not be able to put wrong rows under the name of
 * another's: what was compiled is known by its very inode and the time of its last change, beside
 * its build-id. What is loaded was checked against every bound and a checksum; but a directory
 * that others may write to is not used at all. Several threads may use a cache, several processes
 * a directory: files appear whole or not at all.
 *
 * Must not know: where tables go in the kernel.
 */
#ifndef STACKTALLY_UNWIND_TABLE_CACHE_H
#define STACKTALLY_UNWIND_TABLE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "cfi/unwind_rows.h"

/* To be counted up whenever the compiler makes other rows of any file than it did before. */
#define TABLE_CACHE_VERSION 12

#define TABLE_CACHE_LIMIT    (256ull << 20) /* bytes of all its files */
#define TABLE_CACHE_MAX_FILE (128u << 20)

#define TABLE_BUILD_ID_MAX 20

/* Which file rows are of. All of it counts. */
struct table_identity {
	uint64_t device, inode, size;
	int64_t changed_ns; /* st_ctim: nobody can set it */
	uint32_t build_id_size;
	uint8_t build_id[TABLE_BUILD_ID_MAX];
};

/* Of an open file. 0 or a negative errno. */
int table_identity_read(int fd, const uint8_t *build_id, uint32_t build_id_size,
			struct table_identity *ret_identity);

struct table_cache;

/* Where it belongs by default: "" when there is no such place. */
void table_cache_place(char *ret_path, size_t size);

/*
 * Makes the directory if it is not there. 0; -EPERM: others may write to it, or it is not ours; or
 * another negative errno. `limit` in bytes; 0: TABLE_CACHE_LIMIT.
 */
int table_cache_open(const char *directory, uint64_t limit, struct table_cache **ret_cache);
void table_cache_close(struct table_cache *cache);
DEFINE_OWN(struct table_cache, table_cache_close)

/*
 * Rows of the file, their rules entered into `book`. 0; -ENOENT: it has none; -EBADMSG: what it
 * has is damaged, of another version, or not to be trusted; another negative errno.
 */
int table_cache_load(struct table_cache *cache, const struct table_identity *identity,
		     struct rule_table *book, struct unwind_rows *ret_rows);

/* `book` must be one that only this file was compiled with. 0 or a negative errno. */
int table_cache_save(struct table_cache *cache, const struct table_identity *identity,
		     const struct rule_table *book, const struct unwind_rows *rows);

/* The content of one file of a cache, as load and save have it; these are for tests. */
int table_cache_read(int fd, size_t size, const struct table_identity *identity,
		     struct rule_table *book, struct unwind_rows *ret_rows);
int table_cache_format(const struct table_identity *identity, const struct rule_table *book,
		       const struct unwind_rows *rows, void **ret_bytes, size_t *ret_size);

#endif
