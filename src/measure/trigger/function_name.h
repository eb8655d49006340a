/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the name of a function symbol compares with a pattern: as it is, as its readable name in C++
 * or Rust, or as the function that a compiler made it from.
 *
 *	foo.cold, foo.cold.1		a part of foo that foo jumps into: no function
 *	foo.part.0			a part of foo that foo calls
 *	foo.isra.0, foo.constprop.0	foo for some of its callers, or under another name
 *
 * Must not know: files, addresses.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTION_NAME_H
#define STACKTALLY_TRIGGER_FUNCTION_NAME_H

#include <stdbool.h>

#include "symbolize/demangle.h"
#include "trigger/nearest.h"

struct matcher;

/* From the weakest to the strongest. */
enum name_match {
	NAME_DIFFERS,
	NAME_COLD,     /* it matches, and is a cold part */
	NAME_CLONE,    /* the name of the function that it was made from matches */
	NAME_READABLE, /* its readable name matches, or a part of that */
	NAME_EXACT,    /* it matches as it is */
	NAME_N,
};

struct name_reader {
	const struct matcher *matcher;
	struct nearest *nearest; /* gets the names that differ */
	char base[DEMANGLE_SIZE];
	char readable[DEMANGLE_SIZE];
};

/* `has_suffixes` false: of a language in whose names a dot is nothing special. */
enum name_match name_match(struct name_reader *reader, const char *name, bool has_suffixes);

#endif
