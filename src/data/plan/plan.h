/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan: what a command line asks for, as plain data. The commands fill it; run() and the session
 * carry it out. It owns nothing: strings and lists live as long as the parsed options.
 */
#ifndef STACKTALLY_PLAN_PLAN_H
#define STACKTALLY_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_list.h"
#include "plan/range.h"
#include "tally/cgroup_filter.h"

/* Which events count: all given conditions must hold, of a list any element. */
struct plan_filter {
	struct id_list tgids, tids; /* of our pid namespace */
	bool follow_forks;	    /* --children: processes forked by the tgids count too */
	struct id_list cpus;	    /* -C; empty: all */
	const char *node;	    /* --node: a list of NUMA nodes, or NULL */
	const char *exe;	    /* --exe: the file that a process executes, or NULL */
	bool include_idle;
	bool self;			  /* --self: of a whole machine, our own process, too */
	const char *name;		  /* --name: a comm with wildcards, or NULL */
	const char *user;		  /* --user: a name or an id, or NULL */
	struct cgroup_filter groups;	  /* --cgroup, --service, --container, --pod */
	const char *cgroupmap, *mntnsmap; /* pinned BPF maps, or NULL */
	const char *condition;		  /* --if: of the values of an event, or NULL */
};

/* --unwind: how user stacks are walked. */
enum plan_unwind {
	PLAN_UNWIND_AUTO, /* by CFI, and by frame pointers in code without CFI that keeps them */
	PLAN_UNWIND_CFI,  /* by CFI only */
	PLAN_UNWIND_FP,	  /* by frame pointers, by the kernel */
	PLAN_UNWIND_NONE, /* not at all: only the innermost frame */
};

/* --off-cpu: the time that threads spend off the CPU is measured, not events counted. */
struct plan_off_cpu {
	bool on;
	uint64_t least_us, most_us; /* shorter and longer absences do not count */
	bool by_state;
	uint32_t state;	 /* if by_state: bits of the kernel's task states; 0: ready to run */
	uint64_t budget; /* % of each CPU's time that walks may take; 100: no limit */
	bool wakers;	 /* --wakers: with what made threads ready to run */
	/* --wall: CPUs are sampled as well, and a sample stands for so many ns; 0: they are not. */
	uint64_t sample_ns;
};

/* What is measured of calls of functions, from entry to return. */
struct plan_calls {
	bool time;	  /* --time: how long they took */
	bool returned;	  /* --sum: what they returned */
	bool outstanding; /* --outstanding, --leaks: what they allocated and is not freed */
	double older;	  /* --older: seconds that it is there already; 0: all counts */
};

/*
 * A dump samples what runs for so many seconds, or for up to the longest time as long as a thread
 * has only waited for a CPU: its stack is known once it had one.
 */
#define PLAN_DUMP_SECONDS   0.02
#define PLAN_DUMP_LONGEST   0.1
#define PLAN_DUMP_FREQUENCY 997 /* Hz */

struct plan_output {
	const char *path;   /* NULL: stdout */
	const char *format; /* a name; NULL: by the path's extension, or the default on stdout */
};

/* --push: an engine is sent the report of each interval. */
struct plan_push {
	const char *url; /* NULL: none */
	const char *auth, *ca, *spool;
	uint64_t spool_bytes;
	const char *const *labels; /* "key=value" each, checked */
	uint32_t n_labels;
	bool no_labels, no_names;
};

struct plan {
	struct plan_filter filter;
	const char *sum; /* --sum: the value of events that is added up; NULL: none */
	struct plan_off_cpu off_cpu;
	struct plan_calls calls;
	bool dump;			   /* --dump: each thread once */
	bool dump_runs;			   /* ... of threads of which some run, as was seen */
	bool user, kernel;		   /* which stacks to capture */
	uint32_t kernel_depth, user_depth; /* largest number of frames */
	uint32_t max_depth;		   /* --max-depth; 0: not given */
	enum plan_unwind unwind;
	uint64_t unwind_memory; /* bytes of kernel memory for unwinding tables */
	uint64_t memory;	/* bytes for stacks; 0: the default */
	bool per_thread, per_cgroup;
	uint32_t hash_storage;	/* --hash-storage-size; 0: no limit */
	uint32_t stack_storage; /* --stack-storage-size; 0: no limit */
	double duration;	/* seconds; 0: until interrupted */
	double interval;	/* seconds; 0: one report at the end */
	bool reload;		/* with an interval: SIGHUP ends it, and not the measurement */
	const char *live;	/* ADDR:PORT to serve; "": a free port of localhost; NULL: none */
	double tick;		/* seconds between updates of tui, live or progress; 0: none */
	double slice;		/* seconds of which counts are told apart; 0: none are */
	double keep; /* --keep: seconds of which recordings of intervals are kept; 0: none */
	struct plan_range range; /* --range: of what --from reports */
	double time_buckets;	 /* of outputs with times; 0: the default of their formats */
	bool tui;		 /* show a flame graph in the terminal */
	bool progress;		 /* show a progress line on stderr */
	char *const *command;	 /* to launch and measure; or NULL */
	int command_nice;	 /* its priority; ours is higher */
	bool force;		 /* run even on kernels that may hang */
	bool inlines, lines;	 /* look up inlined functions, source lines */
	bool no_inlines;	 /* --no-inlines: --from leaves recorded ones out */
	bool symbols;		 /* --symbols: a table of files without symbols on stdout */
	const char *debuginfo;	 /* directory of debug files, for --from; or NULL */
	bool native;		 /* keep evaluators' frames beside their programs' functions */
	bool near;		 /* guess the innermost functions of Java's compiled code */
	const char *value;	 /* --value: of the files of --from and --diff; or NULL */
	const char *diff;	 /* path of the base to compare with; or NULL */
	bool fail_if_more;	 /* than `most_growth`, in % of all counts of the base */
	double most_growth;
	struct plan_push push;
	const char *live_token; /* a file with the token of live's address; or NULL */
	const struct plan_output *outputs;
	uint32_t n_outputs;
	bool answer; /* stdout is a terminal and gets the table, as nothing else was asked for */
};

/* Whether nothing but processes with given ids is measured: none of their children. */
static inline bool plan_chosen(const struct plan *plan)
{
	return plan->filter.tgids.n && !plan->filter.follow_forks && !plan->command;
}

/* Whether calls are followed until they return. */
static inline bool plan_has_calls(const struct plan *plan)
{
	return plan->calls.time || plan->calls.returned;
}

#endif
