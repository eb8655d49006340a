/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of every trigger that consists of many probes, and how many are attached: all at
 * once where the kernel can, one by one elsewhere, without those that the kernel refuses one by
 * one, and all or nothing when it refuses for a reason that would hit the others too. Everything
 * is held by file descriptors, so that it ends with the process in any case. Knows no kind.
 */
#ifndef STACKTALLY_TRIGGER_PROBES_H
#define STACKTALLY_TRIGGER_PROBES_H

#include "trigger/spec.h"
#include "trigger/trigger.h"

struct probes {
	struct trigger trigger; /* first: ops get this one */
	spec_progress_fn progress;
	void *progress_context;
	int *fds; /* links, or perf events with the program on them */
	uint32_t n_fds, fds_capacity;
	struct detach *detach; /* under way */
	uint32_t n_attached;
	uint32_t n_left_out;
	char left_out[400]; /* the names of the first of them, and why */
};

/* What is to be attached; `attach` returns a file descriptor or a negative errno. */
struct probes_source {
	uint32_t n;
	bool at_once; /* attach() takes any range; else only one at a time */
	int (*attach)(const void *context, uint32_t from, uint32_t n);
	const char *(*name)(const void *context, uint32_t i);
	const void *context;
};

int probes_attach(struct probes *probes, const struct probes_source *source, struct error *err);

/*
 * Returns when no program of these probes will begin any more, but for those of
 * attach_tracepoint_left(). Probes that were attached one by one take long: the session disarms the
 * program first and calls this last.
 */
void probes_detach(struct probes *probes);

/* Begins that in threads, and returns at once; nothing is shown of it until probes_detach(). */
void probes_detach_begin(struct probes *probes);

/* For a match that is not to be attached; call it before or while attaching. */
void probes_leave_out(struct probes *probes, const char *name, const char *why);

/* Detaches, and frees what this head owns, not the head itself. */
void probes_clear(struct probes *probes);

/* The n_attached of every such trigger. */
uint32_t probes_n_attached(const struct trigger *trigger);

/*
 * Whether so many may be attached: BCC_PROBE_LIMIT holds where it is set, and 1000 holds where
 * they are attached one by one, each with a file descriptor and a wait for all CPUs at its end.
 */
int probes_check_limit(uint32_t n, bool at_once, struct error *err);

#endif
