/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that wait to be compiled, and the thread that does it. It is as nice as its process: nicer,
 * it would starve where all CPUs are busy, which is where people measure, and stacks would end
 * early for as long as that lasts. Who waits for results may lend a hand.
 *
 * A job is owned by the queue from compile_queue_add() until it is taken back done. Must not
 * know: processes, blocks; what to do with rows is told by `finish`.
 */
#ifndef STACKTALLY_UNWIND_COMPILE_QUEUE_H
#define STACKTALLY_UNWIND_COMPILE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/unwind_rows.h"
#include "unwind/table.h"
#include "unwind/table_cache.h"

struct compile_job {
	struct compile_job *next;
	uint32_t table;	   /* the caller's number for it */
	uint64_t priority; /* the highest goes first */

	/* What to compile: fd, or memory if that is -1. */
	int fd;
	const void *bytes;
	size_t size;
	bool keep; /* in the cache on disk, under `identity` */
	struct table_identity identity;

	/* What became of it. */
	int result; /* 0, or why there are no rows, or why they found no place */
	bool compiled;
	bool cached;
	bool cache_refused;
	bool counted;		 /* for whoever takes it */
	uint64_t ns;		 /* of a CPU, that it took */
	struct rule_table *book; /* its own rules */
	struct unwind_rows rows;
	struct table_tree tree; /* what `finish` made of it */
};

struct compile_job *compile_job_new(uint32_t table);
void compile_job_free(struct compile_job *job);
DEFINE_OWN(struct compile_job, compile_job_free)

struct compile_queue;

/*
 * Starts the thread. `cache` (NULL: none) is borrowed; `finish` is called with `context` after a
 * job was compiled without an error, by several threads; what it returns becomes the result. 0 or
 * a negative errno.
 */
int compile_queue_new(struct table_cache *cache,
		      int (*finish)(void *context, struct compile_job *job), void *context,
		      struct compile_queue **ret_queue);
/* Waits for a job that is being done. */
void compile_queue_free(struct compile_queue *queue);

/* One that was compiled is only finished again. */
void compile_queue_add(struct compile_queue *queue, struct compile_job *job);
/* Has the thread do this as well, before its next job. */
void compile_queue_call(struct compile_queue *queue, void (*function)(void *context));
/* Done ones, a list, NULL: none. */
struct compile_job *compile_queue_take(struct compile_queue *queue);
/* Does one job in the calling thread; false when none waits. */
bool compile_queue_help(struct compile_queue *queue);
/* An eventfd: readable when there are done ones to take. */
int compile_queue_fd(const struct compile_queue *queue);

#endif
