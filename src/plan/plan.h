/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line comes down to: pure data. The commands fill it, run() and the session
 * carry it out. Strings and lists are owned by whoever parsed the command line.
 */
#ifndef STACKTALLY_PLAN_PLAN_H
#define STACKTALLY_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_list.h"

/* Which events count. All given conditions must hold; lists are OR-ed in themselves. */
struct plan_filter {
	struct id_list tgids, tids; /* of our pid namespace */
	bool follow_forks;	    /* --children: what the tgids fork counts too */
	int cpu;		    /* -1: all */
	bool include_idle;
	const char *name;		  /* --name: a comm with wildcards, or NULL */
	const char *cgroup;		  /* --cgroup: a directory of cgroup2, or NULL */
	const char *cgroupmap, *mntnsmap; /* pinned BPF maps, or NULL */
};

/* --unwind: how user stacks are walked. */
enum plan_unwind {
	PLAN_UNWIND_AUTO, /* by CFI, by frame pointers in code that has none but keeps those */
	PLAN_UNWIND_CFI,
	PLAN_UNWIND_FP,
	PLAN_UNWIND_NONE, /* only the function that was hit */
};

struct plan_output {
	const char *path;   /* NULL: stdout */
	const char *format; /* a writer's name, or "recording" */
};

struct plan {
	struct plan_filter filter;
	bool user, kernel;		   /* which stacks to capture */
	uint32_t kernel_depth, user_depth; /* frames kept of a stack */
	enum plan_unwind unwind;
	uint64_t unwind_memory; /* bytes of kernel memory for unwinding tables */
	bool per_thread, per_cgroup;
	uint32_t hash_storage;	/* --hash-storage-size; 0: as much as it takes */
	uint32_t stack_storage; /* --stack-storage-size; 0: as much as it takes */
	double duration;	/* seconds; 0: until interrupted */
	double interval;	/* seconds; 0: one report at the end */
	const char *live;	/* where to serve a page meanwhile; NULL: not; "": anywhere here */
	double tick;		/* seconds between looks at a running measurement; 0: none */
	bool tui;		/* looks are shown in the terminal */
	bool progress;		/* a line on stderr tells how far it is */
	char *const *command;	/* NULL, or what to run */
	bool force;		/* run even on kernels that may hang */
	bool inlines, lines;	/* of the symbolizer */
	const char *diff;	/* what to compare with, or NULL */
	const struct plan_output *outputs;
	uint32_t n_outputs;
};

#endif
