/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Ruby: what user space tells of the interpreter's structures, and what walks of
 * its stacks keep. Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_RUBY_LANGUAGE_H
#define STACKTALLY_BPF_RUBY_LANGUAGE_H

#include <linux/types.h>

/* Structures of Ruby: offsets in bytes. */
struct wire_ruby {
	/*
	 * Address in the file: the module of its threads' data, and an offset. 0: the program's
	 * own, which is at the thread pointer. With `thread_id`: the state's.
	 */
	__u64 tls_slot;
	__u64 caller; /* address in the file: vm_exec(), which calls the evaluator */
	/*
	 * Address in the file: where vm_exec() continues after setjmp(), whose record is
	 * `record_above` bytes above the stack pointer then. 0: it calls none.
	 */
	__u64 continues;
	__u64 object_class; /* address in the file: the variable with the class Object */
	__s32 record_above;
	__u32 caller_size;
	__s32 tls_offset;	      /* of the thread's state, beyond the one in the slot */
	__u32 string_embedded_length; /* bits of a string's flags; 0: the length is a word */
	__u16 thread_state, thread_id, record_previous, iseq_type_mask, iseq_type, string_apart,
		array_embedded_flag;
	/* Offsets in a thread's state, in a record on the C stack. */
	__u8 state_stack, state_stack_size, state_frame, state_record, state_thread;
	__u8 record_label, record_sp, record_fp;
	/* Offsets in a frame. */
	__u8 frame_size, frame_pc, frame_iseq, frame_ep;
	__u8 finish, is_c; /* flags beside its variables: it ends a run; it is of a C function */
	/* 0: a frame has its members before it is linked. */
	__u8 frame_sp, body_variables;
	/* Offsets in a function, and in its body. */
	__u8 iseq_body, body_type, body_path, body_label, body_line, line_tag_bits;
	__u8 body_instructions, body_lines, line_size;
	__u8 type_main, type_top; /* types of a function: a file, or a file that was loaded */
	/* Offsets in an object, a string, an array. */
	__u8 type_mask, type_string, type_array;
	__u8 string_length, string_pointer, string_embedded, string_embedded_shift, array_pointer,
		array_embedded;
	/* Flags and offsets on the way to a function's class (languages/ruby_class.bpf.h). */
	__u8 body_local, type_function, special_method, method_owner, type_class, type_module;
	__u16 method_type, special_type, singleton;
	/* Offsets in a class, and a bit; `class_path` 0: its name is among its variables. */
	__u8 class_path, class_permanent, permanent, class_attached;
	/* Offsets in a class, and in what that leads to; 0: there are none. */
	__u8 class_extension, class_variables;
	__u32 attached_key; /* of the variable of a class that has what it is the singleton class of
			     */
};

_Static_assert(sizeof(struct wire_ruby) == 120, "no padding");

/* A copied piece of the memory that has frames of Ruby, or their variables. */
#define RUBY_WINDOW 432

struct ruby_window {
	__u64 from; /* user address; 0: nothing was copied */
	__u64 last; /* where in it the last frame begins, RUBY_WINDOW at most */
	__u8 bytes[RUBY_WINDOW + FRAME_CAPACITY];
};

/* A walk of Ruby's frames (languages/ruby.bpf.h). */
struct ruby_walk {
	__u64 record; /* on the C stack: the next one */
	__u64 last;   /* the outermost frame */
	__u64 fp;     /* of vm_exec(), as the record says that was read last */
	__u64 stack;  /* where the stack begins that has frames and variables */
	struct ruby_window frames, variables;
	/* The class of the method that was looked up last. */
	__u64 method;	  /* 0: none was */
	__u64 class_name; /* its string */
	__u64 class_hash; /* 0: it has no name that is to be shown */
	__u64 path_key;	  /* of the variable of a class that has its name; 0: not read yet */
	__u64 separator;
};

#endif
