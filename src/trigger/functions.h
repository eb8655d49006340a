/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an ELF file that match a pattern, as offsets in the file: from its symbol
 * tables, and from its separate debug file where there is one. The file may be hostile.
 */
#ifndef STACKTALLY_TRIGGER_FUNCTIONS_H
#define STACKTALLY_TRIGGER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trigger/nearest.h"

struct matcher;
struct pool;

struct function {
	const char *name;
	uint64_t offset;  /* in the file */
	bool unprobeable; /* a probe at its entry is refused or breaks it */
};

struct functions {
	struct function *items; /* by offset, each offset once */
	uint32_t n;
	uint32_t n_unresolved; /* IFUNCs whose choice could not be learned */
	uint32_t n_symbols;    /* function symbols in the file, matching or not */
	char unresolved[128];  /* the name of one */
	struct pool *names;
};

/*
 * `path` is for messages. `cplusplus`: names are compared with the pattern in their demangled form
 * too.
 *
 * An IFUNC symbol is not the function but what chooses it once in each process. Where this very
 * file is mapped in this process too (libc), the dynamic linker is asked for the choice, and
 * that is what the name stands for.
 */
int functions_read(int fd, const char *path, const struct matcher *matcher, bool cplusplus,
		   struct nearest *nearest, struct functions *ret_functions, struct error *err);
void functions_clear(struct functions *functions);

#endif
