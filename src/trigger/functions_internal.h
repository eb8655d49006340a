/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What functions.c, in our process, and functions_reader.c, in a confined child, share.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTIONS_INTERNAL_H
#define STACKTALLY_TRIGGER_FUNCTIONS_INTERNAL_H

#include "symbolize/debug_file.h"
#include "trigger/functions.h"
#include "trigger/reading.h"

/* What a child is asked about a file; its debug file may be the second descriptor. */
struct functions_question {
	const struct matcher *matcher;
	const struct nearest *nearest; /* to begin with */
	const char *path;
	bool cplusplus;
	enum debug_proof proof; /* that the debug file must give */
};

/* What comes before the functions. */
struct functions_facts {
	uint32_t n;	    /* functions that follow */
	uint32_t n_symbols; /* as of struct functions */
	struct nearest nearest;
	struct debug_wanted wanted;
	uint64_t first; /* the address of the file's first byte */
	/* 0: false. */
	uint8_t has_first;
	uint8_t stripped;    /* it has no full symbol table */
	uint8_t right_debug; /* the debug file belongs to it */
};

enum function_is {
	FUNCTION_PLAIN,	 /* `at` is its offset in the file */
	FUNCTION_CHOSEN, /* an IFUNC: `at` is the address of the slot of its resolver's choice */
	FUNCTION_UNRESOLVED, /* an IFUNC without a slot, or no function begins there */
};

/* A function; its name follows. */
struct function_sent {
	uint64_t at;
	uint32_t is;
	uint8_t unprobeable;
};

/* Answers a struct functions_question with the head, the facts and the functions. */
confined_work functions_reader_work;

/*
 * Answers addresses with the head and, for each, a struct function_sent without a name: whether a
 * function begins there, by the file's symbols or its call frame information.
 */
confined_work functions_begin_work;

#endif
