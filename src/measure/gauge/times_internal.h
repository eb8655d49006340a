/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct times, and what times*.c share: times.c is the gauge, times_places.c adds times to stacks,
 * times_absences.c looks at the threads that are off the CPU.
 */
#ifndef STACKTALLY_GAUGE_TIMES_INTERNAL_H
#define STACKTALLY_GAUGE_TIMES_INTERNAL_H

#include "base/index.h"
#include "bpf/off_cpu_wire.h"
#include "gauge/gauge.h"

#define NS_IN_US 1000u

/* The hashes of the stack where time was spent, and of the stack that ended it. */
struct place {
	struct wire_hash stack;
	struct wire_hash waker; /* low 0: none, or not known */
};

/* Times of a stack whose walk is not finished yet. */
struct early_time {
	struct place place;
	int64_t blocked, waiting;
};

/* The pairs of stacks that keys of an epoch's times stand for. */
struct pairs {
	struct wire_pair *list;
	uint32_t n, capacity;
	struct index index; /* by the key */
};

/* The part of an unfinished absence that was added already. */
struct credit {
	struct place place;
	uint64_t blocked, waiting;
};

struct credits {
	struct credit *list;
	uint32_t n, capacity;
};

struct times {
	struct gauge gauge;
	const struct plan *plan;
	struct stacktally *skeleton;
	struct drain *drain;
	struct epoch_stacks *stacks; /* those of both epochs */
	struct wire_times *sets;
	uint32_t n_sets; /* in each epoch */
	uint64_t began;
	struct early_time *early;
	uint32_t n_early, early_capacity;
	struct credits credits;
	struct pairs pairs[WIRE_EPOCHS];
	struct sleepers *sleepers; /* NULL before find() */
	/* A copy of the map of threads. */
	uint32_t *tids;
	struct wire_thread *threads;
	uint32_t n_threads, max_threads;
	struct wire_off_cpu_counters before;
};

/* ---- times_places.c ---- */

/*
 * Adds ns to a place, now or when its stack has come. With a tally, the stacks of threads that
 * slept at the beginning come from here. 0 or a negative errno.
 */
int times_add(struct times *times, const struct place *place, int64_t blocked, int64_t waiting,
	      struct tally *tally);
/* Takers of records (drain/records.h). */
int times_take(void *times, const void *record, size_t size);
int times_take_pair(void *times, const void *record, size_t size);
/* Adds the sets of an epoch that has ended, and forgets its pairs. 0 or a negative errno. */
int times_drain_sets(struct times *times, uint32_t epoch, struct tally *tally);
/* Adds the times whose stack has come by now. 0 or a negative errno. */
int times_add_early(struct times *times, struct tally *tally);
/* At the end: times whose stack has not come are lost. */
void times_lose_early(struct times *times, struct tally_losses *losses);
void times_clear_places(struct times *times);

/* ---- times_absences.c ---- */

/* Adds the part of absences before `now` that was not added yet. 0 or a negative errno. */
int times_add_absences(struct times *times, uint64_t now, bool final, struct tally *tally);
void times_clear_absences(struct times *times);

#endif
