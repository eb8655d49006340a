/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways to hang a loaded program on something, as one system call each, and which of them
 * this kernel has. Every one returns a close-on-exec descriptor that holds the attachment, or a
 * negative errno. Never the text interface of tracefs: what it makes outlives the process.
 */
#ifndef STACKTALLY_TRIGGER_ATTACH_H
#define STACKTALLY_TRIGGER_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Values newer than the headers of the distributions we build on. */
#define ATTACH_TRACE_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */

/* By address, or by symbol where `addresses` is NULL. Linux 5.18. */
int attach_kprobe_multi(int prog, const uint64_t *addresses, const char *const *symbols,
			uint32_t n);

/* The entry of one kernel function, by address, or by symbol where that is 0. */
int attach_kprobe(int prog, const char *symbol, uint64_t address);

/* Offsets in a file; ref_ctr_offsets may be NULL. `pid` 0: in all processes. Linux 6.6. */
int attach_uprobe_multi(int prog, const char *path, const uint64_t *offsets,
			const uint64_t *ref_ctr_offsets, uint32_t n, pid_t pid);

int attach_uprobe(int prog, const char *path, uint64_t offset, uint64_t ref_ctr_offset, pid_t pid);

/* A tracepoint by the id that tracefs shows, through a perf event. To close that takes 100 ms. */
int attach_tracepoint(int prog, uint64_t id);

/*
 * The same, to be closed at once: the kernel is left to wait, and until it has, the program runs.
 * For a few only. It takes 100 ms for each, and meanwhile closes nothing else that was left to it.
 */
int attach_tracepoint_left(int prog, uint64_t id);

/* A tracepoint by its name, without the category. */
int attach_raw_tracepoint(int prog, const char *name);

/* A loaded tracing program with its target chosen at load. */
int attach_fentry(int prog);

/* What the kernel has. */
bool have_kprobe(void);
bool have_uprobe(void);
bool have_uprobe_multi(void);
bool have_uprobe_multi_pid(void); /* and its filter takes processes, not threads */

/*
 * Whether kprobe.multi works, tried on one of these functions in turn: by address, or by symbol
 * where `addresses` is NULL.
 */
bool have_kprobe_multi(const uint64_t *addresses, const char *const *symbols, uint32_t n);

#endif
