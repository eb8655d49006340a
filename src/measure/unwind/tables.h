/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of files: one for each file that the images know, however many processes map it. A
 * table is made when a mapping of its file is first met: compiled by a thread, then packed into
 * blocks. When blocks run out, tables that no stack has hit for longest are evicted.
 *
 * What mappings say about a table changes by tables_update() only; tables_version() tells whether
 * it did. For one thread. Internal to unwind/. Must not know: processes.
 */
#ifndef STACKTALLY_UNWIND_TABLES_H
#define STACKTALLY_UNWIND_TABLES_H

#include "base/error.h"
#include "process/images.h"
#include "unwind/compile_queue.h"
#include "unwind/unwind.h"

#define TABLE_NONE UINT32_MAX

struct tables;

/* All arguments are borrowed; `cache` may be NULL. 0 or a negative errno. */
int tables_new(const struct images *images, struct unwind_maps *maps, struct blocks *blocks,
	       struct table_cache *cache, struct tables **ret_tables);
void tables_free(struct tables *tables);
/*
 * What tells which interpreter a file of the images contains: a number, 0 for none. To be set
 * before the first file is met. Without it no file contains one.
 */
void tables_set_interpreter(struct tables *tables,
			    uint32_t (*interpreter)(void *context, uint32_t file), void *context);
uint32_t tables_interpreter(const struct tables *tables, uint32_t file);

/* For poll(): readable when tables_update() has results to take over. Borrowed. */
int tables_fd(const struct tables *tables);

/* The number of the table of a file of the images, which is made if it is new. 0 or -ENOMEM. */
int tables_of_file(struct tables *tables, uint32_t file, uint32_t *ret_table);
/*
 * The number of the vDSO's table, for a mapping of `size` bytes; TABLE_NONE if that is not the size
 * of ours. 0 or -ENOMEM.
 */
int tables_of_vdso(struct tables *tables, uint64_t size, uint32_t *ret_table);

/* By how much the addresses of the table's file are above those of the table. */
uint64_t tables_lowered(const struct tables *tables, uint32_t table);

/*
 * The difference between an address in a mapping and in its table, by the segment that holds the
 * file's `offset`. False when no segment does.
 */
bool tables_bias(const struct tables *tables, uint32_t table, uint64_t start, uint64_t offset,
		 uint64_t *ret_bias);

/* Counts the code ranges of layouts that have the table. */
void tables_use(struct tables *tables, uint32_t table);
void tables_unuse(struct tables *tables, uint32_t table);
/* A stack went through the table's file at `now`, in monotonic_ns(). */
void tables_hit(struct tables *tables, uint32_t table, uint64_t now);
/* A walk may need the table to go on: if it is pending, it is made before those of which that is
 * not so. */
void tables_await(struct tables *tables, uint32_t table);

/* What struct wire_mapping says about a table. */
struct table_reference {
	uint32_t root, owner;
};
struct table_reference tables_reference(const struct tables *tables, uint32_t table);
/* Increases whenever the reference of any table changes. */
uint64_t tables_version(const struct tables *tables);

/*
 * Takes over what was compiled, evicts, and queues what is to be compiled next. `refresh` has all
 * mappings say what tables_reference() says; it is called before an evicted table's blocks are
 * given back. 0 or a negative errno.
 */
int tables_update(struct tables *tables, uint64_t now, void (*refresh)(void *context),
		  void *context, struct error *err);
/* Whether tables are still to be compiled. */
bool tables_are_pending(const struct tables *tables);
/* Whether one of these is one that tables_await() was told of. */
bool tables_are_awaited(const struct tables *tables);
/* Compiles one in the calling thread; false when none is queued. */
bool tables_compile_one(struct tables *tables);

/*
 * If few blocks are free, has the compiling thread make some free. With `wait_grace` it waits for a
 * grace period in any case.
 */
void tables_prepare_blocks(struct tables *tables, bool wait_grace);

/* The rules by their numbers in the kernel. */
const struct rule_table *tables_rules(const struct tables *tables);
/* Sets all members of `stats` but those about processes and blocks. */
void tables_stats(const struct tables *tables, struct unwind_stats *stats);

#endif
