/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers: what makes the capture program run. Each kind has a struct trigger_ops, by which the
 * session uses it, and a struct that begins with a struct trigger.
 *
 * A command makes a trigger. The session calls select() between open and load of the BPF object,
 * attach() after the load, and stop() at the end; trigger_free() releases everything, and so does
 * the end of the process. All from one thread.
 */
#ifndef STACKTALLY_TRIGGER_TRIGGER_H
#define STACKTALLY_TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpu_list.h"
#include "base/error.h"
#include "expression/event_value.h"

struct bpf_object;
struct listing;
struct trigger;

/* What a trigger uses of the filters and the kernel; filled in by the session before select(). */
struct trigger_scope {
	pid_t pid; /* the only process wanted, in our pid namespace; 0: none or several */
	struct cpu_list cpus;		  /* those wanted, borrowed; empty: all */
	bool raw_tracepoints_preemptible; /* tasks can be preempted in programs of raw tracepoints
					   */
	bool calls;			  /* returns of functions are wanted as well as entries */
	bool may_ask;	     /* programs can ask the kernel what is mapped where, and are to */
	bool asks;	     /* values of events are asked for: see values() */
	bool still;	     /* nothing that is measured runs, so no program is needed */
	bool counts_refused; /* the kernel counts events for which perf's programs were not run */
};

/* Frames of tracing itself that kernel stacks may begin with (kernel/tracepoint_frames.h). */
enum trigger_frames {
	TRIGGER_FRAMES_NONE,
	TRIGGER_FRAMES_TRACEPOINT,     /* a tracepoint, through perf */
	TRIGGER_FRAMES_RAW_TRACEPOINT, /* a raw tracepoint: also the program and what calls it */
};

/* What a sampling event must have delivered on a CPU since it was opened there. */
struct trigger_due {
	uint64_t samples;      /* by its own count; 0 where that does not tell */
	uint64_t enabled_ns;   /* that it was enabled */
	uint64_t throttled_ns; /* of that, while the kernel had throttled it */
};

struct trigger_ops {
	/*
	 * stop() returns when no capture is running any more. Without it, one may still be, and
	 * the session waits for a grace period.
	 */
	bool stop_waits;
	/*
	 * Several captures may be under way on one CPU: of threads that are preempted in them, or
	 * of programs that interrupt each other. Otherwise the kernel runs one at a time: perf's
	 * (of clocks, kprobes, kprobe.multi and tracepoints; bpf_prog_active) and, since Linux 6.1,
	 * a raw tracepoint's. Before, that may run nested in itself, even where it holds a lock of
	 * the ring buffer; without a second slot the nested one returns before it gets to that
	 * lock.
	 */
	bool meet;
	/* Sets autoload, and attach types, of the programs in bpf/triggers.bpf.h that are to run.
	 */
	int (*select)(struct trigger *trigger, struct bpf_object *object, struct error *err);
	/* Attaches the programs, or detaches all that it attached and fails. */
	int (*attach)(struct trigger *trigger, struct bpf_object *object, struct error *err);
	/*
	 * Begins what takes stop() long, and returns at once. The programs are disarmed by then.
	 * NULL where stop() takes no time.
	 */
	void (*stop_begin)(struct trigger *trigger);
	/*
	 * Ends all events, except for tracepoints that the kernel is left to detach
	 * (attach_tracepoint_left()); the session has disarmed their program.
	 */
	void (*stop)(struct trigger *trigger);
	void (*free)(struct trigger *trigger);
	/* Called every second while attached, to follow CPUs that come and go; may be NULL. */
	void (*tick)(struct trigger *trigger);
	/* The number of probes attached, for stackcount's "Tracing %d functions". */
	uint32_t (*n_attached)(const struct trigger *trigger);
	/* A borrowed descriptor of the file whose code it probes, open for reading; may be NULL. */
	int (*file)(const struct trigger *trigger);
	/* How often the kernel throttled the event so far; may be NULL. */
	uint64_t (*throttled)(struct trigger *trigger);
	/* ns that CPUs were not sampled after they had come online, at most; may be NULL. */
	uint64_t (*unsampled)(const struct trigger *trigger);
	/*
	 * What was due on each CPU so far, by its number; `n_cpus` is above all of them. Returns
	 * the ns from one sample to the next, 0 if samples do not come by time. May be NULL: not
	 * known.
	 */
	uint64_t (*due)(struct trigger *trigger, struct trigger_due *due, uint32_t n_cpus);
	/* Events for which the kernel ran no program, if it does not count them; may be NULL. */
	uint64_t (*unseen)(const struct trigger *trigger);
	/*
	 * The values of the events, or of their returns, as the programs that select() chose see
	 * them; they live as long as the trigger. 0 or a negative errno with `err` set. May be
	 * NULL: there are none.
	 */
	int (*values)(struct trigger *trigger, bool of_returns, struct event_values *ret_values,
		      struct error *err);
	/*
	 * Tells what attach() would probe (trigger/listing.h); before select(). 0 or a negative
	 * errno with `err` set. NULL: triggers that no pattern makes.
	 */
	int (*list)(const struct trigger *trigger, const struct listing *listing,
		    struct error *err);
};

struct trigger {
	const struct trigger_ops *ops;
	struct trigger_scope scope;
	char event[128];   /* its name in reports: "cpu-clock", "t:sched:sched_switch" */
	char instead[320]; /* "" or what may be called in place of it, as a command line has it */
	uint64_t rate;	   /* events a second on a CPU, some more or less; 0: any number */
	bool user_entry;   /* fires at the entry of user functions: WIRE_USER_ENTRY */
	enum trigger_frames frames; /* final when select() returns */
	const char *unit;   /* of --sum: "bytes"; NULL: not known, or none. See asked_compile() */
	bool walks_kernel;  /* its program walks the kernel stack by tables */
	bool hides_refused; /* events for which perf's programs were not run cannot be counted, as
			       the kernel hides its addresses; final when attach() returns */
};

/* May be NULL. */
void trigger_free(struct trigger *trigger);

#endif
