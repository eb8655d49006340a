/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BTF by which libbpf relocates our programs (CO-RE): the types they read, cut out of the
 * kernel's (btf_subset.h) into a file in memory. It is made anew for each run, in 2 ms; a copy on
 * disk would have to be kept up to date, checked and trusted.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_BTF_H
#define STACKTALLY_KERNEL_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct btf;

#define KERNEL_BTF_PATH "/sys/kernel/btf/vmlinux"

/* A file with the needed part of the BTF, whose path libbpf is given. */
struct kernel_btf {
	int fd; /* -1: the kernel has no BTF there; libbpf looks in other places */
	char path[64];
};

/* Makes the file, still empty, so that the BPF object can be opened with its path. */
int kernel_btf_new(struct kernel_btf *ret_btf, struct error *err);
/* May be called twice. */
void kernel_btf_close(struct kernel_btf *btf);

/* What the BTF tells of tracepoints. */
struct kernel_tracing {
	bool raw_preemptible; /* tasks can be preempted in the programs of raw tracepoints */
	bool counts_refused;  /* events for which perf's programs were not run, see
				 trigger/refusals.h */
};

/*
 * Fills the file with the types that `wanted`, the BPF object's own BTF, names. *ret_tracing may be
 * NULL.
 */
int kernel_btf_fill(const struct kernel_btf *btf, const struct btf *wanted,
		    struct kernel_tracing *ret_tracing, struct error *err);

#endif
