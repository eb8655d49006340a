/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process has mapped, as walks see it: places, that is ranges of addresses with the table
 * (or the kind of code) that holds there, and the chunks of mappings written from them. Shared by
 * processes that forked from each other. A layout is never changed, but for what its mappings say
 * of their tables, which is one 64-bit store each.
 *
 * For one thread. Must not know: process ids, when things change.
 */
#ifndef STACKTALLY_UNWIND_LAYOUTS_H
#define STACKTALLY_UNWIND_LAYOUTS_H

#include "process/images.h"
#include "unwind/chunk_slots.h"
#include "unwind/tables.h"

#define MAX_PLACES (WIRE_MAX_CHUNKS * (WIRE_CHUNK_SLOTS - 1))

struct place {
	uint64_t start, end, bias;
	uint32_t table;		     /* or TABLE_NONE: then */
	enum wire_mapping_kind kind; /* is what it is */
};

struct layout {
	struct layout *previous, *next; /* of all */
	uint32_t references;
	struct wire_process wire;
	uint32_t n;
	struct place places[];
};

struct layouts {
	struct tables *tables;
	struct chunk_slots *slots;
	struct blocks *blocks;
	struct layout *first;
	uint32_t last_owner;
	struct place *scratch; /* of the places that are made */
	uint32_t room_scratch;
	uint64_t version; /* of the tables, that mappings were written with */
};

int layouts_init(struct layouts *layouts, struct tables *tables, struct blocks *blocks);
void layouts_clear(struct layouts *layouts);

/*
 * The places of these mappings, in memory that lasts until it is asked again; `*ret_cut`: how many
 * found no room. 0 or -ENOMEM.
 */
int layouts_places(struct layouts *layouts, const struct mapping *mappings, uint32_t n,
		   const struct place **ret_places, uint32_t *ret_n, uint32_t *ret_cut);

/* A layout of these places, written, with one reference. 0, -ENOMEM or as blocks_take(). */
int layouts_write(struct layouts *layouts, const struct place *places, uint32_t n,
		  struct layout **ret_layout);
void layouts_unref(struct layouts *layouts, struct layout *layout);

/* Has all mappings say of their tables what tables_place() gives now. */
void layouts_refresh(struct layouts *layouts);

/* The place of an address, or NULL. */
const struct place *layout_find(const struct layout *layout, uint64_t address);

#endif
