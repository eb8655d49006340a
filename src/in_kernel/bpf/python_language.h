/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Python: what user space tells of the interpreter's structures, and what walks of
 * its stacks keep. Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_PYTHON_LANGUAGE_H
#define STACKTALLY_BPF_PYTHON_LANGUAGE_H

#include <linux/types.h>

/* How CPython links frames; chosen by version. */
enum wire_python_form {
	WIRE_PYTHON_ENTRY_FLAG,	 /* 3.11: records on the C stack; a flag in the run's first frame */
	WIRE_PYTHON_ENTRY_FRAME, /* 3.12: records on the C stack; runs begin with a frame there */
	WIRE_PYTHON_FRAMES,	 /* 3.13: each run begins with a frame on the C stack */
	WIRE_PYTHON_OBJECTS,	 /* 3.10: a record on the C stack for each frame, an object */
	WIRE_PYTHON_CHAIN,	 /* to 3.9: an evaluator's call for each frame, an object */
};

/* Structures of CPython: offsets in bytes. */
struct wire_python {
	/* Addresses in the file: of _PyRuntime, of the types of code and of strings, ... */
	__u64 runtime, code_type, string_type;
	/* ... and of a slot that tells where a thread's data is; 0: at the thread pointer. */
	__u64 tls_slot;
	__s32 tls_offset; /* of a thread's data: its state, if that has no key */
	/* In _PyRuntime, or 0: the key of the threads' states, after whether there is one; ... */
	__u16 tss_key;
	__u16 current; /* ... and the state of the thread that holds the lock */
	__u8 form;     /* enum wire_python_form */
	__u8 owner_entry, owner_generator;
	__u8 code_tag; /* bits of a frame's code that are no part of the address */
	/* Offsets in a thread's state, in a record on the C stack. */
	__u8 thread_id; /* 0: not known, and not compared: the state is the thread's own variable */
	__u8 top, cframe_current, cframe_previous;
	/* Offsets in a frame. */
	__u8 frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	/* Offsets in a code object. */
	__u8 type, code_file, code_name, code_line, code_first, code_bytes;
	__u8 code_version; /* a number that no other code object has, unless it is 0; 0: none */
	/* Offsets in a string. */
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
	/* In _PyRuntime: the number of the main interpreter's next code object; 0: not known. */
	__u32 next_version;
	__u32 reserved2;
	/* Address in the file of the key alone, of 3.6; 0: it is in _PyRuntime. */
	__u64 key;
};

_Static_assert(sizeof(struct wire_python) == 96, "no padding");

#define PYTHON_FUNCTION_BYTES 136  /* of a function, in 3.11 */
#define PYTHON_FUNCTIONS      1392 /* bytes that are copied beside a function, at most */

/* A copied piece of the memory that has functions. */
struct python_functions {
	__u64 from; /* user address; 0: nothing was copied */
	__u64 last; /* where in it a function may begin, PYTHON_FUNCTIONS at most */
	__u32 of;   /* the function that it was copied for: place in `scripts` */
	__u32 used; /* functions that were found in it */
	__u8 bytes[PYTHON_FUNCTIONS + CODE_CAPACITY];
};

#define MET_SCRIPTS 32 /* of the last walk: the next one will probably meet them again */

/* A walk of Python's frames (languages/python.bpf.h). */
struct python_walk {
	__u64 object; /* the frame object that comes next, where frames are objects, ... */
	__u64 last;   /* ... and the outermost record, which has none */
	__u64 record; /* the record read last in this walk, ... */
	__u64 record_current, record_previous; /* ... and what it has */
	__u64 key_seed; /* of the process that `key`, of its threads' states, is known of */
	__u64 made;	/* changes when the process makes a code object; 0: nothing tells that */
	__u32 key;
	__u32 musl;	    /* the C library that the last value of a key was found in is musl */
	__u32 next_version; /* of the code object that the interpreter makes next */
	__u32 linked;	    /* `frame` is that of the next run, whose record was not read yet */
	__u32 n_met;	    /* functions that the walk has met, ... */
	__u16 met[MET_SCRIPTS]; /* ... and where the last ones are in `scripts` */
	struct python_functions functions;
};

#endif
