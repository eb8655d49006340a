/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers on sites in one file's code, which user functions and USDT probes share: one
 * uprobe.multi link where the kernel has it (Linux 6.6), else a uprobe for each site.
 */
#ifndef STACKTALLY_TRIGGER_SITES_H
#define STACKTALLY_TRIGGER_SITES_H

#include "trigger/attach.h"
#include "trigger/library.h"
#include "trigger/listing.h"
#include "trigger/probes.h"
#include "trigger/usdt_arguments.h"
#include "trigger/value_list.h"

struct site {
	const char *name;
	uint64_t offset;       /* in the file */
	uint64_t semaphore;    /* file offset of the USDT semaphore, or 0 */
	bool more;	       /* one more site of the function before */
	bool emulated;	       /* see probe_emulated() */
	const char *arguments; /* of a USDT probe: struct event_value, one after another, packed */
	uint32_t n_arguments;
	/* For -l, or NULL; they live as long as the name. */
	const char *version, *readable; /* as of struct function */
	const char *argument_text;	/* as the note has the arguments */
};

struct pool;

/* A program that runs at each site. */
struct site_program {
	const char *name; /* in bpf/triggers.bpf.h or bpf/entry.bpf.c */
	enum attach_point point;
};

#define SITE_PROGRAMS_MAX 3

struct sites {
	struct probes probes; /* first */
	struct library library;
	struct site *items;
	uint32_t n;
	struct pool *names; /* owns the items' names */
	bool inside;	    /* registers there are not those of an entry */
	/* What runs there; none: what counts events, or times calls if the scope says so. */
	struct site_program programs[SITE_PROGRAMS_MAX];
	uint32_t n_programs;
	/* Set by select() and attach(). */
	uint64_t *offsets, *semaphores;
	bool at_once;
	pid_t pid;
	int program; /* that attach() is at, and where */
	enum attach_point point;
	struct value_list values, returned; /* of events; empty until they are asked for */
	/* USDT arguments that are at different places at different sites; else NULL. */
	struct event_value_site *arguments[USDT_ARGUMENTS_MAX];
};

/* Takes over the library, the items and the names even when it fails. 0 or -ENOMEM. */
int sites_trigger_new(const struct trigger_ops *ops, struct library *library, struct site *items,
		      uint32_t n, struct pool *names, struct probes **ret_probes,
		      struct error *err);

/* These are trigger_ops. */
int sites_select(struct trigger *trigger, struct bpf_object *object, struct error *err);
int sites_attach(struct trigger *trigger, struct bpf_object *object, struct error *err);
void sites_free(struct trigger *trigger);
int sites_file(const struct trigger *trigger);

/* Tells a site, whose pattern is `prefix` and its name, for -l. */
void sites_list(const struct site *site, const char *prefix, const struct listing *listing);

/* A usage error if the file's code has 32 bits, whose arguments are not in registers. */
int sites_check_64(const struct sites *sites, struct error *err);

#endif
