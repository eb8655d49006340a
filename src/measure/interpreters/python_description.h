/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's description of itself, which it has from 3.13 on at the start of _PyRuntime (struct
 * _Py_DebugOffsets): 64-bit words, in groups, one for each structure, that begin with its size.
 * Versions have added words to most groups and between them, so each group is found by what it must
 * say; no version's places of them are assumed. Must not know: rows of versions.
 */
#ifndef STACKTALLY_INTERPRETERS_PYTHON_DESCRIPTION_H
#define STACKTALLY_INTERPRETERS_PYTHON_DESCRIPTION_H

#include "elf/elf_file.h"

/* Offsets in bytes, in the structures of struct wire_python's members of the same names. */
struct python_description {
	uint32_t version; /* PY_VERSION_HEX */
	bool free_threaded;
	uint8_t top;
	uint8_t frame_code, frame_previous, frame_instruction, frame_owner;
	uint8_t type;
	uint8_t code_file, code_name, code_line, code_lines, code_bytes;
	uint8_t string_length, string_state, string_ascii_size;
};

/*
 * Reads the description at `runtime`; the sizes of objects in their types tell two groups. 0;
 * -ENODATA: there is none; -EINVAL: it says something that cannot be.
 */
int python_description_read(const struct elf_file *elf, uint64_t runtime, uint64_t code_type,
			    uint64_t string_type, struct python_description *ret_description);

#endif
