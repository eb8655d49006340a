/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that match a pattern and can be traced: those in /proc/kallsyms that ftrace
 * can trace, without init code, the kprobe blacklist, the entry code of interrupts, and tracers'
 * own functions. Attaches nothing.
 */
#ifndef STACKTALLY_TRIGGER_KERNEL_FUNCTIONS_H
#define STACKTALLY_TRIGGER_KERNEL_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trigger/nearest.h"

struct matcher;
struct pool;

/* Why a function that matches cannot be traced. */
enum kernel_untraceable {
	KERNEL_ABSENT, /* there is none, or nothing is against it */
	KERNEL_NOTRACE,
	KERNEL_BLACKLISTED,
	KERNEL_INIT,
	KERNEL_IRQENTRY,
	KERNEL_TRACER,
};

struct kernel_function {
	const char *name;
	const char *module; /* NULL: of the core kernel */
	uint64_t address;   /* 0 where the kernel hides addresses */
};

struct kernel_functions {
	/* By address, each address once; where addresses are hidden, by name. */
	struct kernel_function *items;
	uint32_t n;
	bool have_addresses;
	bool hooked; /* all have ftrace's hook; false: this kernel has no ftrace */
	enum kernel_untraceable untraceable; /* of the last that matched and is not in `items` */
	struct pool *names;
};

/* Descriptors of the files to read, from where they stand; borrowed. -1 rules nothing out. */
struct kernel_texts {
	int kallsyms;		 /* /proc/kallsyms; always given */
	int traceable;		 /* available_filter_functions of tracefs */
	int traceable_addresses; /* available_filter_functions_addrs, in place of `traceable` */
	int blacklist;		 /* kprobes/blacklist of debugfs: "0xSTART-0xEND\tNAME" */
};

/*
 * With `exact` the pattern is a plain name, and tracers' own functions are found as well. Names of
 * traceable functions that do not match go to `nearest`, which may be NULL. 0, -ENOMEM, or the
 * negative errno of a read.
 */
int kernel_functions_read(const struct kernel_texts *texts, const struct matcher *matcher,
			  bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err);

/* The same from this kernel's files. -EPERM, -EACCES or -ENOENT where these cannot be opened. */
int kernel_functions_find(const struct matcher *matcher, bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err);

void kernel_functions_clear(struct kernel_functions *functions);

#endif
