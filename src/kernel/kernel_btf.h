/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libbpf relocates the programs by: the part of the kernel's description of its types that
 * they read (see btf_subset.h), in a file that is nowhere but in memory. Found anew each time, in
 * 2 ms: a copy on disk would have to be kept, checked, and trusted.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_BTF_H
#define STACKTALLY_KERNEL_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct btf;

#define KERNEL_BTF_PATH "/sys/kernel/btf/vmlinux"

/* Where the file is to be found by libbpf. */
struct kernel_btf {
	int fd; /* -1: there is no description; libbpf looks where else there may be one */
	char path[64];
};

/* An empty file, for the BPF object to be opened with. */
int kernel_btf_new(struct kernel_btf *ret_types, struct error *err);
/* Closes it; it may have been closed before. */
void kernel_btf_close(struct kernel_btf *types);

/*
 * Fills it with the types that the object, which has `wanted`, may ask for by name.
 * `ret_preemptible`, unless NULL: whether tasks can be preempted in the programs of raw
 * tracepoints.
 */
int kernel_btf_fill(const struct kernel_btf *types, const struct btf *wanted, bool *ret_preemptible,
		    struct error *err);

#endif
