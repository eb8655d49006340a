/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * JavaScript: what user space tells of the interpreter's structures, and what walks of
 * its stacks keep. Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_JAVASCRIPT_LANGUAGE_H
#define STACKTALLY_BPF_JAVASCRIPT_LANGUAGE_H

#include <linux/types.h>

/* Structures of V8: offsets in bytes, of objects from their addresses without the tag. */
struct wire_javascript {
	__s8 frame_function; /* of a frame's pointer: its function, and behind that its context */
	__u8 shared_data;    /* of what closures share: their code, as it was compiled first */
	/* Offsets in a map, a function, what its closures share, a scope, a script. */
	__u8 map_type;
	__u8 function_shared, function_code;
	__u8 shared_name, shared_script, shared_literal;
	__u8 scope_flags, scope_count, scope_names, scope_most_inlined;
	__u8 script_name, debug_script;
	/* Offsets in code, and bits of its flags. */
	__u8 code_flags, code_kinds, code_baseline, code_positions, code_leaving;
	__u8 code_size, code_start; /* where its address is, ... */
	__u8 code_inline; /* ... or, if that is 0, the first instruction; else in the stream */
	/* Offsets in the array for leaving optimized code. */
	__u8 inlined_count, inlined_literals, inlined_id, inlined_shared, inlined_places;
	/* Offsets and bits of a string. */
	__u8 string_hash, string_length, string_text, cons_first, cons_second, sliced_parent,
		sliced_offset, thin_actual;
	__u8 string_form, string_one_byte; /* bits of the type */
	__u8 form_sequential, form_cons, form_sliced, form_thin;
	__u8 scope_kinds, scope_of_function; /* bits of a scope's flags, and their value */
	__u8 reserved;
	/* Types of objects. */
	__u16 type_not_string, type_shared, type_scope, type_script, type_debug, type_code;
	__u16 type_stream; /* of instructions apart from their code object */
};

_Static_assert(sizeof(struct wire_javascript) == 58, "no padding");

#define JAVASCRIPT_MAPS 8

/* A search for code before an address. */
struct javascript_search {
	__u64 from;  /* the piece of memory that is copied */
	__u64 limit; /* what is looked at next lies before this */
	__u64 found; /* the code; 0: none */
};

/* What a walk of JavaScript's functions has met, while no object moves. */
struct javascript_walk {
	__u64 maps[JAVASCRIPT_MAPS]; /* objects that tell the types of others; 0: none */
	__u32 types[JAVASCRIPT_MAPS];
	__u64 script;	 /* of the function found last, whose file is known; 0: none */
	__u64 script_is; /* a hash of what that script consists of */
	__u64 string;	 /* read last, and V8's hash of it, */
	__u64 hash;	 /* or 0 */
	__u64 generated; /* the frame is of generated code */
	__u64 map;	 /* of one of V8's own objects: the others' maps are near */
	struct javascript_search search;
	/* Optimized code that was found last: objects of it, and what tells it from others. */
	__u64 literals, places, table, start, number;
	__u32 n_inlined; /* functions */
	__u32 offset;	 /* in it */
};

#endif
