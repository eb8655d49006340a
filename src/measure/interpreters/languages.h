/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the files of interpreters. A language of bpf/languages.h has its function in a
 * file of its own that includes this one.
 */
#ifndef STACKTALLY_INTERPRETERS_LANGUAGES_H
#define STACKTALLY_INTERPRETERS_LANGUAGES_H

#include "bpf/interpreter_wire.h"
#include "bpf/languages.h"
#include "elf/elf_file.h"

/*
 * Reads an interpreter's file: what is needed to walk the stacks of its programs, or in `refused`
 * why they are not walked. Runs in a confined child. `language` stays LANGUAGE_NONE if the
 * file contains no such interpreter. 0 or a negative errno.
 */
typedef int language_read(const struct elf_file *elf, struct wire_interpreter *ret_interpreter);

/*
 * Files that export one of some symbols may contain such an interpreter, whatever they are called.
 * So may those whose name has a part: what they have may be in .symtab only.
 */
struct language_reader {
	const char *const *exports; /* NULL at the end */
	const char *file_name;
	const char *program; /* what the name of most programs begins with that have it mapped */
	language_read *read;
};

#define LANGUAGE_EXPORTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define LANGUAGE_DECLARE(ID, id, ...) extern const struct language_reader language_##id;
LANGUAGES(LANGUAGE_DECLARE, LANGUAGES_NOTHING, LANGUAGES_NOTHING)

#endif
