/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts: the executable mappings of a process at one time, and the chunks in blocks that they are
 * written to. Processes that forked from each other share one. A layout never changes, except the
 * references to tables in its chunks, each of which is one 64-bit store.
 *
 * For one thread. Must not know: process ids, when mappings change.
 */
#ifndef STACKTALLY_UNWIND_LAYOUTS_H
#define STACKTALLY_UNWIND_LAYOUTS_H

#include "process/images.h"
#include "unwind/chunk_slots.h"
#include "unwind/tables.h"

#define MAX_LAYOUT_RANGES (WIRE_MAX_CHUNKS * (WIRE_CHUNK_SLOTS - 1))

/* Addresses that share a table, or the reason why there is none. */
struct layout_range {
	uint64_t start, end, bias;   /* as in struct wire_mapping */
	uint32_t table;		     /* or TABLE_NONE */
	enum wire_mapping_kind kind; /* if `table` is TABLE_NONE */
	uint32_t interpreter;	     /* its number; 0: none */
	uint32_t reserved;	     /* 0: ranges are compared as bytes */
};

struct layout {
	struct layout *previous, *next; /* in the list of all layouts */
	uint32_t references;
	struct wire_process wire;
	uint32_t n;
	struct layout_range ranges[]; /* sorted by address */
};

struct layouts {
	struct tables *tables;
	struct chunk_slots *slots;
	struct blocks *blocks;
	struct layout *first;
	uint32_t last_owner;
	struct layout_range *scratch; /* for layouts_ranges() */
	uint32_t scratch_capacity;
	uint64_t version; /* tables_version() that the chunks were written with */
	/* As in struct unwind_options. */
	int (*interprets)(void *context, pid_t tgid, const struct wire_mapped_interpreter *list,
			  uint32_t n);
	void *interpreter_context;
};

/* `tables` and `blocks` are borrowed. 0 or -ENOMEM. */
int layouts_init(struct layouts *layouts, struct tables *tables, struct blocks *blocks);
void layouts_clear(struct layouts *layouts);

/*
 * The code ranges of mappings, sorted by address, in memory that is valid until the next call.
 * `*ret_cut`: the number left out beyond MAX_LAYOUT_RANGES. 0 or -ENOMEM.
 */
int layouts_ranges(struct layouts *layouts, const struct mapping *mappings, uint32_t n,
		   const struct layout_range **ret_ranges, uint32_t *ret_n, uint32_t *ret_cut);

/* Writes a new layout, with one reference. 0, -ENOMEM or as blocks_take(). */
int layouts_write(struct layouts *layouts, const struct layout_range *ranges, uint32_t n,
		  struct layout **ret_layout);
void layouts_unref(struct layouts *layouts, struct layout *layout); /* NULL is allowed */

/* Writes the present references to tables (tables_reference()) to all chunks. */
void layouts_refresh(struct layouts *layouts);

/* Whether these are the layout's ranges. */
bool layout_has_ranges(const struct layout *layout, const struct layout_range *ranges, uint32_t n);

/* The range that an address is in, or NULL. */
const struct layout_range *layout_find_range(const struct layout *layout, uint64_t address);

#endif
