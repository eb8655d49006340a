/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the values of a pprof file's samples is read, and what it is: the one that is asked for,
 * else the one that default_sample_type names, else the last, as pprof itself chooses.
 *
 * If each of these values is a number of samples times the period, as CPU time is, the samples are
 * read, and the facts say what one stands for: nothing is lost, and samples stay samples.
 */
#ifndef STACKTALLY_IMPORT_PPROF_VALUES_H
#define STACKTALLY_IMPORT_PPROF_VALUES_H

#include <stdint.h>

#include "base/pool.h"
#include "import/pprof_file.h"
#include "view/profile.h"

struct pprof_wanted {
	uint32_t wanted; /* index of the value */
};

/*
 * Sets what the facts say of values, time and duration; the pool gets strings. `name` is that of
 * the value, or NULL. 0, -ENOMEM, or -ENOENT: no value has that name.
 */
int pprof_values_choose(const struct pprof_file *file, const char *name, struct pool *pool,
			struct profile_meta *meta, struct pprof_wanted *ret_values);

/* "samples (count), cpu (nanoseconds)": the values that there are, cut at `size`. */
void pprof_values_list(const struct pprof_file *file, char *ret_text, size_t size);

/* The value of a sample. */
uint64_t pprof_values_value(const struct pprof_wanted *values, struct pprof_span sample);

#endif
