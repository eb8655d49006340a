/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways to attach a loaded program, one system call each, and which of them this kernel has.
 * Each returns a close-on-exec descriptor, whose close detaches, or a negative errno. tracefs's
 * text files (kprobe_events, uprobe_events) are not used: what they make outlives the process.
 */
#ifndef STACKTALLY_TRIGGER_ATTACH_H
#define STACKTALLY_TRIGGER_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Newer than the headers of the distributions we build on. */
#define ATTACH_TRACE_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */

/* Where in a function a probe is. */
enum attach_point { ATTACH_ENTRY, ATTACH_RETURN };

/* Of `n` kernel functions, by address, or by symbol where `addresses` is NULL. Linux 5.18.
 */
int attach_kprobe_multi(int prog, enum attach_point point, const uint64_t *addresses,
			const char *const *symbols, uint32_t n);

/* Of one kernel function, by address, or by symbol where that is 0. */
int attach_kprobe(int prog, enum attach_point point, const char *symbol, uint64_t address);

/*
 * `n` offsets in a file. ref_ctr_offsets are offsets of USDT semaphores, 0 for none; NULL: none at
 * all. `pid` 0: in all processes. Linux 6.6.
 */
int attach_uprobe_multi(int prog, enum attach_point point, const char *path,
			const uint64_t *offsets, const uint64_t *ref_ctr_offsets, uint32_t n,
			pid_t pid);

/* One offset, with ref_ctr_offset below 4 GB. */
int attach_uprobe(int prog, enum attach_point point, const char *path, uint64_t offset,
		  uint64_t ref_ctr_offset, pid_t pid);

/* A tracepoint by its id in tracefs, through a perf event. Its close takes 100 ms. */
int attach_tracepoint(int prog, uint64_t id);

/*
 * The same with a close that returns at once: the kernel detaches later, and until then the program
 * still runs. For a few only: the kernel takes 100 ms for each, during which it completes no other
 * deferred close.
 */
int attach_tracepoint_left(int prog, uint64_t id);

/* A tracepoint by its name, without the category. */
int attach_raw_tracepoint(int prog, const char *name);

/* An fentry program, whose function was given at load. */
int attach_fentry(int prog);

/* Whether the kernel has it. */
bool have_kprobe(void);
bool have_uprobe(void);
bool have_uprobe_multi(void);
bool have_uprobe_multi_pid(void); /* and its filter is by process, not by thread */

/* Whether kprobe.multi works, tried on the first of these functions. As attach_kprobe_multi(). */
bool have_kprobe_multi(const uint64_t *addresses, const char *const *symbols, uint32_t n);

#endif
