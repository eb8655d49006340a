/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that ftrace can trace and whose names match a pattern, from tracefs:
 *
 *	available_filter_functions		NAME[ [MODULE]]
 *	available_filter_functions_addrs	ADDRESS NAME[ [MODULE]]		since Linux 6.5
 *
 * The address is that of the instruction ftrace patches, a few bytes into the function.
 */
#ifndef STACKTALLY_TRIGGER_FTRACE_FUNCTIONS_H
#define STACKTALLY_TRIGGER_FTRACE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct matcher;
struct nearest;
struct pool;

#define FTRACE_FUNCTIONS_KEY_SIZE 1024

struct ftrace_functions {
	struct pool *pool; /* of the keys */
	const char **keys;
	uint32_t n_keys, keys_capacity;
	struct index by_key;
	uint64_t *sites; /* where ftrace patches, sorted */
	uint32_t n_sites, sites_capacity;
};

/*
 * Functions of several modules may share a name; a key tells them apart: "name\tmodule", or
 * "name" in the core kernel. `module` has its brackets ("[ext4]", `module_size` bytes) or is NULL.
 * Returns `name` or `buffer`.
 */
const char *ftrace_functions_key(const char *name, const char *module, size_t module_size,
				 char buffer[FTRACE_FUNCTIONS_KEY_SIZE]);

/*
 * Reads one of the two files from `fd`. The names that do not match go to `nearest`, which may be
 * NULL. 0, -ENOMEM, or the negative errno of a read; to be cleared in any case.
 */
int ftrace_functions_read(int fd, bool with_addresses, const struct matcher *matcher,
			  struct nearest *nearest, struct ftrace_functions *ret_functions);
void ftrace_functions_clear(struct ftrace_functions *functions);

/* Whether it can trace a function of this key that begins at `address`; 0: not known. */
bool ftrace_functions_have(const struct ftrace_functions *functions, const char *key,
			   uint64_t address);

#endif
