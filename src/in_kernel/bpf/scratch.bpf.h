/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Scratch slots, in which captures put their stacks together: they are too large for the BPF stack.
 * A capture owns one slot from scratch_take() to scratch_release(). A slot also holds the caches of
 * what walks found, from one capture to the next. And the configuration.
 */
#ifndef STACKTALLY_BPF_SCRATCH_BPF_H
#define STACKTALLY_BPF_SCRATCH_BPF_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "arch/pt_regs.bpf.h"
#include "bpf/unwind_walk.h"
#include "bpf/wire.h"

/* User space sets it before the verifier sees it; a walk in user space has one of its own. */
#ifndef CONFIG_STORAGE
#define CONFIG_STORAGE const volatile
#endif
CONFIG_STORAGE struct wire_config config = { .user_depth = 127, .kernel_depth = 127 };

#define config_has(flag) (config.flags & (flag))

/* Whether user stacks are walked by unwinding tables. */
static __always_inline bool by_tables(void)
{
	return config_has(WIRE_USER) &&
	       (config.unwind == WIRE_UNWIND_CFI || config.unwind == WIRE_UNWIND_AUTO);
}

/*
 * Unwinding rules by address: most stacks of a program share a few callers. A sample finds the
 * processor's caches cold, and this cache touches one line where a search touches fifteen.
 */
#define CACHED_RULES 1024

/* Mappings that have a table. A search for one touches ten lines in four pages. */
#define CACHED_MAPPINGS 8

/* A copy of struct wire_mapping, valid for as long as the process has that layout. */
struct cached_mapping {
	__u64 start, end, bias;
	__u32 root, owner;
	__u32 layout; /* 0: empty */
	__u32 reserved;
};

/* Layouts of processes by process id. */
#define CACHED_LAYOUTS 4

struct cached_layout {
	__u32 tgid, layout;
	__u64 changes; /* valid while unwind_changes has this value */
	/* As in struct wire_process: the first one, and how many there are. */
	__u64 interpreter_bias;
	__u32 interpreter;
	__u32 n_interpreters;
};

/*
 * An interpreter that a walk met in a file which the kernel was asked for, in a process that user
 * space had not heard of yet, or not of that mapping.
 */
struct asked_interpreter {
	__u64 image; /* of struct wire_stack: which process, and which state of its memory */
	__u64 bias;
	__u32 number; /* 0: none */
	__u32 reserved;
};

/* Rules of the kernel's code, by address. */
#define CACHED_ORC_BITS 9

enum orc_rule_kind {
	ORC_RULE_ASK, /* none of the others: the kernel is asked for the stack */
	ORC_RULE_END,
	ORC_RULE_CALL,	    /* the return address is just below `sp` */
	ORC_RULE_REGISTERS, /* struct pt_regs is at `sp` */
	ORC_RULE_INTERRUPT, /* at `sp` is what the processor saves for an interrupt */
};

/* A decoded struct orc_entry of the kernel. */
struct orc_rule {
	__u64 address; /* that it was looked up for */
	__s16 sp_offset, bp_offset;
	__u8 from;   /* enum orc_register: of `sp`, and of `bp` in the upper half */
	__u8 kind;   /* enum orc_rule_kind */
	__u8 exact;  /* the caller was interrupted: its ip is not a return address */
	__u8 module; /* its number, from 1; 0: the core kernel */
};

/* The walk of a kernel stack: registers of the frame found last. */
struct kernel_walk {
	__u64 ip, sp, bp;
	__u32 n;       /* frames found */
	__u32 exact;   /* ip was interrupted: it is not a return address */
	__u64 context; /* address of the program's context, in bpf/switch_stack.bpf.h */
};

#define WINDOW_SIZE  1024
#define WINDOW_MOST  16		 /* bytes of one read */
#define WINDOW_APART WINDOW_SIZE /* behind the window: what was read across the end of a page */

/* A copied piece of the user stack (bpf/window.bpf.h). */
struct window {
	__u64 from; /* user address */
	__u64 size; /* bytes copied; 0: none */
	__u8 bytes[WINDOW_SIZE + WINDOW_MOST];
};

#define FRAME_BYTES 80	/* bytes of a frame that are read */
#define FRAME_BELOW 944 /* bytes that are copied below a frame, at most */

/* A copied piece of the memory that has frames; behind it a frame from the C stack. */
#define FRAME_ON_STACK (FRAME_BELOW + FRAME_CAPACITY)

struct frame_window {
	__u64 from; /* user address; 0: nothing was copied */
	__u64 last; /* where in it the last frame begins, FRAME_BELOW at most */
	__u8 bytes[FRAME_ON_STACK + FRAME_CAPACITY];
};

/*
 * Code objects that walks have met. One that another walk has met may be gone and its memory have
 * another by now, unless it has the same number; one of this walk is kept by the thread's frames.
 */
#define KNOWN_SCRIPTS 512

struct known_script {
	__u64 code;
	__u64 walk; /* that met it last: its number */
	__u64 id;
	__u64 first;	/* address of the first instruction that a frame that has begun may be at */
	__u64 seed;	/* of ids in its process */
	__u64 made;	/* struct interpreter_walk's, when its number was read */
	__u64 function; /* that the last frame ran, where functions have numbers */
	/* The code object's number, or that of `function`; 0: none, or its name is to be sent. */
	__u32 version;
	__u16 seen; /* how often `function` was met without a number */
	__u8 apart; /* how often `function` is to be read without those beside it */
	__u8 above; /* those that are read with it are above it, not below */
};

/* Ids of functions whose names were sent. */
#define SENT_SCRIPTS 512

/*
 * The walk of interpreters' frames beside that of the native ones (languages/interpreter.bpf.h): of
 * the one whose turn it is, where a process has several.
 */
struct interpreter_walk {
	/* Address in the evaluator's frame that ran the staged functions; 0: none are. See
	 * `ordered`. */
	__u64 anchor;
	__u64 next;	      /* where the run after them begins, in the interpreter's terms; 0 */
	__u64 frame;	      /* where the walk of a run is */
	__u64 bias;	      /* see struct wire_process */
	__u64 evaluator;      /* address of that function in the process, ... */
	__u64 evaluator_size; /* ... and bytes */
	__u64 generated;      /* code that only the language can step from, and bytes of it */
	__u64 generated_size;
	__u64 seed;	  /* of ids, for this process */
	__u32 n;	  /* functions of the run in frames[STAGED_AT...] */
	__u32 run_reason; /* enum wire_script_reason: why they are not known */
	__u32 language;
	__u32 reason;  /* the same for evaluator frames without a run */
	__u32 ordered; /* runs have no anchors: the evaluators' frames get them in order */
	__u32 missing; /* evaluators' frames that got none */
	__u32 number;  /* of the interpreter */
	__u32 reserved;
	union {
		struct wire_own all;
		LANGUAGES(LANGUAGE_OWN, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
	};
	/* From here on, members are shared by a process's interpreters, except NAME_walk. */
	__u64 id;	  /* of the function found last */
	__u64 name, file; /* its strings, ... */
	__u64 scope;	  /* ... and the name of its class; 0: none */
	__u64 content;	  /* tells it from functions that were at the same addresses before */
	__u64 last_name, last_file; /* strings hashed last in this walk, and their hashes */
	__u64 last_name_hash, last_file_hash;
	__u64 watched_size; /* frames so far behind the evaluator's begin are not plain ones */
	__u64 walk;	    /* counts walks */
	__u32 line;
	__u32 n_native;	    /* native frames walked */
	__u32 in_evaluator; /* the native frame that the merge is at */
	__u32 may_lock;	    /* see may_lock() */
	__u32 repeats;	    /* the walk is done again: see languages/hooks.bpf.h */
	__u32 reserved2;
	struct frame_window window;
	/* What walks of one language have; `language` is set before any of it is used. */
	union {
#define LANGUAGE_WALK(ID, id, ...) struct id##_walk id##_walk;
		LANGUAGES(LANGUAGE_WALK, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
	};
	/* None straddles two lines of a cache. */
	struct known_script codes[KNOWN_SCRIPTS] __attribute__((aligned(64)));
	__u8 code[CODE_CAPACITY];
	__u64 sent[SENT_SCRIPTS];
	struct wire_script_name message;
};

/* A whole stack copy has room beside 528 frames; beside more of them, its end is left out. */
#define SCRATCH_WORDS (WIRE_REST_MAX / 8 + WIRE_REST_PAGE / 8 + 528)

/* Functions of the next run, in frames[]: a stack copy overwrites them when the walk is over. */
#define STAGED_AT (6 * WIRE_MAX_DEPTH)
/* Behind them a struct wire_script_place that is being sent. */
#define LINES_AT (7 * WIRE_MAX_DEPTH)

/* The bytes of struct interpreter_walk, from its start, that each interpreter has of its own. */
#define INTERP_OF_ONE offsetof(struct interpreter_walk, id)

/*
 * An interpreter of a process that has several, while it is another one's turn
 * (languages/interp_turns.bpf.h).
 */
struct kept_interpreter {
	/* As in struct interpreter_walk: what tells which native frames are its own. */
	__u64 anchor, evaluator, evaluator_size, generated, generated_size;
	__u32 is_generated; /* generated code may be its own */
	__u32 watches;	    /* frames that are no interpreter's are to be seen */
	__u64 walk[INTERP_OF_ONE / sizeof(__u64)];
	union {
		LANGUAGES(LANGUAGE_WALK, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
	};
	__u64 staged[WIRE_MAX_DEPTH];
};

/* A return that is probed (bpf/return_probe.bpf.h): the kernel's struct return_instance. */
struct pending_return {
	__u64 stack;  /* where the kernel's trampoline is in the place of ... */
	__u64 caller; /* ... this address */
	__u64 next;   /* the instance of the call before; 0: there is none */
};

/*
 * What each frame needs comes first: an instruction reaches 32 KiB from the slot's pointer; farther
 * on, it takes three.
 */
struct scratch {
	struct unwind_walk walk;
	struct kernel_walk kernel;
	__u64 busy;	    /* captures that hold the slot, or try to */
	__u64 copies_left;  /* stack copies that may be sent (bpf/stack_copy.bpf.h), ... */
	__u64 copies_since; /* ... as of this time: CLOCK_MONOTONIC, ns */
	__u64 next_mapping, next_rule; /* count replacements in these caches */
	/* The user stack before this one: its place in frames[], its process's layout. */
	__u32 last_first, last_n, last_layout;
	__u32 questions;   /* that this walk may still ask the kernel (bpf/unwind_ask.bpf.h) */
	__u32 interpreter; /* of the process that is walked; 0: none */
	__u32 rest_runs;   /* words behind struct wire_rest */
	__u64 interpreter_bias;
	__u32 n_interpreters; /* that are known of the process; the one above is the first */
	__u32 turn;	      /* whose turn it is, if there are several */
	struct asked_interpreter asked;
	struct unwind_walk begun; /* the walk before its first step, where `asked` may be set */
	__u32 walk_first, walk_n; /* frames of this walk (languages/interp_frames.bpf.h) */
	struct cached_layout layouts[CACHED_LAYOUTS];
	struct cached_mapping mappings[CACHED_MAPPINGS];
	/* The task that leaves the CPU (bpf/off_cpu.bpf.h). */
	__u64 left_at, left_ran;
	__u32 left_tid;
	__u32 left_how;		 /* see ABSENCE() */
	__u64 call_key, call_sp; /* of a call that begins (bpf/calls.bpf.h) */
	struct pending_return pending;
	struct wire_count gone; /* the count that the stack takes the place of */
	struct pt_regs registers;
	struct window window;
	struct wire_stack stack;
	__u64 frames[SCRATCH_WORDS]; /* both stacks, or one and a stack copy */
	/* No rule straddles two lines of a cache. */
	struct unwind_cached_rule rules[CACHED_RULES] __attribute__((aligned(64)));
	struct orc_rule orc_rules[1 << CACHED_ORC_BITS];
	struct wire_event event; /* with expressions about it */
	struct interpreter_walk interp;
	struct kept_interpreter kept[WIRE_PROCESS_INTERPRETERS];
} __attribute__((aligned(64)));

_Static_assert(SCRATCH_WORDS >= 2 * WIRE_MAX_DEPTH, "two stacks have room");
_Static_assert(SCRATCH_WORDS >= LINES_AT + 4 + WIRE_LINES_MAX / 8 + 1, "a table of lines has room");

/*
 * One for each CPU, by its number, then `config.spares` that all CPUs share. A per-CPU map would
 * limit values to 32 KiB, and before Linux 6.10 look them up with a call, not inline. A mappable
 * array begins at a page, and so at a line of a cache.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

/*
 * Takes this CPU's slot or, if another capture on this CPU has it, a spare one, and gives its key
 * in the map; NULL when none is free. A capture that first adds itself and then finds that it is
 * alone has the slot to itself, also where another CPU tries to take it; this needs no atomic that
 * returns a value, which Linux has for BPF since 5.12 only.
 */
static __always_inline struct scratch *scratch_take(__u32 *ret_number)
{
	__u32 cpu = bpf_get_smp_processor_id(), key = cpu;

	for (__u32 i = 0; i <= WIRE_SPARE_TRIES && i <= config.spares; i++) {
		struct scratch *slot;

		if (i > 0)
			key = config.cpus + (cpu + i) % config.spares;
		slot = bpf_map_lookup_elem(&scratch, &key);
		if (!slot)
			break;
		__sync_fetch_and_add(&slot->busy, 1);
		if (*(volatile __u64 *)&slot->busy == 1) {
			*ret_number = key;
			return slot;
		}
		__sync_fetch_and_add(&slot->busy, (__u64)-1);
	}
	return NULL;
}

/*
 * The slot with that number, as bpf_map_lookup_elem() gives it, which the kernel puts in place of
 * its call: for each such place it moves all instructions behind it, and looks at all jumps. So
 * functions that are not called for each frame share a place, which takes a call of some ns.
 */
static __attribute__((noinline, unused)) struct scratch *seldom_slot(__u32 number)
{
	return bpf_map_lookup_elem(&scratch, &number);
}

/*
 * Whether a capture may update a map whose updates take a lock. It may in its CPU's own slot: no
 * other capture is in progress on the CPU then, because each takes that slot if it can. One in a
 * spare slot may be in an NMI that interrupted another capture, which has the lock. Since
 * Linux 5.11 some such updates fail, those of LRU maps wait for ever.
 */
static __always_inline bool may_lock(__u32 number)
{
	return number == bpf_get_smp_processor_id();
}

static __always_inline void scratch_release(struct scratch *slot)
{
	__sync_fetch_and_add(&slot->busy, (__u64)-1);
}

#endif
