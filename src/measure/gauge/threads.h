/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads in /proc that a plan's filters choose, as the BPF programs' filters do
 * (bpf/filter.bpf.h): for those that sleep when a measurement begins.
 */
#ifndef STACKTALLY_GAUGE_THREADS_H
#define STACKTALLY_GAUGE_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan/plan.h"

struct stacktally;

struct found_thread {
	uint32_t tgid, tid;
	uint64_t cgroup; /* id; 0 unless the plan keeps cgroups apart */
	char comm[16];	 /* padded with zeros */
	char state;	 /* as in /proc/TID/stat: 'R', 'S', 'D' ... */
	uint64_t ran;	 /* ns on a CPU until then */
	uint64_t turns;	 /* how often it was given one; 0: this kernel does not count them */
};

/*
 * Calls `each` for each of them until it fails. The maps of the skeleton are filled. 0, a negative
 * errno of reading /proc, or what `each` returned.
 */
int threads_each(const struct plan *plan, const struct stacktally *skeleton,
		 int (*each)(void *context, const struct found_thread *thread), void *context);

/*
 * Whether no thread of the processes runs or waits for a CPU now, and the kernel will tell of those
 * that do later. Gives the sum of their turns.
 */
bool threads_all_sleep(const struct id_list *tgids, uint64_t *ret_turns);
/* That sum now. */
uint64_t threads_turns(const struct id_list *tgids);

/* Reads a thread anew, but for `tgid` and `cgroup`; false: it is gone. */
bool threads_read(uint32_t tid, struct found_thread *ret_thread);

/* Whether it was on a CPU since it was read, or is gone. */
bool threads_has_run(const struct found_thread *thread);

/* How many threads this machine has. */
uint32_t threads_count(void);

#endif
