/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs: what user space tells the kernel side of an interpreter, and
 * how the functions of a stack cross. docs/interpreters.md explains the walk.
 */
#ifndef STACKTALLY_BPF_INTERPRETER_WIRE_H
#define STACKTALLY_BPF_INTERPRETER_WIRE_H

#include <linux/types.h>

#include "bpf/languages.h"

/* Copies of frames and of code are so large: powers of two, for masks that the verifier follows. */
#define FRAME_CAPACITY 128
#define CODE_CAPACITY  256

#include <language_structs.h> /* made by the Makefile: bpf/NAME_language.h of each */

/* Why an evaluator's functions are not known. Values are part of the recording format. */
enum wire_script_reason {
	WIRE_SCRIPT_KNOWN,
	WIRE_SCRIPT_VERSION,	   /* an interpreter whose structures are not known */
	WIRE_SCRIPT_FREE_THREADED, /* a build without the global lock */
	WIRE_SCRIPT_DISAGREES,	   /* the interpreter's description of itself is another */
	WIRE_SCRIPT_NO_STATE,	   /* the state of the thread was not found */
	WIRE_SCRIPT_UNREADABLE,	   /* memory of the interpreter could not be read */
	WIRE_SCRIPT_TORN,	   /* interrupted while frames were being linked */
	WIRE_SCRIPT_UNMATCHED,	   /* no run of functions belongs to the evaluator's frame */
	WIRE_SCRIPT_TOO_DEEP,	   /* more functions than are followed */
	WIRE_SCRIPT_EARLY,	   /* the interpreter was not known yet when the stack was walked */
	WIRE_SCRIPT_DELEGATED,	   /* generators that wait for the one that they delegate to */
	WIRE_SCRIPT_BETWEEN,   /* no function runs: the first has not begun, or the last is over */
	WIRE_SCRIPT_INLINED,   /* functions that the compiler inlined here are not shown */
	WIRE_SCRIPT_NEAR,      /* here or in a function that the compiler inlined: not certain */
	WIRE_SCRIPT_NO_CODE,   /* generated code that is in no known block */
	WIRE_SCRIPT_NO_CALLER, /* no return address where it should be */
	WIRE_SCRIPT_FROZEN,    /* functions of a virtual thread whose frames are in the heap */
	WIRE_SCRIPT_ARCHITECTURE, /* interpreters are not read on this architecture yet */
	WIRE_N_SCRIPT_REASONS,
};

/*
 * A frame of a stack with WIRE_FRAME_SCRIPT is no address: in the bits of WIRE_FRAME_LANGUAGE is
 * the language, and below an id of the function, which is a hash of its process, of the address of
 * its code object and of what that refers to. Ids below WIRE_SCRIPT_IDS are an enum
 * wire_script_reason.
 */
#define WIRE_FRAME_SCRIPT	  (1ull << 61)
#define WIRE_FRAME_LANGUAGE_SHIFT 56
#define WIRE_FRAME_LANGUAGE	  (0x1full << WIRE_FRAME_LANGUAGE_SHIFT)
#define WIRE_SCRIPT_IDS		  256ull

/* Room for the structures of any language. */
struct wire_own {
	__u64 words[15];
};

/* An interpreter, as a file contains it; all addresses are those of the file. */
struct wire_interpreter {
	__u32 language;			/* enum language; NONE: an unused number */
	__u32 refused;			/* enum wire_script_reason: no walk is tried */
	__u64 evaluator, evaluator_end; /* the function that runs programs */
	union {
		struct wire_own all;
#define LANGUAGE_OWN(ID, id, ...) struct wire_##id id;
		LANGUAGES(LANGUAGE_OWN, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
	};
};

/*
 * A run of functions that one call of the evaluator runs: its anchor, a word of the following, and
 * as many frames, leaf first.
 */
#define WIRE_RUN_FRAMES(word) ((word)&0xffff)
#define WIRE_RUN_KEEP	      (1ull << 16) /* the evaluator's frame stays beside them */
#define WIRE_RUN_OF_SHIFT     17
/* Which one of the process's WIRE_PROCESS_INTERPRETERS the run is of. */
#define WIRE_RUN_OF(word) ((word) >> WIRE_RUN_OF_SHIFT & 3)
#define WIRE_RUNS_WORDS	  1536 /* of all runs that are sent with an unfinished walk */

/* Slots of the map `interpreted_switch`; the map `interpreted` has one. */
enum { WIRE_INTERPRETED_SWITCH, WIRE_INTERPRETED_WAKING, WIRE_N_INTERPRETED };

#define WIRE_MAX_INTERPRETERS 256 /* files; number 0 is none */

/* Bytes of a name or a path as the interpreter has it; of longer paths the end is sent. */
#define WIRE_SCRIPT_TEXT 512

#define WIRE_TEXT_UTF8 8

/* A function, sent before the first stack that it is in (WIRE_KIND_SCRIPT). */
struct wire_script_name {
	__u64 id;
	__u32 line;	 /* the first one; 0: not known */
	__u32 name_size; /* bytes of `name` */
	__u32 file_size;
	__u8 name_kind, file_kind; /* bytes of a character: 1, 2, 4; or WIRE_TEXT_UTF8 */
	__u16 flags;		   /* enum wire_script_flags */
	__u32 language;
	__u32 kind; /* enum wire_kind */
	__u8 name[WIRE_SCRIPT_TEXT];
	__u8 file[WIRE_SCRIPT_TEXT];
};

/* How a function's table of lines is written. */
enum wire_line_form {
	WIRE_LINES_PAIRS,     /* CPython to 3.9: steps of the offset and of the line */
	WIRE_LINES_RANGES,    /* 3.10: sizes of ranges, and steps of the line */
	WIRE_LINES_LOCATIONS, /* from 3.11 on: entries of varying size */
	WIRE_LINES_STEPS,     /* HotSpot: steps of the offset and of the line, up to a 0 */
	WIRE_LINES_STEPS_20,  /* the same from JDK 20 on, where compressed numbers have no 0 */
	WIRE_LINES_EMPTY,     /* no table: all is on the function's first line */
	WIRE_LINES_KNOWN,     /* no table: `offset` is the line */
	WIRE_LINES_INLINED,   /* `function` is a struct wire_inlined_code, `offset` is in that */
	WIRE_N_LINE_FORMS,
};

#define WIRE_LINES_MAX 16384 /* bytes of a table; functions with larger ones have no lines */

/*
 * With WIRE_LINES: an instruction or a line of a function, which has an id of its own, sent before
 * the first stack that it is in and after the function's name (WIRE_KIND_PLACE).
 */
struct wire_script_place {
	__u64 id;
	__u64 function; /* the id of its name */
	__u32 offset;	/* bytes from the function's first instruction, or the line */
	__u32 size;	/* bytes of the table that follow; 0: it was sent before, or is not known */
	__u32 form;	/* enum wire_line_form */
	__u32 kind;	/* enum wire_kind */
			/* the table follows, filled up to 8 bytes */
};

/* Functions that were compiled into optimized code, and where they are called. */
#define WIRE_INLINED_FUNCTIONS 64
#define WIRE_INLINED_PLACES    128

/* Where a function was compiled into another: V8's InliningPosition. */
struct wire_inlined_place {
	__u64 position; /* in the script, and the place that this one is in: V8's SourcePosition */
	__s32 function; /* its number */
	__u32 reserved;
};

/*
 * Optimized code of V8, sent before the first place in it and after the names of its functions
 * (WIRE_KIND_INLINED). V8's table of source positions follows, filled up to 8 bytes: which place of
 * which function an instruction is of.
 */
struct wire_inlined_code {
	__u64 id;
	__u64 function; /* that it was compiled for */
	__u32 n_functions;
	__u32 n_places;
	__u32 size;				 /* bytes of the table */
	__u32 kind;				 /* enum wire_kind */
	__u64 functions[WIRE_INLINED_FUNCTIONS]; /* ids; 0: one of V8's own */
	struct wire_inlined_place places[WIRE_INLINED_PLACES];
};

/* Bytes of a table that is sent; functions of code with larger ones are not shown. */
#define WIRE_INLINED_TABLE 13824

enum wire_script_flags {
	WIRE_SCRIPT_NAME_CUT = 1 << 0, /* only the beginning */
	WIRE_SCRIPT_FILE_CUT = 1 << 1, /* only the end */
	WIRE_SCRIPT_CLASS_FIRST = 1
				  << 2, /* Ruby: the class of the method stands before the label */
};

_Static_assert(N_LANGUAGES <= 9, "each has a bit in struct wire_stack's `unpaired`");
_Static_assert(sizeof(struct wire_interpreter) == 24 + sizeof(struct wire_own),
	       "the structures of each language have room");
_Static_assert(sizeof(struct wire_script_place) == 32, "no padding");
_Static_assert(sizeof(struct wire_inlined_code) ==
		       32 + 8 * WIRE_INLINED_FUNCTIONS + 16 * WIRE_INLINED_PLACES,
	       "no padding");
_Static_assert(sizeof(struct wire_inlined_code) + WIRE_INLINED_TABLE <=
		       sizeof(struct wire_script_place) + WIRE_LINES_MAX,
	       "it has the room of a table of lines");
_Static_assert(sizeof(struct wire_script_name) == 32 + 2 * WIRE_SCRIPT_TEXT, "no padding");

#endif
