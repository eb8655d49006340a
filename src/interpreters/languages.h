/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The languages whose interpreters are known. To add one, write its function in a file of its own
 * that includes this one, and add a line with the function's name to the list.
 */
#ifndef STACKTALLY_INTERPRETERS_LANGUAGES_H
#define STACKTALLY_INTERPRETERS_LANGUAGES_H

#include "bpf/interpreter_wire.h"
#include "elf/elf_file.h"

#define LANGUAGES(LANGUAGE)                                                                        \
	LANGUAGE(python)                                                                           \
	LANGUAGE(php)                                                                              \
	LANGUAGE(perl)                                                                             \
	LANGUAGE(ruby)                                                                             \
	LANGUAGE(javascript)

/*
 * Reads an interpreter's file: what is needed to walk the stacks of its programs, or in `refused`
 * why they are not walked. Runs in a confined child. `language` stays WIRE_LANGUAGE_NONE if the
 * file contains no such interpreter. 0 or a negative errno.
 */
typedef int language_read(const struct elf_file *elf, struct wire_interpreter *ret_interpreter);

/* The part of the names of files that may contain such an interpreter. */
struct language {
	const char *file_name;
	language_read *read;
};

#define LANGUAGE_DECLARE(name) extern const struct language language_##name;
LANGUAGES(LANGUAGE_DECLARE)

#endif
