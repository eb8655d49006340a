/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one reader of /proc/modules (kernel/module/procfs.c of Linux: m_show()). Each line is
 *
 *	NAME SIZE USERS USED_BY STATE 0xADDRESS [(TAINTS)]
 *
 * with the size in bytes. Modules whose address is hidden (0) and lines of another form are
 * skipped.
 */
#ifndef STACKTALLY_KERNEL_MODULE_LINES_H
#define STACKTALLY_KERNEL_MODULE_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* One module: the code and data it keeps after its init code is gone. */
struct module_line {
	const char *name;    /* ends with the call that passes it */
	uint64_t start, end; /* addresses; start is not 0 */
	bool live;	     /* neither being loaded nor unloaded */
};

/*
 * Calls each() for every module from where `fd` stands, until it returns other than 0, which is
 * then returned. Otherwise 0, -ENOMEM, or the negative errno of a read.
 */
int module_lines_read(int fd, int (*each)(void *context, const struct module_line *line),
		      void *context);

#endif
