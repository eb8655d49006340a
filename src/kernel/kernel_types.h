/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libbpf relocates the programs by: the part of the kernel's description of its types that
 * they read (see type_part.h), in a file that is nowhere but in memory. Found anew each time, in
 * 2 ms: a copy on disk would have to be kept, checked, and trusted.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_TYPES_H
#define STACKTALLY_KERNEL_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct btf;

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

/* Where the file is to be found by libbpf. */
struct kernel_types {
	int fd; /* -1: there is no description; libbpf looks where else there may be one */
	char path[64];
};

/* An empty file, for the BPF object to be opened with. */
int kernel_types_new(struct kernel_types *ret_types, struct error *err);
/* Closes it; it may have been closed before. */
void kernel_types_close(struct kernel_types *types);

/*
 * Fills it with the types that the object, which has `wanted`, may ask for by name.
 * `ret_preempted`, unless NULL: whether tasks can be preempted in the programs of raw tracepoints.
 */
int kernel_types_fill(const struct kernel_types *types, const struct btf *wanted,
		      bool *ret_preempted, struct error *err);

#endif
