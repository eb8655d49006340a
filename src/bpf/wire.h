/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * All that crosses between the kernel side and user space: configuration, records, counters.
 * Fixed widths, no pointers, no padding that is not spelled out; both sides assert the sizes.
 */
#ifndef STACKTALLY_BPF_WIRE_H
#define STACKTALLY_BPF_WIRE_H

#include <linux/types.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define WIRE_COMM_SIZE 16   /* TASK_COMM_LEN */
#define WIRE_MAX_DEPTH 1024 /* frames a side: kernel and user each */
#define WIRE_EPOCHS    2
/*
 * Captures that may be under way on one CPU. Those in the kernel nest: a task, two kinds of
 * interrupt, NMI. Those of user probes are preempted too where the kernel is preemptible, by
 * as many threads as run there.
 */
#define WIRE_NESTED_SLOTS 4
#define WIRE_MAX_SLOTS	  16
/* Of a symbol as the kernel prints it: KSYM_SYMBOL_LEN, and what it may grow by. */
#define WIRE_SYMBOL_SIZE 1024

enum wire_flags {
	WIRE_USER = 1 << 0,	     /* capture user stacks */
	WIRE_KERNEL = 1 << 1,	     /* capture kernel stacks */
	WIRE_IDLE = 1 << 2,	     /* count the idle task too */
	WIRE_PER_THREAD = 1 << 3,    /* keep thread ids apart */
	WIRE_CGROUP_ID = 1 << 4,     /* keep cgroups apart */
	WIRE_FILTER_TGID = 1 << 5,   /* only tasks whose process is in `tgids` */
	WIRE_FILTER_TID = 1 << 6,    /* only tasks that are in `tids` */
	WIRE_FILTER_CGROUP = 1 << 7, /* only tasks under the cgroup in `cgroup` */
	WIRE_FILTER_CGROUPMAP = 1 << 8,
	WIRE_FILTER_MNTNSMAP = 1 << 9,
	WIRE_FILTER_CPU = 1 << 10,
	WIRE_OWN_PIDNS = 1 << 11,    /* ids are those of the pid namespace `pidns_inum` */
	WIRE_FOLLOW_FORKS = 1 << 12, /* children of a process in `tgids` are put there too */
	WIRE_USER_ENTRY = 1 << 13,   /* user probes at function entry: the caller is at [sp] */
};

/* How user stacks are walked. */
enum wire_unwind {
	WIRE_UNWIND_FP,	  /* the kernel's way: the chain of frame pointers, whoever keeps it */
	WIRE_UNWIND_CFI,  /* by tables made of call frame information (bpf/unwind_wire.h) */
	WIRE_UNWIND_AUTO, /* and by frame pointers in code that has none but is known to keep them
			   */
	WIRE_UNWIND_NONE, /* not at all: the function that was hit is all */
};

/* Set once, before the programs are loaded. */
struct wire_config {
	__u32 flags;	  /* enum wire_flags */
	__u32 user_depth; /* frames, 1..WIRE_MAX_DEPTH */
	/* Frames kept and what delivered the event, which user space takes away. */
	__u32 kernel_depth;
	__u32 cpus;	  /* all CPUs' numbers are below */
	__u32 cpu;	  /* with WIRE_FILTER_CPU */
	__u32 pidns_inum; /* with WIRE_OWN_PIDNS */
	__u64 seed[2];	  /* of the stack hash: random, so that nobody can aim for collisions */
	__u32 slots;	  /* scratch slots a CPU, 1..WIRE_MAX_SLOTS */
	__u32 sets;	  /* of counts, for each CPU and epoch: a power of two */
	__u32 unwind;	  /* enum wire_unwind */
	__u32 wake_at;	  /* bytes in the ring from which on user space is woken: a quarter */
};

/* State of an entry in `tgids`. */
enum wire_member {
	WIRE_MEMBER = 1,	 /* counted */
	WIRE_MEMBER_ON_EXEC = 2, /* counted from its next exec on */
};

/* The key of the counts: a 96-bit hash over struct wire_stack from `image` on, frames included. */
struct wire_hash {
	__u64 low;
	__u64 high; /* 32 bits */
};

/*
 * The counts of stacks whose hashes have their lower bits in common, in one line of a cache. Where
 * the count is 0 there is none. A CPU has `sets` of them in a row for each epoch; first come those
 * of epoch 0, CPU after CPU.
 */
#define WIRE_WAYS 3

struct wire_counts {
	__u64 low[WIRE_WAYS];
	__u64 count[WIRE_WAYS];
	__u32 high[WIRE_WAYS];
	__u32 reserved;
};

/* The kind of a record is at the same place in all. */
enum wire_kind {
	WIRE_KIND_STACK, /* counted in the set of its hash on the CPU where it was seen */
	WIRE_KIND_EVENT, /* a stack that counts one event by itself: the sets were in use */
	WIRE_KIND_COUNT, /* struct wire_count: what a stack had counted when it had to make way */
	/*
	 * The walk of the user stack ended for want of a table or a mapping: struct wire_rest and
	 * the bytes of the stack follow the frames, so that user space can walk on. It is one
	 * event, counted by nobody else; its hash is not set.
	 */
	WIRE_KIND_UNFINISHED,
};

enum wire_stack_flags {
	WIRE_STACK_KERNEL_CUT = 1 << 0, /* more kernel frames than kernel_depth */
	WIRE_STACK_USER_CUT = 1 << 1,	/* more user frames than user_depth */
	WIRE_STACK_ASSUMED = 1 << 2,	/* a register was taken to be unchanged by a callee */
};

/*
 * A stack as it crosses, mostly once for each epoch and CPU where it is seen: the key it is
 * counted under, whose it is, and its frames, kernel then user, leaf first, used ones only.
 */
struct wire_stack {
	struct wire_hash hash;
	__u64 time;   /* CLOCK_MONOTONIC, ns, when it was sent */
	__u32 epoch;  /* 0 or 1: where it is counted */
	__u32 kind;   /* enum wire_kind */
	__u64 image;  /* tells address spaces of one process id apart: see image_cookie() */
	__u32 tgid;   /* 0 when the task is not in our pid namespace, or is the idle task */
	__u32 tid;    /* 0 unless WIRE_PER_THREAD */
	__u64 cgroup; /* 0 unless WIRE_CGROUP_ID */
	char comm[WIRE_COMM_SIZE];
	__u16 n_kernel;
	__u16 n_user;
	__u16 flags; /* enum wire_stack_flags */
	__u8 end;    /* enum wire_end: how the user stack's walk ended */
	__u8 reserved2;
	/* __u64 frames[n_kernel + n_user] follow */
};

struct wire_count {
	struct wire_hash hash;
	__u64 count;
	__u32 epoch;
	__u32 kind; /* enum wire_kind */
};

/* Where the walk ended, with `size` bytes of the stack from its stack pointer on behind it. */
struct wire_rest {
	__u32 size;
	__u32 reserved;
	struct unwind_walk walk;
};

#define WIRE_REST_MAX  65536 /* bytes of a stack */
#define WIRE_REST_PAGE 4096  /* they are read page by page: the last one may not be there */

#define WIRE_HASH_FROM 32 /* offset of the first hashed byte: `image` */

/*
 * Per CPU; user space adds them up. Every event is in the counts, was sent as one (WIRE_KIND_EVENT,
 * `unfinished`), or is in one of lost_*.
 */
struct wire_counters {
	__u64 events;	     /* passed the filters */
	__u64 lost_ring;     /* no room in the ring for a stack to be sent: not counted */
	__u64 lost_nested;   /* more captures nested on one CPU than there are slots */
	__u64 lost_children; /* children not followed, for want of room in `tgids`: no events */
	__u64 unfinished;    /* sent as WIRE_KIND_UNFINISHED: not counted */
	__u64 withheld;	     /* would have been, but too many were: counted as they ended */
	__u64 counting;	     /* no counter: captures of this CPU at its sets of counts */
	__u64 reserved;
};

/* What functions return to that are traced: of its own return probes, and of ftrace's graph. */
#define WIRE_ORC_HOOKS 2

/*
 * Where the kernel has its unwinding tables (ORC), by the names of their symbols; 0 where it is not
 * known. `n` is set last.
 */
struct wire_orc {
	__u64 ips; /* __start_orc_unwind_ip: of an entry each, __s32 relative to itself, sorted */
	__u64 entries;	/* __start_orc_unwind: struct orc_entry */
	__u64 text;	/* _stext */
	__u64 text_end; /* _etext */
	__u64 hooks[WIRE_ORC_HOOKS];
	/* schedule(), whose entry is as any C function's: tells whether tables are read rightly. */
	__u64 function;
	__u32 n;	 /* entries */
	__u32 n_modules; /* of the table of those, sorted by address; set before n */
};

/* A module that was loaded when it was asked for. Where one is not known the kernel is asked. */
#define WIRE_MAX_MODULES 255

struct wire_module {
	__u64 start;  /* of its text */
	__u64 end;    /* exclusive; as if all its parts lay there: see module_has() */
	__u64 module; /* struct module */
	__u64 ips;    /* as above. If `module` has others, it is not there any more. */
};

/* One question to the kernel about its symbols, and the answer (bpf/kernel_symbol.bpf.c). */
struct wire_symbol {
	__u64 address;
	char text[WIRE_SYMBOL_SIZE];
};

_Static_assert(sizeof(struct wire_config) == 56, "both sides agree on struct wire_config");
_Static_assert(sizeof(struct wire_stack) == 80, "both sides agree on struct wire_stack");
_Static_assert(__builtin_offsetof(struct wire_stack, image) == WIRE_HASH_FROM, "hash range");
_Static_assert(sizeof(struct wire_counters) == 64, "both sides agree on struct wire_counters");
_Static_assert(sizeof(struct wire_counts) == 64, "a set of counts is a line of a cache");
_Static_assert(__builtin_offsetof(struct wire_count, kind) ==
		       __builtin_offsetof(struct wire_stack, kind),
	       "a record tells its kind");

#endif
