/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Shared by the BPF program and the command. */
#ifndef STACKTALLY_TESTS_COMPARE_H
#define STACKTALLY_TESTS_COMPARE_H

#include <linux/types.h>

#define COMPARE_DEPTH 64

struct compare_stack {
	__u64 frames[COMPARE_DEPTH];
};

struct compare_difference {
	__u32 n_walked, n_asked;
	__u64 walked[COMPARE_DEPTH], asked[COMPARE_DEPTH];
};

struct compare_totals {
	__u64 events, walked, different; /* walked: by our walk, without the helper */
};

#endif
