/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The name of a task, as two words. Older kernels leave parts of a former name behind its end.
 */
#ifndef STACKTALLY_BPF_COMM_H
#define STACKTALLY_BPF_COMM_H

#include <linux/types.h>

/* The word with all bytes cleared from the first zero byte on. */
static inline __attribute__((always_inline)) __u64 comm_until_nul(__u64 word)
{
	__u64 nuls = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;

	/* Only the lowest mark is sure to be of a zero byte. */
	return nuls ? word & (((nuls & -nuls) >> 7) - 1) : word;
}

/* Copies a name and pads it with zeros. */
static inline __attribute__((always_inline)) void comm_pad(const __u64 *name, __u64 *ret_name)
{
	ret_name[0] = comm_until_nul(name[0]);
	ret_name[1] = ret_name[0] >> 56 ? comm_until_nul(name[1]) : 0;
}

#endif
