/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of generated code that are to be looked up again: a runtime names code after it was
 * sampled, or puts other code at its address. Both show in its perf map or jitdump file, which has
 * grown then.
 *
 * Must not know: what is in these files.
 */
#ifndef STACKTALLY_SYMBOLIZE_JIT_AGAIN_H
#define STACKTALLY_SYMBOLIZE_JIT_AGAIN_H

#include "process/images.h"
#include "tally/names.h"
#include "tally/tally.h"

/* Zeroed at first. */
struct jit_again {
	struct jit_files {
		int64_t sizes[2];    /* when addresses were last looked up, by enum jit_file */
		uint32_t round;	     /* that looked at them last */
		bool grown;	     /* then */
		bool over, was_over; /* the image, then and at the look before */
	} * files;		     /* by image */
	uint32_t n, capacity, round;
};

void jit_again_free(struct jit_again *again);

/*
 * The ids of the addresses that have names and are to be looked up again; the caller frees them. 0
 * or -ENOMEM.
 */
int jit_again_find(struct jit_again *again, const struct images *images, const struct tally *tally,
		   const struct names *names, uint32_t **ret_ids, uint32_t *ret_n);

#endif
