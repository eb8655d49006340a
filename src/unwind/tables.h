/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of files: one for each identity that the images know, however many processes map it.
 * A table is asked for by whoever meets a mapping of its file; it is compiled beside, and packed
 * into blocks. When blocks run out, what was not hit for longest has to go.
 *
 * What a mapping has to say of its table changes by tables_update() only; tables_version() tells
 * whether it did. Internal to unwind/. Must not know: which processes there are.
 */
#ifndef STACKTALLY_UNWIND_TABLES_H
#define STACKTALLY_UNWIND_TABLES_H

#include "base/error.h"
#include "process/images.h"
#include "unwind/compile_queue.h"
#include "unwind/unwind.h"

#define TABLE_NONE UINT32_MAX

struct tables;

int tables_new(const struct images *images, struct unwind_maps *maps, struct blocks *blocks,
	       struct table_cache *cache, struct tables **ret_tables);
void tables_free(struct tables *tables);
int tables_fd(const struct tables *tables);

/* The table of a file of the images; made if it is new. 0 or -ENOMEM. */
int tables_of_file(struct tables *tables, uint32_t file, uint32_t *ret_table);
/* The table of the kernel's vDSO, for a mapping of that size. */
int tables_of_vdso(struct tables *tables, uint64_t size, uint32_t *ret_table);

/*
 * What to subtract from an address of a mapping, to get the file's own: by the segment that holds
 * the file's `offset`. False when there is none.
 */
bool tables_bias(const struct tables *tables, uint32_t table, uint64_t start, uint64_t offset,
		 uint64_t *ret_bias);

/* One more mapping, or one less, is of that table. */
void tables_use(struct tables *tables, uint32_t table);
void tables_unuse(struct tables *tables, uint32_t table);
/* A stack went through it at `now`. */
void tables_hit(struct tables *tables, uint32_t table, uint64_t now);

/* What struct wire_mapping says of it. */
struct table_place {
	uint32_t root, owner;
};
struct table_place tables_place(const struct tables *tables, uint32_t table);

/*
 * Takes over what was compiled, hands out what is to be compiled next. `let_go` is called when
 * places have changed so that blocks can be let go: no mapping must refer to other places than
 * tables_place() gives when it returns. 0 or a negative errno.
 */
int tables_update(struct tables *tables, uint64_t now, int (*let_go)(void *context), void *context,
		  struct error *err);
/* Counts up with each change of a place. */
uint64_t tables_version(const struct tables *tables);
/* Whether anything waits to be compiled, and compiling one such in the calling thread. */
bool tables_pending(const struct tables *tables);
bool tables_help(struct tables *tables);

/*
 * Has blocks made ready in the thread that compiles, if few are; with `settle` a grace period is
 * waited for too.
 */
void tables_make_ready(struct tables *tables, bool settle);

const struct rule_table *tables_rules(const struct tables *tables);
/* Adds its own numbers. */
void tables_stats(const struct tables *tables, struct unwind_stats *stats);

#endif
