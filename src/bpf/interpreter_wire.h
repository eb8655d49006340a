/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs: what user space tells the kernel side of an interpreter, and
 * how the functions of a stack cross. docs/interpreters.md explains the walk.
 */
#ifndef STACKTALLY_BPF_INTERPRETER_WIRE_H
#define STACKTALLY_BPF_INTERPRETER_WIRE_H

#include <linux/types.h>

#include "bpf/languages.h"

/* Why the functions that an evaluator runs are not known. Values are part of the recording format.
 */
enum wire_code_reason {
	WIRE_CODE_KNOWN,
	WIRE_CODE_VERSION,	 /* an interpreter whose structures are not known */
	WIRE_CODE_FREE_THREADED, /* a build without the global lock */
	WIRE_CODE_DISAGREES,	 /* the interpreter's description of itself is another */
	WIRE_CODE_NO_STATE,	 /* the state of the thread was not found */
	WIRE_CODE_UNREADABLE,	 /* memory of the interpreter could not be read */
	WIRE_CODE_TORN,		 /* interrupted while frames were being linked */
	WIRE_CODE_UNMATCHED,	 /* no run of functions belongs to the evaluator's frame */
	WIRE_CODE_TOO_DEEP,	 /* more functions than are followed */
	WIRE_CODE_EARLY,	 /* the interpreter was not known yet when the stack was walked */
	WIRE_CODE_DELEGATED,	 /* generators that wait for the one that they delegate to */
	WIRE_CODE_BETWEEN, /* no function runs: the first has not begun, or the last is over */
	WIRE_CODE_INLINED, /* functions that the compiler inlined here are not shown */
	WIRE_N_CODE_REASONS,
};

/*
 * A frame of a stack with WIRE_FRAME_CODE is no address: in the bits of WIRE_FRAME_LANGUAGE is the
 * language, and below an id of the function, which is a hash of its process, of the address of its
 * code object and of what that refers to. Ids below WIRE_CODE_IDS are an enum wire_code_reason.
 */
#define WIRE_FRAME_CODE		  (1ull << 61)
#define WIRE_FRAME_LANGUAGE_SHIFT 56
#define WIRE_FRAME_LANGUAGE	  (0x1full << WIRE_FRAME_LANGUAGE_SHIFT)
#define WIRE_CODE_IDS		  256ull

/* How CPython links frames; chosen by version. */
enum wire_python_form {
	WIRE_PYTHON_ENTRY_FLAG,	 /* 3.11: records on the C stack; a flag in the run's first frame */
	WIRE_PYTHON_ENTRY_FRAME, /* 3.12: records on the C stack; each run begins with a frame there
				  */
	WIRE_PYTHON_FRAMES,	 /* 3.13: each run begins with a frame on the C stack */
	WIRE_PYTHON_OBJECTS,	 /* 3.10: a record on the C stack for each frame, an object */
	WIRE_PYTHON_CHAIN,	 /* 3.9: an evaluator's call for each frame, an object */
};

/* Structures of CPython: offsets in bytes. */
struct wire_python {
	/* Addresses in the file: of _PyRuntime, of the types of code and of strings, ... */
	__u64 runtime, code_type, string_type;
	/* ... and of a slot that tells where a thread's data is; 0: at the thread pointer. */
	__u64 tls_slot;
	__s32 tls_offset; /* of a thread's data: its state, if that has no key */
	/* Of _PyRuntime, or 0: the key of the threads' states, after whether there is one; ... */
	__u16 tss_key;
	__u16 current; /* ... and the state of the thread that holds the lock */
	__u8 form;     /* enum wire_python_form */
	__u8 owner_entry, owner_generator;
	__u8 code_tag; /* bits of a frame's code that are no part of the address */
	/* Of a thread's state; of a record on the C stack. */
	__u8 thread_id, top, cframe_current, cframe_previous;
	/* Of a frame. */
	__u8 frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	/* Of a code object. */
	__u8 type, code_file, code_name, code_line, code_first, code_bytes;
	__u8 code_version; /* a number that no other code object has, unless it is 0; 0: none */
	/* Of a string. */
	__u8 string_length, string_hash, string_state, string_kind_bit, string_compact_bit,
		string_ascii_bit;
	__u8 string_ascii_size, string_compact_size;
	__u8 thread_frame;   /* of a thread's state, in 3.10: its innermost frame object, ... */
	__u8 interpreter;    /* of a thread's state: that of its interpreter, ... */
	__u16 thread_record; /* ... and, in 3.10, the outermost record */
	__u8 code_lines, bytes_size, bytes_text; /* of a code object; of a string of bytes */
	__u8 frame_function;		      /* of a frame, in 3.11: the function it runs, ... */
	__u8 function_code, function_version; /* ... its code, and a number; 0: not there */
	__u16 reserved;
	/* Of _PyRuntime: the number of the main interpreter's next code object; 0: not known. */
	__u32 next_version;
	__u32 reserved2;
};

/* Structures of PHP: offsets in bytes. */
struct wire_php {
	__u64 current;	  /* address in the file: the innermost frame */
	__u64 call, link; /* ... of zend_call_function() and zend_init_func_execute_data(), ... */
	__u32 call_size, link_size; /* ... and their bytes */
	/*
	 * Where zend_call_function() has the frame that it calls the evaluator for: the register
	 * that this is an offset of, 0 if it is not known.
	 */
	__u32 held_from;
	__s32 held_at;
	__u32 top; /* flag in a frame's call information: its evaluator was called for it */
	/* Of a frame, of a function, of a class and of a string. */
	__u8 frame_function, frame_info, frame_previous, frame_instruction;
	__u8 function_name, function_scope, function_file, function_line;
	__u8 class_name;
	__u8 string_hash, string_length, string_text;
	/* Of the instruction that a frame is at; of a function: the first one, and how many. */
	__u8 instruction_line, instruction_size, function_instructions, function_n;
	__u8 reserved[4];
};

/* Structures of Perl with threads: offsets in bytes, and values of its headers. */
struct wire_perl {
	__u64 thread_key; /* address in the file: the key of the thread's interpreter */
	__u64 main;	  /* ... of perl_run(), which runs the main program, ... */
	__u32 main_size;  /* ... and its bytes */
	/* Of an interpreter. */
	__u16 stackinfo, curcop, op, top_env, program_file, savestack;
	/* Kinds of operations. */
	__u16 op_leavesub, op_nextstate;
	/* Of a stack of contexts. */
	__u8 si_contexts, si_previous, si_top, si_sub, si_type, si_main;
	/* Of a context: the cx_is_ are kinds, the cx_has_ flags beside the kind. */
	__u8 cx_size, cx_type, cx_saved, cx_cop, cx_return, cx_sub, cx_depth, cx_required;
	__u8 cx_kinds, cx_is_block, cx_is_sub, cx_is_eval, cx_is_defer;
	__u8 cx_has_copy, cx_has_text, cx_has_block;
	__u8 env_previous; /* of what a handler of exceptions has on the C stack */
	__u8 op_type, cop_file, cop_line;
	/* Of any value; of code, and bits of its flags. */
	__u8 sv_flags, sv_value, sv_types, sv_is_code;
	__u8 cv_stash, cv_start, cv_root, cv_gv, cv_file, cv_sequence, cv_flags, cv_depth;
	__u8 cv_named_bit, cv_lexical_bit;
	/* Of a name and a package in the symbol table; of a string there. */
	__u8 gv_stash, gv_name, gp_effective, hv_named_bit, hv_name, hv_n_names;
	__u8 hek_hash, hek_text;
	__u8 reserved[8];
};

/* Structures of V8: offsets in bytes, of objects from their addresses without the tag. */
struct wire_javascript {
	__s8 frame_function; /* of a frame's pointer: its function, and behind that its context */
	__u8 shared_data;    /* of what closures share: their code, as it was compiled first */
	/* Of a map; of a function, of what its closures share, of a scope and of a script. */
	__u8 map_type;
	__u8 function_shared, function_code;
	__u8 shared_name, shared_script, shared_literal;
	__u8 scope_flags, scope_count, scope_names, scope_most_inlined;
	__u8 script_name, debug_script;
	/* Of code and of the data for leaving optimized code. */
	__u8 code_flags, code_kinds, code_deoptimization, inlined_count, code_baseline;
	__u8 code_size, code_start; /* where its address is, ... */
	__u8 code_inline;	    /* ... or, if that is 0, the first instruction */
	/* Of a string. */
	__u8 string_hash, string_length, string_text, cons_first, cons_second, sliced_parent,
		sliced_offset, thin_actual;
	__u8 string_form, string_one_byte; /* bits of the type */
	__u8 form_sequential, form_cons, form_sliced, form_thin;
	__u8 scope_kinds, scope_of_function; /* bits of a scope's flags, and their value */
	/* Types of objects. */
	__u16 type_not_string, type_shared, type_scope, type_script, type_debug, type_code;
};

/* Structures of Ruby: offsets in bytes. */
struct wire_ruby {
	__u64 tls_slot; /* address in the file: the module of its threads' data, and an offset */
	__u64 caller;	/* address in the file: vm_exec(), which calls the evaluator */
	__u32 caller_size;
	__u32 tls_offset;	      /* of the thread's state, beyond the one in the slot */
	__u32 string_embedded_length; /* bits of a string's flags; 0: the length is a word */
	__u16 thread_state, record_previous, iseq_type_mask, iseq_type, string_apart,
		array_embedded_flag;
	/* Of a thread's state; of a record on the C stack. */
	__u8 state_stack, state_stack_size, state_frame, state_record, state_thread;
	__u8 record_label, record_sp;
	__u8 mangled; /* these two are, by glibc's setjmp() */
	/* Of a frame. */
	__u8 frame_size, frame_pc, frame_iseq, frame_ep, finish;
	/* Of a function, and of its body. */
	__u8 iseq_body, body_type, body_path, body_label, body_line, line_tag_bits;
	__u8 body_instructions, body_lines, line_size;
	__u8 type_main, type_top; /* types of a function: a file, or a file that was loaded */
	/* Of an object, a string and an array. */
	__u8 type_mask, type_string, type_array;
	__u8 string_length, string_pointer, string_embedded, string_embedded_shift, array_pointer,
		array_embedded;
	__u8 reserved[7];
};

/* Room for the structures of any language. */
struct wire_own {
	__u64 words[12];
};

/* An interpreter, as a file contains it; all addresses are those of the file. */
struct wire_interpreter {
	__u32 language;			/* enum language; NONE: an unused number */
	__u32 refused;			/* enum wire_code_reason: no walk is tried */
	__u64 evaluator, evaluator_end; /* the function that runs programs */
	union {
		struct wire_own all;
		struct wire_python python;
		struct wire_php php;
		struct wire_perl perl;
		struct wire_javascript javascript;
		struct wire_ruby ruby;
	};
};

/*
 * A run of functions that one call of the evaluator runs: its anchor, a word of the following, and
 * as many frames, leaf first.
 */
#define WIRE_RUN_FRAMES(word) ((word)&0xffff)
#define WIRE_RUN_KEEP	      (1ull << 16) /* the evaluator's frame stays beside them */
#define WIRE_RUNS_WORDS	      1536	   /* of all runs that are sent with an unfinished walk */

/* Slots of the map `interpreted_switch`; the map `interpreted` has one. */
enum { WIRE_INTERPRETED_SWITCH, WIRE_INTERPRETED_WAKING, WIRE_N_INTERPRETED };

#define WIRE_MAX_INTERPRETERS 256 /* files; number 0 is none */

/* Bytes of a name or a path as the interpreter has it; of longer paths the end is sent. */
#define WIRE_CODE_TEXT 512

#define WIRE_TEXT_UTF8 8

/* A function, sent before the first stack that it is in (WIRE_KIND_CODE). */
struct wire_code_name {
	__u64 id;
	__u32 line;	 /* the first one; 0: not known */
	__u32 name_size; /* bytes of `name` */
	__u32 file_size;
	__u8 name_kind, file_kind; /* bytes of a character: 1, 2, 4; or WIRE_TEXT_UTF8 */
	__u16 flags;		   /* enum wire_code_flags */
	__u32 language;
	__u32 kind; /* enum wire_kind */
	__u8 name[WIRE_CODE_TEXT];
	__u8 file[WIRE_CODE_TEXT];
};

/* How a function's table of lines is written. */
enum wire_line_form {
	WIRE_LINES_PAIRS,     /* CPython to 3.9: steps of the offset and of the line */
	WIRE_LINES_RANGES,    /* 3.10: sizes of ranges, and steps of the line */
	WIRE_LINES_LOCATIONS, /* from 3.11 on: entries of varying size */
	WIRE_LINES_EMPTY,     /* no table: all is on the function's first line */
	WIRE_LINES_KNOWN,     /* no table: `offset` is the line */
	WIRE_N_LINE_FORMS,
};

#define WIRE_LINES_MAX 16384 /* bytes of a table; functions with larger ones have no lines */

/*
 * With WIRE_LINES: an instruction or a line of a function, which has an id of its own, sent before
 * the first stack that it is in and after the function's name (WIRE_KIND_PLACE).
 */
struct wire_code_place {
	__u64 id;
	__u64 function; /* the id of its name */
	__u32 offset;	/* bytes from the function's first instruction, or the line */
	__u32 size;	/* bytes of the table that follow; 0: it was sent before, or is not known */
	__u32 form;	/* enum wire_line_form */
	__u32 kind;	/* enum wire_kind */
			/* the table follows, filled up to 8 bytes */
};

enum wire_code_flags {
	WIRE_CODE_NAME_CUT = 1 << 0, /* only the beginning */
	WIRE_CODE_FILE_CUT = 1 << 1, /* only the end */
};

_Static_assert(sizeof(struct wire_python) == 88, "no padding");
_Static_assert(sizeof(struct wire_php) == 64, "no padding");
_Static_assert(sizeof(struct wire_javascript) == 50, "no padding");
_Static_assert(sizeof(struct wire_perl) == 96, "no padding");
_Static_assert(sizeof(struct wire_interpreter) == 120, "no padding");
_Static_assert(sizeof(struct wire_code_place) == 32, "no padding");
_Static_assert(sizeof(struct wire_ruby) == 80, "no padding");
_Static_assert(sizeof(struct wire_code_name) == 32 + 2 * WIRE_CODE_TEXT, "no padding");

#endif
