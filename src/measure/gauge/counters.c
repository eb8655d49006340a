// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge/counters.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"

int counters_read(const struct bpf_map *map, void *ret_sum, size_t size)
{
	size_t n = size / sizeof(uint64_t);
	int cpus = libbpf_num_possible_cpus();
	own(own_free) uint64_t *each = NULL;
	uint64_t *sum = ret_sum;
	uint32_t zero = 0;

	if (cpus < 0)
		return cpus;
	each = calloc((uint32_t)cpus, size);
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(map), &zero, each) < 0)
		return -errno;
	memset(ret_sum, 0, size);
	for (size_t i = 0; i < (uint32_t)cpus * n; i++)
		sum[i % n] += each[i];
	return 0;
}
