/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of files to compile into rows, and the thread that compiles them. It has the priority
 * of the process: with a lower one it would starve where all CPUs are busy, which is where people
 * measure, and walks would end early for as long. A thread that waits for results can compile, too.
 *
 * The queue owns a job from compile_queue_add() until compile_queue_take_done() returns it. Must
 * not know: processes, blocks. `finish` decides what becomes of the rows.
 */
#ifndef STACKTALLY_UNWIND_COMPILE_QUEUE_H
#define STACKTALLY_UNWIND_COMPILE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/unwind_rows.h"
#include "unwind/table.h"
#include "unwind/table_cache.h"

/* One file. All its descriptors, rows and blocks are the job's. */
struct compile_job {
	struct compile_job *next;
	uint32_t table;	   /* the caller's number for it */
	uint64_t priority; /* the highest is compiled first */

	/* The file: fd, or if that is -1 a file in memory, which is borrowed. */
	int fd;
	const void *bytes;
	size_t size;
	uid_t file_owner; /* as confined_owner() gives it */
	bool cacheable;	  /* to be kept in the cache on disk, under `identity` */
	struct table_identity identity;
	int64_t identified_ns; /* CLOCK_REALTIME just before `identity` was read */

	/* The result. */
	int result;		  /* 0; or the negative errno of compiling or of `finish` */
	bool compiled;		  /* there are rows, compiled or loaded from the cache */
	bool cached;		  /* ... loaded */
	bool unsaved;		  /* the rows are to be kept in the cache */
	bool cache_refused;	  /* the cache's file was damaged or not to be trusted */
	bool counted;		  /* for the caller: is in its statistics */
	uint64_t ns;		  /* CPU time that it took, here and in a child */
	struct rule_table *rules; /* of this file only */
	struct unwind_rows rows;
	struct table_tree tree; /* for `finish` */
};

/* NULL when out of memory. */
struct compile_job *compile_job_new(uint32_t table);
void compile_job_free(struct compile_job *job);
DEFINE_OWN(struct compile_job, compile_job_free)

struct compile_queue;

/*
 * Starts the thread. `cache` (NULL: none) is borrowed. Several threads may call `finish`, with
 * `context`, on jobs that were compiled without an error; what it returns becomes the job's result.
 * 0 or a negative errno.
 */
int compile_queue_new(struct table_cache *cache,
		      int (*finish)(void *context, struct compile_job *job), void *context,
		      struct compile_queue **ret_queue);
/* Waits for a job that is being compiled, and saves what is to be kept in the cache. */
void compile_queue_free(struct compile_queue *queue);

/* Queues a job. If it was compiled before, only `finish` is called again. */
void compile_queue_add(struct compile_queue *queue, struct compile_job *job);
/* Has the thread call a function, with the queue's `context`, before its next job. */
void compile_queue_call(struct compile_queue *queue, void (*function)(void *context));
/* Returns the jobs that are done, as a list; NULL: none. */
struct compile_job *compile_queue_take_done(struct compile_queue *queue);
/*
 * Frees a job that was returned; NULL is allowed. Its rows are first kept in the cache if need be,
 * by the thread, when no other job waits: writing to a disk can take longer than compiling.
 */
void compile_queue_release(struct compile_queue *queue, struct compile_job *job);
/* Compiles one job in the calling thread, the same at each call; false when none waits. */
bool compile_queue_run_one(struct compile_queue *queue);
/* For poll(): readable when jobs are done. Borrowed. */
int compile_queue_fd(const struct compile_queue *queue);

#endif
