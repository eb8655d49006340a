/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the kernel side that each CPU has for itself.
 */
#ifndef STACKTALLY_GAUGE_COUNTERS_H
#define STACKTALLY_GAUGE_COUNTERS_H

#include <stddef.h>

struct bpf_map;

/*
 * Adds up what the CPUs have in the one entry of a per-CPU map, a struct of `size` bytes that has
 * numbers of 64 bits only, to *ret_sum. 0 or a negative errno.
 */
int counters_read(const struct bpf_map *map, void *ret_sum, size_t size);

#endif
