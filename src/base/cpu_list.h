/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of CPUs as the kernel writes them: "0-3,8,10-11".
 */
#ifndef STACKTALLY_BASE_CPU_LIST_H
#define STACKTALLY_BASE_CPU_LIST_H

#include <stdint.h>

#define CPU_LIST_MAX 65536 /* CPU numbers are below this */

struct cpu_list {
	int *cpus; /* in the order of the text; owned */
	uint32_t n, capacity;
};

/* 0, -EINVAL for malformed text, or -ENOMEM. */
int cpu_list_parse(const char *text, struct cpu_list *ret_list);
/*
 * The list in a file such as /sys/devices/system/cpu/online. 0; -EFBIG: the file is longer than any
 * list; or another negative errno.
 */
int cpu_list_read(const char *path, struct cpu_list *ret_list);
void cpu_list_clear(struct cpu_list *list);

#define CPU_LIST_ONLINE	  "/sys/devices/system/cpu/online"
#define CPU_LIST_POSSIBLE "/sys/devices/system/cpu/possible"

#endif
