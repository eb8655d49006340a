/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the events of tracepoints that reach no program of perf: while one runs on a CPU, or one
 * of a kprobe, the kernel refuses others there, such as that of an NMI. Linux before 6.7 does not
 * count them. It refuses no program of a raw tracepoint, and ours looks at the kernel's variable.
 */
#ifndef STACKTALLY_TRIGGER_REFUSALS_H
#define STACKTALLY_TRIGGER_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct event;
struct refusals;

/* The program, in bpf/entry.bpf.c: to be loaded with the object. */
#define REFUSALS_PROGRAM "on_refusal"

/*
 * Counts from now on, until refusals_free(); nothing where the kernel hides its addresses, and not
 * what has no raw tracepoint. Reads /proc/kallsyms. NULL: out of memory.
 */
struct refusals *refusals_new(const struct bpf_object *object, const struct event *events,
			      uint32_t n);
/* Whether it counts nothing because the kernel hides its addresses. May be NULL: then false. */
bool refusals_hidden(const struct refusals *refusals);
/* May be NULL: then 0. */
uint64_t refusals_count(const struct refusals *refusals);
/* May be NULL. */
void refusals_free(struct refusals *refusals);

#endif
