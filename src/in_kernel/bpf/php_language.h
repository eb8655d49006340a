/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * PHP: what user space tells of the interpreter's structures, and what walks of
 * its stacks keep. Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_PHP_LANGUAGE_H
#define STACKTALLY_BPF_PHP_LANGUAGE_H

#include <linux/types.h>

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
	/* Offsets in a frame, a function, a class, a string. */
	__u8 frame_function, frame_info, frame_previous, frame_instruction;
	__u8 function_name, function_scope, function_file, function_line;
	__u8 class_name;
	__u8 string_hash, string_length, string_text;
	/* The instruction that a frame is at; the first one of a function, and how many it has. */
	__u8 instruction_line, instruction_size, function_instructions, function_n;
	/*
	 * The JIT's code runs in the evaluator's frame, and leaves it as it is. The evaluator's
	 * CFA: the register that it is an offset of, 0 if that is not known; ...
	 */
	__u8 cfa_from;
	__u8 reserved[3];
	__s32 cfa_at;
	/* ... and what calls it, besides zend_call_function(), as `call`. */
	__u32 execute_size, resume_size, reserved_too;
	__u64 execute, resume;
};

_Static_assert(sizeof(struct wire_php) == 96, "no padding");

/* The class that a walk of PHP's frames has met last; 0: none. */
struct php_class {
	__u64 class, name;
	__u64 hash; /* of the name */
};

/* The state of a walk of PHP's frames (languages/php.bpf.h). */
struct php_walk {
	struct php_class class;
	/* Frames of the staged run: the innermost, and that which the evaluator was called for. */
	__u64 innermost, first;
	__u64 used;		  /* `first` of the run before */
	__u64 current;		  /* the innermost frame of all */
	__u64 innermost_function; /* its function, while its run is staged; 0: none, or one in C */
	__u64 links; /* the innermost native frame is of the function that links frames */
};

#endif
