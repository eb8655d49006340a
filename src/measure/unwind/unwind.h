/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the unwinding tables of walks (bpf/unwind_wire.h) up to date with what runs: watches the
 * process images, has each file compiled once, however many processes map it, writes rows, rules
 * and mappings to the maps, and removes what has ended or was not hit for long.
 *
 * For one thread. A thread of its own compiles; unwind_update() takes over its results. The images
 * must outlive this, and nothing else may watch them. Must not know: triggers, stacks, names.
 */
#ifndef STACKTALLY_UNWIND_UNWIND_H
#define STACKTALLY_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/id_list.h"
#include "bpf/unwind_wire.h"
#include "process/images.h"
#include "unwind/unwind_maps.h"

#define UNWIND_MEMORY_DEFAULT (64ull << 20) /* bytes */

struct unwind_options {
	uint64_t memory; /* bytes of blocks; 0: UNWIND_MEMORY_DEFAULT */
	/* The directory of the cache (unwind/table_cache.h); NULL or "": none. */
	const char *cache;
	/* The only processes that get tables, borrowed; NULL: all do. */
	const struct id_list *only;
	/*
	 * The number of the interpreter that a file of the images contains, 0 for none, which the
	 * BPF programs are told with a process's mappings; or NULL.
	 */
	uint32_t (*interpreter)(void *context, uint32_t file);
	/*
	 * Told of the interpreters that a process has mapped, WIRE_PROCESS_INTERPRETERS at most,
	 * and where. 0 or -ENOMEM.
	 */
	int (*interprets)(void *context, pid_t tgid, const struct wire_mapped_interpreter *list,
			  uint32_t n);
	void *interpreter_context;
};

struct unwind;
struct layout;

/*
 * Takes over `maps`, on failure too. The first unwind_update() enters the processes that the images
 * know already. 0 or a negative errno.
 */
int unwind_new(struct images *images, struct unwind_maps *maps,
	       const struct unwind_options *options, struct unwind **ret_unwind, struct error *err);
/* No walk may be under way. Waits for a file that is being compiled. */
void unwind_free(struct unwind *unwind);

/* For poll(): readable when unwind_update() has something to take over. Borrowed. */
int unwind_fd(const struct unwind *unwind);

/*
 * Writes what has changed, which takes microseconds if little has. To be called whenever the images
 * were updated, and when unwind_fd() is readable. 0 or a negative errno: tables will be missing.
 */
int unwind_update(struct unwind *unwind, struct error *err);

/*
 * Has the table of a file made before those of others, and keeps it: for a file whose code is about
 * to run, though no process may have mapped it yet. 0 or -ENOMEM.
 */
int unwind_expect_file(struct unwind *unwind, uint32_t file);

/* Whether files that are mapped or expected are still to be compiled. */
bool unwind_is_pending(const struct unwind *unwind);

/*
 * Waits until all files that are expected or that known processes have mapped are compiled, and
 * helps: for tables that
 * have to be there at the first event. Gives up after `budget_ns`. 0 or as unwind_update().
 */
int unwind_wait(struct unwind *unwind, uint64_t budget_ns, struct error *err);

/* How long to wait for tables, in ns. */
struct unwind_limit {
	uint64_t work_ns;    /* without the time for which this process waited for a CPU */
	uint64_t elapsed_ns; /* in all, at least work_ns */
};

/* Whether tables are still to be made that the processes of layouts that were held have mapped. */
bool unwind_is_awaited(const struct unwind *unwind);
/* Waits for these, and helps. 0 or as unwind_update(). */
int unwind_wait_for_walks(struct unwind *unwind, struct unwind_limit limit, struct error *err);

/*
 * Counts a hit of each table that a stack went through: hits decide which tables are compiled first
 * and which are evicted. `frames` are the user frames of struct wire_stack. Takes some 50 ns a
 * frame.
 */
void unwind_count_hits(struct unwind *unwind, pid_t tgid, const uint64_t *frames, uint32_t n);

/*
 * A walk did not find the process, or a mapping of it. If the process is known, it is written
 * again: the BPF program removes the entry at the end of execve(), maybe after that of the new
 * program was written.
 */
void unwind_missed(struct unwind *unwind, pid_t tgid);

/*
 * Holds the layout of an image: until it is released, the tables of its files are wanted. 0;
 * -ESRCH: the image is not known; -ENOSPC; -ENOMEM.
 */
int unwind_hold_layout(struct unwind *unwind, uint32_t image, struct layout **ret_layout);
void unwind_release_layout(struct unwind *unwind, struct layout *layout); /* NULL is allowed */

/* ---- for walks in user space, valid until the next call of the above ---- */

/* Each returns NULL when there is none. */
const void *unwind_block(const struct unwind *unwind, uint32_t block);
const struct wire_rule *unwind_rule(const struct unwind *unwind, uint32_t rule);
const struct wire_process *unwind_process(const struct unwind *unwind, uint32_t tgid);

/* ---- numbers ---- */

struct unwind_stats {
	uint32_t processes;
	uint32_t tables;  /* files that code was mapped from, whatever their state */
	uint32_t ready;	  /* in the kernel */
	uint32_t pending; /* to be compiled, or being compiled */
	uint32_t no_cfi;
	uint32_t broken;	     /* or it took too long to read them */
	uint32_t not_opened;	     /* their files could not be opened yet */
	uint32_t evicted;	     /* evicted now, or without room from the start */
	uint32_t over_share;	     /* of these, for lack of room in the share of their owner */
	uint64_t evictions;	     /* so far */
	uint64_t rows;		     /* in the kernel */
	uint64_t bytes, bytes_limit; /* of blocks in use, for rows and mappings */
	uint64_t bytes_allocated;    /* of blocks in the kernel */
	uint32_t rules;
	uint64_t rules_refused;	  /* beyond WIRE_MAX_RULES, or what one file or user may have */
	uint64_t compiled;	  /* tables made from files, ... */
	uint64_t compile_ns;	  /* ... in this CPU time */
	uint64_t cached;	  /* tables loaded from the cache on disk, ... */
	uint64_t cached_ns;	  /* ... in this CPU time */
	uint64_t cache_refused;	  /* files of the cache that were damaged or not to be trusted */
	uint64_t process_updates; /* writes to the map of processes */
	uint64_t mappings_cut;	  /* mappings beyond what a process can have */
	uint64_t processes_cut;	  /* processes beyond WIRE_MAX_PROCESSES */
};
void unwind_stats(const struct unwind *unwind, struct unwind_stats *ret_stats);

#endif
