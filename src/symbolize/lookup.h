/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers addresses: finds out which source knows each one (the kernel's symbols, a mapped file,
 * the vDSO, a perf map) and asks each source once for all that it is to answer, so that a file
 * is opened and passed over once, however many processes and addresses it occurs in.
 *
 * Borrows all its parts. Must not know: how answers become frames.
 */
#ifndef STACKTALLY_SYMBOLIZE_LOOKUP_H
#define STACKTALLY_SYMBOLIZE_LOOKUP_H

#include "kernel/kernel_names.h"
#include "process/images.h"
#include "symbolize/answers.h"
#include "symbolize/debug_files.h"
#include "symbolize/inlines.h"
#include "tally/tally.h"

#define LOOKUP_MAX (1u << 20) /* addresses in one call */

struct lookup {
	struct images *images;
	struct answers *answers;
	struct kernel_names *kernel;
	struct inlines *inlines; /* or NULL */
	struct debug_places places;
	bool ask_debuginfod, debuginfod_tried;
	struct debuginfod
		*debuginfod; /* made when first needed; the owner of the lookup frees it */
	void (*progress)(void *context, uint32_t done, uint32_t total); /* or NULL */
	void *progress_context;
	uint32_t n_done, n_groups; /* for it */
	uint32_t jit_symbol;	   /* "[jit]": generated code that nothing names */
	bool met_kernel;	   /* there were kernel addresses */
};

/* One answer for each address. 0 or a negative errno. */
int lookup_answer(struct lookup *lookup, const struct tally_address *addresses, uint32_t n,
		  struct answer *answers);

#endif
