/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What triggers of many probes have in common: attaching them, all at once where the kernel can,
 * else one by one, and detaching them. Probes that the kernel cannot set are left out; an error
 * that would hit the other probes too fails the whole. Descriptors hold all attachments, so they
 * end with the process in any case.
 */
#ifndef STACKTALLY_TRIGGER_PROBES_H
#define STACKTALLY_TRIGGER_PROBES_H

#include "trigger/spec.h"
#include "trigger/trigger.h"

#define PROBES_NOTES_MAX 8

struct probes {
	struct trigger trigger; /* first */
	spec_progress_fn progress;
	void *progress_context;
	int *fds; /* links, perf events, or maps that hold perf events */
	uint32_t n_fds, fds_capacity;
	struct detach *detach; /* what probes_detach_begin() began */
	uint32_t n_attached;
	uint32_t n_left_out;
	char left_out[400]; /* names of the first that were left out, and why */
	char *notes[PROBES_NOTES_MAX];
	uint32_t n_notes;
};

/* The probes to attach. */
struct probes_source {
	uint32_t n;
	bool at_once; /* attach() takes any range, else one probe at a time */
	/* Returns a descriptor or a negative errno. */
	int (*attach)(const void *context, uint32_t from, uint32_t n);
	const char *(*name)(const void *context, uint32_t i);
	const void *context;
};

/* 0, or a negative errno with nothing attached: -ENOENT when all probes had to be left out. */
int probes_attach(struct probes *probes, const struct probes_source *source, struct error *err);

/* As probes_attach(), for one more probe on each of what `probes` has: these are not counted again.
 */
int probes_attach_more(struct probes *probes, const struct probes_source *source,
		       struct error *err);

/*
 * Detaches. When it returns no program of these probes will begin any more, except for those of
 * attach_tracepoint_left(). This takes long for probes that were attached one by one, so the
 * session disarms the programs first.
 */
void probes_detach(struct probes *probes);

/* Begins to detach, in threads, and returns at once. Progress is shown in probes_detach() only. */
void probes_detach_begin(struct probes *probes);

/* Notes a match that is not attached; call it before or while attaching. */
void probes_leave_out(struct probes *probes, const char *name, const char *why);

/* Adds a line that says what is counted and what is not; out of memory or places, it is dropped. */
void probes_note(struct probes *probes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Detaches, and frees what the head owns, not the head itself. */
void probes_clear(struct probes *probes);

/* The n_attached() of trigger_ops. */
uint32_t probes_n_attached(const struct trigger *trigger);

/*
 * Whether `n` probes may be attached: up to BCC_PROBE_LIMIT of the environment; without it any
 * number at once, and 1000 (bcc's default) one by one, since each takes a descriptor and, at its
 * end, a wait for all CPUs. 0, -E2BIG, or -EINVAL for a limit that is no number.
 */
int probes_check_limit(uint32_t n, bool at_once, struct error *err);

#endif
