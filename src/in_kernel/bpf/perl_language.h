/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Perl: what user space tells of the interpreter's structures, and what walks of
 * its stacks keep. Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_PERL_LANGUAGE_H
#define STACKTALLY_BPF_PERL_LANGUAGE_H

#include <linux/types.h>

#include "bpf/unwind_walk.h"

/* Structures of Perl: offsets in bytes, and values of its headers. */
struct wire_perl {
	/*
	 * Address in the file. With threads: the key of the thread's interpreter; without: the
	 * interpreter, which is the first of its variables.
	 */
	__u64 state;
	__u64 main;	 /* ... of perl_run(), which runs the main program, ... */
	__u32 main_size; /* ... and its bytes */
	/* Offsets in an interpreter. */
	__u16 stackinfo, curcop, op, top_env, interp_file, savestack;
	/* Kinds of operations. */
	__u16 op_leavesub, op_nextstate;
	/* Offsets in a stack of contexts. */
	__u8 si_contexts, si_previous, si_top, si_type, si_main;
	__u8 si_sub; /* 0: it does not tell its innermost sub */
	/* A context: the cx_is_ are kinds, the cx_has_ flags beside the kind. */
	__u8 cx_size, cx_type, cx_saved, cx_cop, cx_return, cx_sub, cx_depth, cx_required;
	__u8 cx_kinds, cx_is_block, cx_is_sub, cx_is_eval, cx_is_defer;
	__u8 cx_has_copy, cx_has_text, cx_has_block;
	__u8 env_previous; /* of what a handler of exceptions has on the C stack */
	__u8 op_type, cop_file, cop_line;
	/* Offsets in any value, in code; bits of the flags of code. */
	__u8 sv_flags, sv_value, sv_types, sv_is_code;
	__u8 cv_stash, cv_start, cv_root, cv_gv, cv_file, cv_sequence, cv_flags, cv_depth;
	__u8 cv_named_bit, cv_lexical_bit;
	/* Offsets in a name and a package of the symbol table, in a string there. */
	__u8 gv_stash, gv_name, gp_effective, hv_named_bit, hv_name, hv_n_names;
	__u8 hv_max; /* not 0: the two before are behind the values that there is room for */
	__u8 hek_hash, hek_text;
	__u8 has_threads;
	__u8 reserved[6];
};

_Static_assert(sizeof(struct wire_perl) == 96, "no padding");

/* The state of a walk of Perl's contexts (languages/perl.bpf.h). */
struct perl_walk {
	__u64 state;		 /* address of the thread's interpreter */
	__u64 contexts, context; /* of the stack of contexts: the outermost one, and the next one */
	__u64 previous_stack;	 /* the stack of contexts before; 0: none */
	__u64 env;		 /* the innermost handler that the native walk has not come to */
	__u64 first_sp;		 /* of the innermost native frame */
	__u64 window_low;	 /* contexts are in the window from here on */
	__u64 statement;	 /* of the next function: address of the one it is at */
	__s32 innermost_sub;	 /* of the stack: its number there */
	__u8 is_after_evaluator; /* the native frame is the caller of the evaluator's */
	__u8 catching;	   /* native frames that may still be between two calls that count as one */
	__u8 is_main;	   /* the staged run ends with the main program, ... */
	__u8 main_placed;  /* ... and is in the stack */
	__u8 main_is_seen; /* perl_run() is in the stack */
	__u8 again;	   /* enum perl_again */
	__u8 begun;	   /* the walk is past the innermost context */
	__u8 reserved[5];
	__u64 head;		   /* of the value that was read last: its third word */
	struct unwind_walk native; /* before its first step */
};

#endif
