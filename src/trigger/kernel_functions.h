/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that match a pattern and can be traced: those ftrace knows, where they
 * are in kallsyms, without what may not be probed (init code, the blacklist, the entry code of
 * interrupts, the tracers themselves). Reads text; attaches nothing.
 */
#ifndef STACKTALLY_TRIGGER_KERNEL_FUNCTIONS_H
#define STACKTALLY_TRIGGER_KERNEL_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trigger/nearest.h"

struct matcher;
struct pool;

/* Why the last function that matched is not among those found. */
enum kernel_untraceable {
	KERNEL_ABSENT, /* nothing matched at all */
	KERNEL_NOTRACE,
	KERNEL_BLACKLISTED,
	KERNEL_INIT,
	KERNEL_IRQENTRY,
	KERNEL_TRACER,
};

struct kernel_function {
	const char *name;
	uint64_t address; /* 0 where the kernel hides addresses */
};

struct kernel_functions {
	struct kernel_function
		*items; /* by address, each address once (by name without addresses) */
	uint32_t n;
	bool have_addresses;
	enum kernel_untraceable untraceable;
	struct pool *names;
};

/* Descriptors of the files to read, from where they stand; borrowed. -1 rules nothing out. */
struct kernel_texts {
	int kallsyms;		 /* /proc/kallsyms; always given */
	int traceable;		 /* available_filter_functions of tracefs */
	int traceable_addresses; /* available_filter_functions_addrs, in place of `traceable` */
	int blacklist;		 /* kprobes/blacklist of debugfs: "0xSTART-0xEND\tNAME" */
};

/* `exact`: one name, no pattern; then the tracer's own functions are allowed too. */
int kernel_functions_read(const struct kernel_texts *texts, const struct matcher *matcher,
			  bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err);

/* The same from this kernel's files. */
int kernel_functions_find(const struct matcher *matcher, bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err);

void kernel_functions_clear(struct kernel_functions *functions);

#endif
