/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The data that crosses between the kernel side and user space: configuration, records, counters.
 * Fixed widths, no pointers, and all padding is a field; both sides assert the sizes.
 */
#ifndef STACKTALLY_BPF_WIRE_H
#define STACKTALLY_BPF_WIRE_H

#include <linux/types.h>

#include "bpf/expression_wire.h"
#include "bpf/interpreter_wire.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define WIRE_COMM_SIZE 16   /* TASK_COMM_LEN */
#define WIRE_MAX_DEPTH 1024 /* frames of a kernel stack, and of a user stack */
#define WIRE_EPOCHS    2
/* Spare scratch slots that a capture tries to take: see `spares`. */
#define WIRE_SPARE_TRIES 16
/* Bytes of a symbol as the kernel prints it: more than KSYM_SYMBOL_LEN, which grows. */
#define WIRE_SYMBOL_SIZE 1024

enum wire_flags {
	WIRE_USER = 1 << 0,	     /* capture user stacks */
	WIRE_KERNEL = 1 << 1,	     /* capture kernel stacks */
	WIRE_IDLE = 1 << 2,	     /* count the idle task too */
	WIRE_PER_THREAD = 1 << 3,    /* keep thread ids apart */
	WIRE_CGROUP_ID = 1 << 4,     /* keep cgroups apart */
	WIRE_FILTER_TGID = 1 << 5,   /* only tasks whose process is in `tgids` */
	WIRE_FILTER_TID = 1 << 6,    /* only tasks that are in `tids` */
	WIRE_FILTER_CGROUP = 1 << 7, /* only tasks in one of `cgroups` */
	WIRE_FILTER_CGROUPMAP = 1 << 8,
	WIRE_FILTER_MNTNSMAP = 1 << 9,
	WIRE_FILTER_CPU = 1 << 10,   /* only CPUs in `filter_cpus` */
	WIRE_OWN_PIDNS = 1 << 11,    /* ids are those of the pid namespace `pidns_inum` */
	WIRE_FOLLOW_FORKS = 1 << 12, /* children of a process in `tgids` are put there too */
	WIRE_USER_ENTRY = 1 << 13,   /* user probes at function entry: the caller is at [sp] */
	WIRE_NATIVE = 1 << 14,	     /* keep an evaluator's frame beside those of its functions */
	WIRE_WALL = 1 << 15,	     /* samples beside time off the CPU: WIRE_STACK_SAMPLED */
	WIRE_LINES = 1 << 16,	     /* lines of interpreted programs: struct wire_script_place */
	WIRE_NOT_SELF = 1 << 17,     /* neither the process `self` nor its children */
	WIRE_IF = 1 << 18,	     /* only events that meet expressions.condition */
	WIRE_FILTER_USER = 1 << 19,  /* only tasks of the user `user` */
	WIRE_IF_RETURNED = 1 << 20,  /* of calls: the same, when they return */
	WIRE_VALUES = 1 << 21,	     /* expressions.value is added up, of calls when they return */
	WIRE_NEAR = 1 << 22,	     /* guess what compiled code runs where that is not certain */
	WIRE_FILTER_EXE = 1 << 23,   /* only tasks whose process is in `executing` */
};

/* How user stacks are walked. */
enum wire_unwind {
	WIRE_UNWIND_FP,	  /* by frame pointers, in code that keeps none, too: as the kernel does */
	WIRE_UNWIND_CFI,  /* by tables made of call frame information (bpf/unwind_wire.h) */
	WIRE_UNWIND_AUTO, /* by tables; by frame pointers in code without CFI known to keep them */
	WIRE_UNWIND_NONE, /* not at all: only the function that was hit */
};

/* Set once, before the programs are loaded. */
struct wire_config {
	__u32 flags;	    /* enum wire_flags */
	__u32 user_depth;   /* frames, 1..WIRE_MAX_DEPTH */
	__u32 kernel_depth; /* frames, with those of the event's delivery: user space drops these */
	__u32 cpus;	    /* above the number of any CPU */
	__u32 unused_cpu;
	__u32 pidns_inum; /* with WIRE_OWN_PIDNS */
	__u64 seed[2];	  /* of the stack hash: random, so that collisions cannot be provoked */
	__u32 spares;  /* scratch slots beside one for each CPU; 0: captures on a CPU never meet */
	__u32 sets;    /* sets of counts for each CPU and epoch: a power of two */
	__u32 unwind;  /* enum wire_unwind */
	__u32 wake_at; /* user space is woken at so many bytes in the ring: a quarter of it */
	__u32 self;    /* with WIRE_NOT_SELF: the process that measures */
	__u32 address_bits; /* of user addresses; above them is a signature (PAC) */
	__u32 user;	    /* with WIRE_FILTER_USER: its id in the first user namespace */
	__u32 unused;
};

/* How time off the CPU is counted; set once, before the programs are loaded. Times are ns. */
struct wire_off_cpu_config {
	__u64 least;  /* shorter absences do not count; 0: all do */
	__u64 most;   /* longer ones do not, either */
	__u32 state;  /* bits of the kernel's task states that count */
	__u32 only;   /* enum wire_off_cpu_states */
	__u32 wakers; /* 1: who made a thread ready to run is kept, too */
	/* ns of WIRE_BUDGET_WINDOW that each CPU may spend on walks; 0: no limit */
	__u32 budget;
};

#define WIRE_BUDGET_WINDOW 10000000u /* ns */

enum wire_off_cpu_states {
	WIRE_STATES_ALL,
	WIRE_STATES_SOME,    /* those with a bit of `state` */
	WIRE_STATES_RUNNING, /* threads that were ready to run when they left */
};

#define WIRE_EXE_PATH_SIZE 256
#define WIRE_EXE_FILES	   8

/*
 * The file whose processes count. Later ones are known by the path of their exec, or by the file:
 * that of the path was maybe replaced, so there may be several.
 */
struct wire_exe {
	char paths[2][WIRE_EXE_PATH_SIZE]; /* as it was given, and without symbolic links; or "" */
	struct {
		__u64 inode, device; /* the device as the kernel has it; 0: none */
	} files[WIRE_EXE_FILES];
};

/* State of an entry in `tgids`. */
enum wire_member {
	WIRE_MEMBER = 1,	 /* counted */
	WIRE_MEMBER_ON_EXEC = 2, /* counted from its next exec on */
};

/* The key of the counts: a 96-bit hash of struct wire_stack from `image` on, with its frames. */
struct wire_hash {
	__u64 low;
	__u64 high; /* 32 bits */
};

/*
 * A set: the counts of up to WIRE_WAYS stacks whose hashes have the lower bits in common, in one
 * line of a cache. A count of 0 is a free entry. The array has the sets of epoch 0 first, CPU after
 * CPU, `sets` for each.
 */
#define WIRE_WAYS 3

struct wire_counts {
	__u64 low[WIRE_WAYS];
	__u64 count[WIRE_WAYS];
	__u32 high[WIRE_WAYS];
	__u32 reserved;
};

/* The kind of a record, which all of them have at the same offset. */
enum wire_kind {
	WIRE_KIND_STACK, /* a stack that now has an entry in the counts of the CPU it was seen on */
	WIRE_KIND_EVENT, /* a stack of one event that is in no count: the sets were in use */
	WIRE_KIND_COUNT, /* struct wire_count: the count of a stack that was evicted from its set */
	/*
	 * A stack of one event that is in no count, without a hash: the walk of the user stack
	 * ended for want of a table or a mapping. Behind the frames are struct wire_rest and a copy
	 * of the user stack, for user space to finish the walk.
	 */
	WIRE_KIND_UNFINISHED,
	WIRE_KIND_SCRIPT,  /* struct wire_script_name: a function of an interpreted program */
	WIRE_KIND_TIME,	   /* struct wire_time: times of a stack (bpf/off_cpu_wire.h) */
	WIRE_KIND_PAIR,	   /* struct wire_pair: a stack, and that of a waker */
	WIRE_KIND_PLACE,   /* struct wire_script_place: a line of an interpreted program */
	WIRE_KIND_INLINED, /* struct wire_inlined_code: optimized code of one */
	WIRE_KIND_SUM,	   /* struct wire_sum: values of a stack (bpf/calls_wire.h) */
	WIRE_N_KINDS,
};

enum wire_stack_flags {
	WIRE_STACK_KERNEL_CUT = 1 << 0, /* more kernel frames than kernel_depth */
	WIRE_STACK_USER_CUT = 1 << 1,	/* more user frames than user_depth */
	WIRE_STACK_ASSUMED = 1 << 2,	/* a register was assumed to be preserved by a callee */
	WIRE_STACK_ASKED = 1 << 3,	/* the kernel was asked for a mapping */
	WIRE_STACK_PROGRAM = 1 << 4,	/* functions of an interpreter that was known */
	WIRE_STACK_SAMPLED = 1 << 6,	/* with WIRE_WALL: its count is of samples, on a CPU */
	WIRE_STACK_WAKER = 1 << 7,	/* of a task that made another one ready to run */
	WIRE_STACK_UNREAD =
		1 << 8, /* set by user space: of a thread that slept, and was not read */
	WIRE_STACK_ASLEEP = 1 << 9, /* set by user space: the same, but read; it is no event */
};

/*
 * A stack, sent about once for each epoch and CPU where it is seen: the key of its count, its task,
 * and its frames, kernel then user, each leaf first.
 */
struct wire_stack {
	struct wire_hash hash;
	__u64 time;   /* CLOCK_MONOTONIC, ns, when it was sent */
	__u32 epoch;  /* 0 or 1: where it is counted */
	__u32 kind;   /* enum wire_kind */
	__u64 image;  /* cookie of the process image: see image_cookie(); 0: a kernel thread */
	__u32 tgid;   /* 0 when the task is not in our pid namespace, or is the idle task */
	__u32 tid;    /* 0 unless WIRE_PER_THREAD */
	__u64 cgroup; /* 0 unless WIRE_CGROUP_ID */
	char comm[WIRE_COMM_SIZE];
	__u16 n_kernel;
	__u16 n_user;
	__u16 flags; /* enum wire_stack_flags */
	__u8 end;    /* enum wire_end: how the user stack's walk ended */
	/* Languages whose functions are not those of its native frames: WIRE_UNPAIRED() of each. */
	__u8 unpaired;
	/* __u64 frames[n_kernel + n_user] follow */
};

/* The bit of a language, not LANGUAGE_NONE, in `unpaired`. */
#define WIRE_UNPAIRED(language) (1u << ((language)-1))

/* The count of a stack that was evicted. */
struct wire_count {
	struct wire_hash hash;
	__u64 count;
	__u32 epoch;
	__u32 kind; /* enum wire_kind */
};

/*
 * The walk where it ended. Behind it are the functions of interpreted programs that the walk has
 * not come to, `runs` words, and `size` bytes of the stack, from its stack pointer on.
 */
struct wire_rest {
	__u32 size;
	__u32 runs;
	struct unwind_walk walk;
	__u64 luajit_frame; /* the innermost one above the walk's end, or 0 (bpf/unwind_luajit.h) */
};

#define WIRE_REST_MAX  65536 /* bytes of a copied stack */
#define WIRE_REST_PAGE 4096  /* bytes copied at a time: the next page may not be mapped */

#define WIRE_HASH_FROM 32 /* offset of the first hashed byte: `image` */

/*
 * Per CPU; user space adds them up. Each event is either in the counts, or sent by itself
 * (WIRE_KIND_EVENT, WIRE_KIND_UNFINISHED), or in lost_ring or lost_nested.
 */
struct wire_counters {
	__u64 events;	     /* passed the filters */
	__u64 lost_ring;     /* events whose stack found no room in the ring */
	__u64 lost_nested;   /* events that found no free scratch slot */
	__u64 lost_children; /* children (not events) that found no room in `tgids` */
	__u64 unfinished;    /* sent as WIRE_KIND_UNFINISHED */
	__u64 withheld;	     /* beyond the ration of these: counted as their walks ended */
	__u64 counting;	     /* not a counter: captures that use the CPU's sets, or try to */
	__u64 fired;	     /* times that the clock's program ran, also for what is filtered out */
	__u64 fired_idle;    /* of these, where the CPU had nothing to run */
	__u64 unmet;	     /* of `events`, those that do not meet the condition: not counted */
	__u64 failed;	     /* events whose value is below 0 */
	__u64 unread;	     /* events of which a value could not be read */
};

/* Trampolines that traced functions return to: of kretprobes, and of ftrace's function graph. */
#define WIRE_ORC_HOOKS 2

/*
 * Where the kernel has its unwinding tables (ORC): addresses of the symbols named here; 0: not
 * known. `n` is set last; while it is 0, the rest is not read.
 */
struct wire_orc {
	__u64 ips; /* __start_orc_unwind_ip: sorted addresses, each an __s32 relative to itself */
	__u64 entries;	/* __start_orc_unwind: struct orc_entry */
	__u64 text;	/* _stext */
	__u64 text_end; /* _etext */
	__u64 hooks[WIRE_ORC_HOOKS];
	/* schedule(): its entry, like any C function's, shows whether the tables' form is known. */
	__u64 function;
	__u64 sched;	 /* __sched_text_start: code of the scheduler, and of what calls it */
	__u64 sched_end; /* __sched_text_end */
	__u32 n;	 /* entries */
	__u32 n_modules; /* in the map kernel_modules; set before n */
};

/* Where walks begin on kernel stacks of threads that leave their CPU (bpf/switch_stack.bpf.h). */
struct wire_switch_learned {
	__u64 place;
	__u32 checked; /* walks from there that were right */
	__u32 tries;
};

/* A module that was loaded when user space looked; the map kernel_modules is sorted by start. */
#define WIRE_MAX_MODULES 255

struct wire_module {
	__u64 start;  /* of its text */
	__u64 end;    /* exclusive, and too high for some: see module_has() */
	__u64 module; /* struct module */
	__u64 ips;    /* as in struct wire_orc; if `module` has others, it was unloaded */
};

/*
 * Events for which the kernel did not run a program of perf, because one was running on the CPU
 * (trigger/refusals.h); and addresses of the kernel's.
 */
struct wire_refusals {
	__u64 offsets;	/* __per_cpu_offset, by CPU: where its variables are */
	__u64 variable; /* bpf_prog_active, such a one: how many programs of perf run */
	__u64 count;
};

/* A look-up of a kernel symbol, and its result (bpf/kernel_symbol.bpf.c). */
struct wire_symbol {
	__u64 address;
	char text[WIRE_SYMBOL_SIZE];
};

_Static_assert(sizeof(struct wire_config) == 72, "both sides agree on struct wire_config");
_Static_assert(sizeof(struct wire_off_cpu_config) == 32, "no padding");
_Static_assert(sizeof(struct wire_stack) == 80, "both sides agree on struct wire_stack");
_Static_assert(__builtin_offsetof(struct wire_stack, image) == WIRE_HASH_FROM, "hash range");
_Static_assert(sizeof(struct wire_counters) == 96, "both sides agree on struct wire_counters");
_Static_assert(sizeof(struct wire_counts) == 64, "a set of counts is a line of a cache");
_Static_assert(__builtin_offsetof(struct wire_count, kind) ==
			       __builtin_offsetof(struct wire_stack, kind) &&
		       __builtin_offsetof(struct wire_script_name, kind) ==
			       __builtin_offsetof(struct wire_stack, kind) &&
		       __builtin_offsetof(struct wire_script_place, kind) ==
			       __builtin_offsetof(struct wire_stack, kind) &&
		       __builtin_offsetof(struct wire_inlined_code, kind) ==
			       __builtin_offsetof(struct wire_stack, kind),
	       "all records have their kind at the same offset");

#endif
