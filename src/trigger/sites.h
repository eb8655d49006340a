/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers that are places in one file's code, for user functions and USDT probes alike: one
 * uprobe.multi link where the kernel has it, else one uprobe for each place.
 */
#ifndef STACKTALLY_TRIGGER_SITES_H
#define STACKTALLY_TRIGGER_SITES_H

#include "trigger/library.h"
#include "trigger/probes.h"

struct site {
	const char *name;
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset of the counter that turns the probe on, or 0 */
};

struct pool;

struct sites {
	struct probes probes; /* first */
	struct library library;
	struct site *items;
	uint32_t n;
	struct pool *names; /* the names are here */
	/* The rest is filled in by choose() and attach(). */
	uint64_t *offsets, *semaphores;
	bool at_once;
	pid_t pid;
	int program;
};

/* Takes over the library, the items and the names, whether it succeeds or not. */
int sites_trigger_new(const struct trigger_ops *ops, struct library *library, struct site *items,
		      uint32_t n, struct pool *names, struct probes **ret_probes,
		      struct error *err);

int sites_select(struct trigger *trigger, struct bpf_object *object, struct error *err);
int sites_attach(struct trigger *trigger, struct bpf_object *object, struct error *err);
void sites_free(struct trigger *trigger);

#endif
