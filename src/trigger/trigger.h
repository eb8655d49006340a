/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers: what makes the capture program run. One ops struct for each kind; the session knows
 * no kind, it only opens, attaches and stops.
 *
 * Life: a command makes a trigger from what the user asked for; the session loads the BPF
 * object with only trigger_program()'s entry, then attaches; stop ends all events: when it returns,
 * none will come any more, but for tracepoints that the kernel is left to close, whose program the
 * session has disarmed; free releases everything, and so does the death of the process.
 */
#ifndef STACKTALLY_TRIGGER_TRIGGER_H
#define STACKTALLY_TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct bpf_object;
struct bpf_program;
struct trigger;

/* What a trigger may have to know of the filters, so that the kernel can filter earlier. */
struct trigger_scope {
	pid_t pid; /* the one process asked for, in our pid namespace; 0: none or several */
	int cpu;   /* the one CPU asked for; -1: all */
	bool raw_tracepoints_preemptible; /* tasks are, in the programs of raw tracepoints */
};

/* What the kernel stacks begin with, before the code that was hit. */
enum trigger_frames {
	TRIGGER_FRAMES_NONE,
	TRIGGER_FRAMES_TRACEPOINT,     /* maybe the kernel's round of a tracepoint's probes */
	TRIGGER_FRAMES_RAW_TRACEPOINT, /* that, what calls the program, and the program */
};

struct trigger_ops {
	/*
	 * stop() returns only when no capture is under way any more; without it, one may still be
	 * finishing, and the session waits for a grace period.
	 */
	bool stop_waits;
	bool preemptible;  /* a capture may be, and the CPU given to another one */
	bool walks_kernel; /* from the event on, by bpf/kernel_walk.bpf.h; not where it is raw */
	const char *kind;  /* "clock", "kprobe", "uprobe", "tracepoint", "usdt" */
	/*
	 * Chooses which entry program(s) of bpf/entry.bpf.c serve this trigger on this kernel:
	 * called between open and load; sets autoload (and attach types) on `object`.
	 */
	int (*select)(struct trigger *trigger, struct bpf_object *object, struct error *err);
	/* Attaches the chosen program(s). On failure everything is detached again. */
	int (*attach)(struct trigger *trigger, struct bpf_object *object, struct error *err);
	/*
	 * Begins what stop() takes long for, and returns at once; the programs are disarmed. NULL
	 * where stop() takes no time.
	 */
	void (*stop_begin)(struct trigger *trigger);
	void (*stop)(struct trigger *trigger);
	void (*free)(struct trigger *trigger);
	/*
	 * Called on every tick of the loop while attached: for what changes meanwhile (CPUs that
	 * come online). May be NULL.
	 */
	void (*tick)(struct trigger *trigger);
	/* The number of probes attached, for stackcount's "Tracing %d functions". */
	uint32_t (*n_attached)(const struct trigger *trigger);
	/* Times the kernel throttled the event so far; may be NULL. */
	uint64_t (*throttled)(struct trigger *trigger);
};

/* The head of every kind's own struct. */
struct trigger {
	const struct trigger_ops *ops;
	struct trigger_scope scope; /* filled in by the session before choose() */
	char event[128];	    /* its name, for recordings and headers: "cpu-clock",
				       "t:sched:sched_switch" */
	bool user_entry;	    /* fires at the entry of user functions: WIRE_USER_ENTRY */
	enum trigger_frames frames; /* settled when choose() returns */
};

void trigger_free(struct trigger *trigger);

#endif
