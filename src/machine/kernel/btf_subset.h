/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts out of BTF (linux/btf.h; Documentation/bpf/btf.rst) what relocating a program takes: the
 * types of some names and, without end, the types of their members. A pointer's target and
 * functions are left out, since CO-RE finds the type behind a pointer by its own name.
 *
 * The kernel's BTF has 126,000 types in 5.5 MB, of which we read eight; libbpf would copy and index
 * it and compare all its names with each of ours. A pure function of bytes.
 */
#ifndef STACKTALLY_KERNEL_BTF_SUBSET_H
#define STACKTALLY_KERNEL_BTF_SUBSET_H

#include <stddef.h>
#include <stdint.h>

/*
 * `btf` is aligned as by malloc(). Names are compared without their flavour ("___" and what
 * follows, see libbpf's bpf_core_read.h) on both sides; names that `btf` does not have are skipped.
 * The caller frees *ret_subset. 0; -ENOMEM; -EINVAL when `btf` is broken; -E2BIG when the names
 * would take over 16 MB; -EOPNOTSUPP for a kind of type newer than BTF_KIND_ENUM64.
 */
int btf_subset(const void *btf, size_t size, const char *const *names, uint32_t n_names,
	       void **ret_subset, size_t *ret_size);

#endif
