/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a description of types (BTF, linux/btf.h, Documentation/bpf/btf.rst) that relocating
 * a program takes: the types of some names, and all that these contain. What they point at, and
 * functions, are left out: an access goes through the pointer's own type, by its name.
 *
 * The kernel describes 126,000 types in 5.5 MB, of which we read eight; libbpf copies it, indexes
 * it and compares the names of all with each of ours. Knows nothing of files and of libbpf.
 */
#ifndef STACKTALLY_KERNEL_BTF_SUBSET_H
#define STACKTALLY_KERNEL_BTF_SUBSET_H

#include <stddef.h>
#include <stdint.h>

/*
 * `btf` is aligned as malloc() does. Names are taken without their flavour (what follows "___"),
 * those of the description too; those that it does not have are passed over. The part is for
 * free(). -EINVAL: broken; -EOPNOTSUPP: a kind of type nobody knew when this was written.
 */
int btf_subset(const void *btf, size_t size, const char *const *names, uint32_t n_names,
	       void **ret_part, size_t *ret_size);

#endif
