/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an ELF file that match a pattern, as offsets in the file: from its symbol
 * tables and, where it is stripped, from its debug file or .gnu_debugdata. The file may be hostile.
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
	bool unprobeable; /* its first instruction is (trigger/unprobeable.h) */
};

struct functions {
	struct function *items; /* by offset, each offset once */
	uint32_t n;
	uint32_t n_unresolved; /* matching IFUNCs whose implementation is not known */
	uint32_t n_symbols;    /* function symbols in the file, matching or not */
	char unresolved[128];  /* the name of one of them */
	struct pool *names;    /* owns the items' names */
};

/*
 * Reads the file behind `fd`; `path` is for messages. With `cplusplus` demangled names are compared
 * as well, with and without their parameters. The names that do not match go to `nearest`, which
 * may be NULL. 0; -ENOMEM; or an error of code_file_open().
 *
 * The symbol of an IFUNC is a resolver, not the function. The name stands for the implementation
 * that the resolver chose in some process that maps the file (trigger/ifunc.h).
 */
int functions_read(int fd, const char *path, const struct matcher *matcher, bool cplusplus,
		   struct nearest *nearest, struct functions *ret_functions, struct error *err);
void functions_clear(struct functions *functions);

#endif
