/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one reader of /proc/kallsyms (kernel/kallsyms.c of Linux: s_show()). Each line is
 *
 *	ADDRESS TYPE NAME			core kernel
 *	ADDRESS TYPE NAME\t[MODULE]		module, BPF program, other generated code
 *
 * with the address in hexadecimal, 0 where the kernel hides it (kernel.kptr_restrict), and the
 * type as nm(1) has it. Lines of another form are skipped.
 */
#ifndef STACKTALLY_KERNEL_KALLSYMS_LINES_H
#define STACKTALLY_KERNEL_KALLSYMS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One symbol; its strings end with the call that passes it. */
struct kallsyms_line {
	uint64_t address;
	char type;	    /* "tTwW" are code */
	const char *name;   /* never empty */
	const char *module; /* in its brackets: "[ext4]"; NULL: the core kernel */
	size_t name_size, module_size;
};

/*
 * Calls each() for every symbol from where `fd` stands, until it returns other than 0, which is
 * then returned. Otherwise 0, -ENOMEM, or the negative errno of a read.
 */
int kallsyms_lines_read(int fd, int (*each)(void *context, const struct kallsyms_line *line),
			void *context);

/* Whether any of the first symbols has an address: whether the kernel shows them to us. */
bool kallsyms_lines_show_addresses(int fd);

/* Whether a symbol of this type is code. */
static inline bool kallsyms_lines_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

#endif
