/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the kernel's unwinding tables (bpf/unwind_wire.h) true to what runs: watches the images,
 * has the row compiler read each file once, however many processes map it, writes rows, rules and
 * mappings to where walks read them, and lets go of what has ended or was not hit for long.
 *
 * All is done by the thread that calls, but for compiling, which a thread of its own does at low
 * priority: results are taken over by unwind_update(). The images must outlive it, and only it
 * may watch them.
 *
 * Must not know: how walks are triggered, what becomes of stacks, names.
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
#include "unwind/kernel_maps.h"

#define UNWIND_MEMORY_DEFAULT (64ull << 20)

struct unwind_options {
	uint64_t memory; /* bytes of blocks; 0: UNWIND_MEMORY_DEFAULT */
	/* Where compiled tables are kept on disk (unwind/table_cache.h); NULL: nowhere. */
	const char *cache;
	/* The only processes whose stacks are walked, borrowed; NULL: any may be. */
	const struct id_list *only;
};

struct unwind;

/*
 * Takes over `maps`, on failure too, and closes them in the end. Processes that the images know
 * already are entered by the first unwind_update().
 */
int unwind_new(struct images *images, struct unwind_maps *maps,
	       const struct unwind_options *options, struct unwind **ret_unwind, struct error *err);
/* When no walk is under way any more. Waits for a file that is being compiled. */
void unwind_free(struct unwind *unwind);

/* For poll(): readable when unwind_update() has something to take over. Borrowed. */
int unwind_fd(const struct unwind *unwind);

/*
 * Writes what has changed: call it whenever the side-band was drained or processes were learned,
 * and when unwind_fd() is readable. Takes microseconds when little has. 0 or a negative errno: the
 * tables cannot be kept up.
 */
int unwind_update(struct unwind *unwind, struct error *err);

/* Whether the tables of anything that is mapped are still to be made. */
bool unwind_is_pending(const struct unwind *unwind);

/*
 * Compiles now, with the calling thread too, what the processes known have mapped: before the
 * first event of processes that were chosen. Stops after `budget_ns`; what is left goes on beside.
 */
int unwind_wait(struct unwind *unwind, uint64_t budget_ns, struct error *err);

/*
 * A stack of a process was met: user frames as they stand in struct wire_stack. Its tables are
 * kept in memory for longer; what its walk lacked comes first. Some 50 ns a frame.
 */
void unwind_saw(struct unwind *unwind, pid_t tgid, const uint64_t *frames, uint32_t n,
		enum wire_end end);

/* ---- what walks read, for walks of our own between two calls of the above ---- */

/* Each is NULL when there is none. */
const void *unwind_block(const struct unwind *unwind, uint32_t block);
const struct wire_rule *unwind_rule(const struct unwind *unwind, uint32_t rule);
const struct wire_process *unwind_process(const struct unwind *unwind, uint32_t tgid);

/* ---- numbers ---- */

struct unwind_stats {
	uint32_t processes;
	uint32_t tables;  /* files that code is mapped from, of all states */
	uint32_t ready;	  /* in the kernel */
	uint32_t pending; /* being compiled, or waiting for it */
	uint32_t no_cfi, broken;
	uint32_t evicted;	     /* had to go, or found no room, and are not back */
	uint64_t evictions;	     /* how often one had to go */
	uint64_t rows;		     /* in the kernel */
	uint64_t bytes, bytes_limit; /* of blocks in use: rows and mappings */
	uint64_t bytes_there;	     /* of memory in the kernel for them */
	uint32_t rules;
	uint64_t rules_refused;	  /* found no number */
	uint64_t compiled;	  /* tables made from files, ... */
	uint64_t compile_ns;	  /* ... in this time of a CPU */
	uint64_t cached;	  /* tables loaded from disk, ... */
	uint64_t cached_ns;	  /* ... in this time */
	uint64_t cache_refused;	  /* files of the cache that were damaged or not to be trusted */
	uint64_t process_updates; /* of the kernel's map of processes */
	uint64_t mappings_cut;	  /* that found no room in a process's list */
	uint64_t processes_cut;	  /* that found no room among the processes */
};
void unwind_stats(const struct unwind *unwind, struct unwind_stats *ret_stats);

#endif
