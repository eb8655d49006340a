/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Java: what user space tells of a HotSpot virtual machine, and what walks of its stacks keep.
 * Included for each language of bpf/languages.h.
 */
#ifndef STACKTALLY_BPF_JAVA_LANGUAGE_H
#define STACKTALLY_BPF_JAVA_LANGUAGE_H

#include <linux/types.h>

/* The variables by which libjvm describes its own structures ("vmStructs"). */
enum java_export {
	JAVA_STRUCTS, /* address of the entries, each a member of a structure */
	JAVA_STRUCTS_STRIDE,
	JAVA_STRUCTS_TYPE, /* offsets in an entry */
	JAVA_STRUCTS_FIELD,
	JAVA_STRUCTS_STATIC,
	JAVA_STRUCTS_OFFSET,
	JAVA_STRUCTS_ADDRESS,
	JAVA_TYPES, /* address of the entries, each a type */
	JAVA_TYPES_STRIDE,
	JAVA_TYPES_NAME, /* offsets in an entry */
	JAVA_TYPES_SIZE,
	JAVA_N_EXPORTS,
};

/*
 * Variables that no description has, of virtual threads' frames in the heap. Their values are 0
 * until the machine has loaded its first classes.
 */
enum java_variable {
	JAVA_ENTER_RETURN, /* where the call returns to by which a virtual thread begins */
	JAVA_CHUNK_STACK,  /* offset in a chunk of frames, a StackChunk: where its words begin, ...
			    */
	JAVA_CHUNK_SP,	   /* ... which of them the first frame's stack pointer is at, */
	JAVA_CHUNK_BOTTOM, /* the end of the last one's, */
	JAVA_CHUNK_PARENT, /* the chunk of the frames behind those, */
	JAVA_CHUNK_OF,	   /* and the Continuation whose frames they are */
	JAVA_TAIL,	   /* offset in a Continuation: of its innermost chunk */
	JAVA_N_VARIABLES,
};

/* Addresses of these variables in the file, which are below 4 GiB. */
struct wire_java {
	__u32 exports[JAVA_N_EXPORTS];
	__u32 variables[JAVA_N_VARIABLES]; /* 0: the file has none, or does not tell where */
};

#define JAVA_HEAPS	 4   /* of a code cache: 3, or 4 with a hot heap */
#define JAVA_HEADER_ROOM 512 /* bytes of a blob's header that are copied: a power of two */

/* A part of the code cache: blocks of a whole number of segments. */
struct wire_java_heap {
	__u64 low, high; /* reserved addresses */
	__u64 segments;	 /* address of a byte for each segment: how far back its block begins */
};

/*
 * What is known of a virtual machine that runs (map `java_processes`, by tgid). Offsets are bytes;
 * "blob" is HotSpot's CodeBlob, "nmethod" the blob of a compiled method.
 */
struct wire_java_process {
	__u64 number;	   /* tells it from all others, for caches; not 0 */
	__u64 bias;	   /* of libjvm, ... */
	__u32 interpreter; /* ... and its number among the interpreters */
	__u32 refused;	   /* enum wire_script_reason: no walk is tried */
	__u64 low, high;   /* of the whole code cache */
	__u64 interpreter_low, interpreter_high;
	__u64 entry_low, entry_high; /* in there: where methods are entered */
	__u64 call_stub_return;	     /* where methods that native code calls return to */
	struct wire_java_heap heaps[JAVA_HEAPS];
	__u8 n_heaps;
	__u8 segment_shift;
	__u8 block_header; /* bytes before a blob, ... */
	__u8 block_used;   /* ... where a byte says that there is one */
	__u8 code_apart;   /* blobs point to their code; else they have its offset */
	__u8 debug_apart;  /* debug information is outside of the blob */
	__u8 excluded;	   /* value that no byte of a compressed number has, plus 1 */
	__u8 header_size;  /* bytes of an nmethod's header that are used, in units of 8 */
	/* Offsets in a blob: 64 bits if `code_apart`, or else 32 from the blob's address. */
	__u16 blob_name, blob_frame_size, blob_code, blob_code_end;
	/* In an nmethod; the entry has 16 bits if not `code_apart`. */
	__u16 method, compile_id, entry_bci, entry, osr_entry, deopt, deopt_handle, original_pc;
	/*
	 * Where tables are. In the blob: offset of `metadata`, address of `scopes`, offset of
	 * `points` and of their end. Apart from it: address of `apart`, offsets in that of `points`
	 * and `scopes`, its size; and address of `changing`, offset in that of the metadata, its
	 * size.
	 */
	__u16 metadata, scopes, points, points_end;
	__u16 apart, apart_size, changing, changing_size;
	/* Methods and classes. */
	__u16 method_const, const_pool, const_name, const_signature, const_code_size, const_size,
		const_flags;
	__u16 pool_size, pool_holder, pool_file, class_name, symbol_length, symbol_text;
	__u16 const_words; /* size of a ConstMethod with its tables, in words */
	/* Frames in the heap, as enum java_variable; `chunk_stack` is 0 if they are not followed.
	 */
	__u16 chunk_stack, chunk_sp, chunk_bottom, chunk_parent, chunk_of, tail;
	__u8 oop_size, oop_shift; /* an object's address in another one: bytes, and if 4, ... */
	__u8 reserved[2];
	__u64 oop_base;	    /* ... it is counted from there, in units of 1 << oop_shift */
	__u64 enter_return; /* address of that variable */
};

_Static_assert(sizeof(struct wire_java_process) == 288, "no padding");

#define JAVA_MAX_PROCESSES 512

/* What the code at an address is. */
enum java_kind {
	JAVA_NONE, /* no blob */
	JAVA_INTERPRETED,
	JAVA_COMPILED,
	JAVA_WRAPPER,	   /* of a native method */
	JAVA_ENTRY,	   /* the stub by which native code calls methods */
	JAVA_STUBS,	   /* many, which keep frame pointers */
	JAVA_CONTINUATION, /* of virtual threads, the same */
	JAVA_BARRIER,	   /* of these: where a frame returns to whose callers are in the heap */
	JAVA_TO_HEAP,	   /* the same, and the walk goes on there */
	JAVA_VTABLE,	   /* dispatches, or takes arguments for native code, without a frame */
	JAVA_ADAPTER,	   /* between interpreted and compiled code: without a frame */
	JAVA_LINKER,	   /* of method handles, between interpreted functions: the same */
	JAVA_POLL,	   /* where a thread waits: its caller was interrupted, and did not call */
	JAVA_RUNTIME,	   /* calls into libjvm, with a frame of a known size */
};

/* A blob, as the step needs it. */
struct java_blob {
	__u64 at; /* its address */
	__u64 code, code_end;
	__u64 entry; /* of compiled code: where its prologue begins, */
	__u64 deopt, deopt_handle, original_pc;
	__u64 frame; /* bytes of its frame, with the return address */
	__u64 method;
	__u32 kind; /* enum java_kind */
	__u32 compile_id;
};

#define JAVA_SCOPES	32 /* functions that are inlined in each other, at most: a power of two */
#define JAVA_MAX_POINTS 65536ull /* of debug information in a compiled method */

/* Where the debug information of a compiled method is, in the process. */
struct java_tables {
	__u64 metadata, metadata_end; /* words: methods, by their numbers */
	__u64 scopes, scopes_end;     /* compressed: which function is inlined in which */
	__u64 points, points_end;     /* of 16 bytes: offset in the code, its scope, ... */
};

/* Words of the stack that may be the return address of what was interrupted. */
struct java_candidates {
	__u64 sp, fp, pc; /* of the caller, by the best one */
	__u64 first;	  /* where the search began */
	__u32 n, fitting; /* in whose frames there is another return address */
	__u32 first_fits; /* the one at `first` does */
	__u32 reserved;
};

/* What the instructions of a stub do to the stack, one by one. */
struct java_steps {
	__u64 at; /* the next instruction */
	__u64 sp; /* behind it, or of what was pushed */
	__u64 fp; /* or where in what was pushed it is; 0: it was not */
};

/* Frames in the heap that a walk goes through (languages/java_frozen.bpf.h). */
struct java_frozen {
	__u64 chunk; /* its address; 0: the walk is on a stack */
	__u64 at;    /* up to there its frames were walked */
	__u64 end;   /* of its frames */
	/* Behind the last chunk, the walk continues on the stack here. */
	__u64 pc, sp, fp;
};

/* A walk of Java's stack (languages/java.bpf.h). */
struct java_walk {
	struct wire_java_process is;
	struct java_blob blob;	/* that the walk is in */
	struct java_blob other; /* that a return address is in */
	/* The frame that the walk has left: */
	__u64 pc; /* in compiled code, also where the frame was deoptimized */
	__u64 method;
	__u64 bytecode;	  /* address, of interpreted functions; 0: not known */
	__u32 kind;	  /* enum java_kind; JAVA_NONE: the last frame is none of Java's */
	__u32 exact;	  /* `pc` was interrupted */
	__u32 reason;	  /* enum wire_script_reason: why there is no caller; KNOWN: there is one */
	__u32 same;	  /* where the innermost function that is certain is, is certain, too */
	__u32 depth;	  /* of chains[0] */
	__u32 next_depth; /* of chains[1] */
	__u64 target; /* of the call before the return address that was looked at; 0: not known */
	struct java_candidates found;
	struct java_tables tables;
	struct java_steps steps;
	struct java_frozen frozen;
	__u64 scope[2];		      /* bytes of compressed numbers */
	__u64 chains[2][JAVA_SCOPES]; /* functions inlined in each other, the innermost first */
	__u8 header[JAVA_HEADER_ROOM];
};

#endif
