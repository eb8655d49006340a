// SPDX-License-Identifier: GPL-2.0-or-later
/* Subsets of hostile BTF: libbpf can read each of them. */
#include <stdint.h>
#include <stdlib.h>

#include <bpf/btf.h>

#include "kernel/btf_subset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "outer", "kind", "word_t", "a" };
	struct btf *parsed;
	size_t subset_size;
	void *subset;

	if (btf_subset(data, size, names, sizeof(names) / sizeof(names[0]), &subset, &subset_size) <
	    0)
		return 0;
	parsed = btf__new(subset, (uint32_t)subset_size);
	if (!parsed)
		abort();
	btf__free(parsed);
	free(subset);
	return 0;
}
