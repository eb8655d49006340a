// SPDX-License-Identifier: GPL-2.0-or-later
/* A description of types: what is taken from it, libbpf can read. */
#include <stdint.h>
#include <stdlib.h>

#include <bpf/btf.h>

#include "kernel/btf_subset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "outer", "kind", "word_t", "a" };
	struct btf *parsed;
	size_t part_size;
	void *part;

	if (btf_subset(data, size, names, sizeof(names) / sizeof(names[0]), &part, &part_size) < 0)
		return 0;
	parsed = btf__new(part, (uint32_t)part_size);
	if (!parsed)
		abort();
	btf__free(parsed);
	free(part);
	return 0;
}
