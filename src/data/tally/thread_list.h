/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of threads beside their stacks, for --dump: plain data.
 */
#ifndef STACKTALLY_TALLY_THREAD_LIST_H
#define STACKTALLY_TALLY_THREAD_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/tally.h"

#define THREAD_WAIT_SIZE     320
#define THREAD_NO_STACK_SIZE 96

struct listed_thread {
	uint32_t tgid, tid;
	char comm[TALLY_COMM_SIZE];  /* NUL-padded, maybe without a NUL */
	char state;		     /* as in /proc/TID/stat, at the end: 'S', 'D', 'T' ... */
	bool unread;		     /* it was to be walked asleep, but never slept */
	bool stayed;		     /* it was off the CPU all the time; only then: */
	uint64_t away_ns;	     /* ... for how long, also before; 0: not known */
	char wait[THREAD_WAIT_SIZE]; /* ... "in read of fd 3", untrusted; "": not known */
	uint32_t waits_for;	     /* ... for which thread of its process; 0: not known */
	bool in_cycle;		     /* ... and that one, in the end, for this */
	uint64_t ran_ns, blocked_ns, ready_ns; /* of the measurement; ready: waited for a CPU */
	char no_stack[THREAD_NO_STACK_SIZE];   /* why its stack is not known; "": it is */
};

struct thread_list {
	struct listed_thread *threads;
	uint32_t n, capacity;
	uint64_t took_ns; /* how long the measurement was */
};

/* Appends a copy. 0 or -ENOMEM. */
int thread_list_add(struct thread_list *list, const struct listed_thread *thread);
void thread_list_clear(struct thread_list *list);
/* Orders by process and thread. */
void thread_list_sort(struct thread_list *list);
/* In a sorted list; NULL: it is not there. */
struct listed_thread *thread_list_find(const struct thread_list *list, uint32_t tgid, uint32_t tid);
/* In a sorted list: sets `in_cycle`. Returns how many threads wait for each other in cycles. */
uint32_t thread_list_find_cycles(struct thread_list *list);

#endif
