/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of tables.c share: a table and its states (tables.c), compiling and packing it
 * (tables_compile.c), making room for it (tables_room.c). Nobody else may include it.
 */
#ifndef STACKTALLY_UNWIND_TABLES_INTERNAL_H
#define STACKTALLY_UNWIND_TABLES_INTERNAL_H

#include <stdatomic.h>

#include "elf/load_segments.h"
#include "unwind/tables.h"

/* One that was hit within this time does not have to go, and one that had to is not tried again. */
#define TABLES_REST_NS 1000000000ull

/* More than any vDSO. */
#define TABLES_MAX_VDSO (1u << 20)

enum table_state {
	TABLE_PENDING,
	TABLE_READY,
	TABLE_NO_CFI,
	TABLE_BROKEN,
	TABLE_EVICTED,
};

struct table {
	uint32_t file; /* of the images; TABLE_NONE: the vDSO */
	enum table_state state;
	bool at_work;		     /* a job is out for it */
	uint32_t uses;		     /* mappings */
	uint64_t hits;		     /* stacks that went through it, or wanted to */
	uint64_t last_hit;	     /* 0: never */
	uint64_t since;		     /* it is in its state */
	uint64_t tried;		     /* a job was last out for it */
	struct compile_job *stalled; /* is compiled, and found no room */
	uint32_t rows;
	uint32_t wanted; /* blocks, once that is known */
	struct table_tree tree;
	struct load_segments segments;
};

struct tables {
	const struct images *images;
	struct unwind_maps *maps;
	struct blocks *blocks;
	struct rule_table *book;
	struct compile_queue *queue;
	struct table **tables;
	uint32_t n, room;
	uint32_t *by_file; /* TABLE_NONE: none yet */
	uint32_t n_by_file;
	uint32_t vdso; /* its table, or TABLE_NONE */
	uint64_t vdso_size;
	uint32_t n_pending, n_jobs, n_rules;
	atomic_uint last_owner;
	uint32_t spare;
	uint64_t version;
	bool pressed; /* one has found no room */
	atomic_bool readying, settle;
	struct unwind_stats stats;
};

/* ---- tables.c ---- */
void tables_set_state(struct tables *tables, struct table *table, enum table_state state);
/* The state of a table that could not be compiled, by the negative errno; 0: there are no rows. */
enum table_state tables_state_without_rows(int r);
/*
 * The vDSO in our own memory: all processes of a kernel have the same one, but 32-bit ones. NULL
 * if there is none.
 */
const void *tables_own_vdso(uint64_t *ret_size);

/* ---- tables_compile.c ---- */
/* compile_packer of the queue: in the thread that compiles. */
int tables_pack(void *context, struct compile_job *job);
/* Hands out the pending ones, those first that are wanted most. 0 or -ENOMEM. */
int tables_hand_out(struct tables *tables, uint64_t now);
/* Takes over what was made of one; `job` is freed, or kept with its table. */
void tables_take_over(struct tables *tables, struct compile_job *job, uint64_t now);

/* ---- tables_room.c ---- */
/* Makes room for those that found none, or had to go and were hit since. 0 or a negative errno. */
int tables_make_room(struct tables *tables, uint64_t now, int (*let_go)(void *context),
		     void *context);

#endif
