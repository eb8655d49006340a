/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search.
 */
#ifndef STACKTALLY_BASE_PARTITION_H
#define STACKTALLY_BASE_PARTITION_H

#include <stddef.h>

/*
 * The first index of [0, n) for which the condition on `i` does not hold, n if there is none. The
 * condition must hold for a prefix of the indices and for none behind it:
 *
 *	size_t above = partition_point(i, n, ranges[i].start <= address);
 */
#define partition_point(i, n, condition)                                                           \
	({                                                                                         \
		size_t partition_low_ = 0, partition_high_ = (n);                                  \
		while (partition_low_ < partition_high_) {                                         \
			size_t i = partition_low_ + (partition_high_ - partition_low_) / 2;        \
			if (condition)                                                             \
				partition_low_ = i + 1;                                            \
			else                                                                       \
				partition_high_ = i;                                               \
		}                                                                                  \
		partition_low_;                                                                    \
	})

#endif
