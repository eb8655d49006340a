/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the three parts of tables.h share: tables and their states (tables.c), compiling and packing
 * (tables_compile.c), eviction (tables_evict.c), the files that walks find by
 * themselves (tables_files.c). For these files only.
 */
#ifndef STACKTALLY_UNWIND_TABLES_INTERNAL_H
#define STACKTALLY_UNWIND_TABLES_INTERNAL_H

#include <stdatomic.h>

#include "elf/load_segments.h"
#include "unwind/shares.h"
#include "unwind/tables.h"

/* A table hit within this time is not evicted; an evicted one is not tried again within it. */
#define TABLES_MIN_STAY_NS 1000000000ull

/* Bytes: more than any vDSO has. */
#define TABLES_MAX_VDSO (1u << 20)

enum table_state {
	TABLE_PENDING,
	TABLE_READY,
	TABLE_NO_CFI,
	TABLE_BROKEN,
	TABLE_NOT_OPENED,
	TABLE_TIME_USED_UP,
	TABLE_EVICTED,
};

struct table {
	uint32_t file; /* number in the images; TABLE_NONE: the vDSO */
	enum table_state state;
	bool compiling;			      /* a job for it is in the queue */
	bool awaited;			      /* pending, and a walk may need it to go on */
	uint32_t uses;			      /* code ranges of layouts */
	uint64_t hits;			      /* frames of stacks, also while it was not there */
	uint64_t last_hit;		      /* 0: never */
	uint64_t since;			      /* last change of its state by a job */
	uint64_t tried;			      /* last time that a job was queued */
	struct compile_job *waiting_for_room; /* it was compiled and found no blocks */
	uint32_t rows;
	uint32_t wanted;  /* blocks it takes, once that is known */
	uid_t file_owner; /* known when a job was queued */
	bool over_share;  /* there would be room, but for the share of its owner */
	struct table_tree tree;
	struct load_segments segments; /* lowered */
	uint64_t lowered;	       /* by this */
	struct wire_file identity;     /* of the file with these rows; inode 0: not sure */
	bool entered;		       /* in the map of files, under `identity` */
};

struct tables {
	const struct images *images;
	struct unwind_maps *maps;
	struct blocks *blocks;
	struct shares *shares;	    /* of the blocks */
	struct shares *rule_shares; /* of the numbers of rules */
	struct rule_table *rules;   /* numbered as in the kernel */
	struct compile_queue *queue;
	/* The callback of tables_set_interpreter(); or NULL. */
	uint32_t (*interpreter)(void *context, uint32_t file);
	void *interpreter_context;
	struct table **tables;
	uint32_t n, capacity;
	uint32_t *by_file; /* table numbers; TABLE_NONE: none yet */
	uint32_t n_by_file;
	uint32_t vdso; /* its table, or TABLE_NONE */
	uint64_t vdso_size;
	uint32_t n_pending, n_awaited, n_jobs, n_not_opened;
	uint32_t n_rules; /* in the kernel */
	atomic_uint last_owner;
	atomic_ullong
		rules_over_share; /* refused to a file or its owner, though there were numbers */
	uint32_t spare;		  /* blocks left for mappings */
	uint64_t version;
	bool lacks_room;		   /* a table that is wanted has no blocks */
	atomic_bool preparing, wait_grace; /* tables_prepare_blocks() is under way */
	struct unwind_stats stats;
};

/* ---- tables.c ---- */
void tables_set_state(struct tables *tables, struct table *table, enum table_state state);
/* What mappings say about the table. */
struct table_reference tables_reference_of(const struct table *table);
/* The state of a table without rows: `r` is the negative errno of compiling, or 0. */
enum table_state tables_state_without_rows(int r);
/* The vDSO, as this process has it mapped; NULL if it has none. */
const void *tables_own_vdso(uint64_t *ret_size);

/* ---- tables_compile.c ---- */
/* The queue's `finish`: packs a job's rows into blocks, in the thread that compiles. */
int tables_pack(void *context, struct compile_job *job);
/* Queues pending tables, those with most hits first. 0 or -ENOMEM. */
int tables_queue_pending(struct tables *tables, uint64_t now);
/* Takes over the result of a job, which is freed or kept with its table. */
void tables_take_over(struct tables *tables, struct compile_job *job, uint64_t now);

/* ---- tables_files.c ---- */
/* Takes the identity of a job's file over to its table. */
void tables_identify(const struct tables *tables, struct table *table,
		     const struct compile_job *job);
/* Enters the files of tables that are ready; their rules are in the kernel by now. */
void tables_enter_files(struct tables *tables);
void tables_leave_file(struct tables *tables, struct table *table);

/* ---- tables_evict.c ---- */
/* Evicts tables for those that found no blocks, or were evicted and hit since. */
void tables_make_room(struct tables *tables, uint64_t now, void (*refresh)(void *context),
		      void *context);

#endif
