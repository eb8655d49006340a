/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the symbols of a tally's addresses. Groups the addresses by where they are looked up (the
 * kernel, a mapped file, the vDSO, the generated code of a process) and looks up each group in one
 * go: a file is opened and read once, however many processes and addresses it occurs in.
 *
 * Not for several threads. Must not know: how symbols become frames.
 */
#ifndef STACKTALLY_SYMBOLIZE_LOOKUP_H
#define STACKTALLY_SYMBOLIZE_LOOKUP_H

#include "kernel/kernel_names.h"
#include "process/images.h"
#include "symbolize/address.h"
#include "symbolize/debug_file.h"
#include "symbolize/demangle.h"
#include "symbolize/inlines.h"
#include "symbolize/sources.h"
#include "symbolize/symbol_cache.h"
#include "tally/tally.h"

#define LOOKUP_MAX (1u << 20) /* addresses in one call */

/* All parts are borrowed, but for `debuginfod`. */
struct lookup {
	struct images *images;
	struct symbol_cache *cache;
	struct kernel_names *kernel;
	struct confined *readers; /* read files of users */
	struct inlines *inlines;  /* or NULL */
	struct scripts *scripts;  /* or NULL */
	struct sources_refused refused;
	struct debug_places places;
	bool use_debuginfod, debuginfod_tried;
	struct debuginfod *debuginfod; /* made when first needed; the caller frees it */
	void (*progress)(void *context, uint32_t done, uint32_t total); /* in groups; or NULL */
	void *progress_context;
	uint32_t n_done, n_groups; /* for progress() */
	uint32_t packed_symbol;	   /* of what packed programs unpacked */
	uint32_t jit_symbol;	   /* of anonymous memory that no source has a name for: "[jit]" */
	uint32_t vsyscall_symbols[VSYSCALL_N];
	bool met_kernel; /* there were kernel addresses */
	char demangled[DEMANGLE_SIZE];
};

/* Sets one match for each address. 0 or a negative errno. */
int lookup_resolve(struct lookup *lookup, const struct tally_address *addresses, uint32_t n,
		   struct symbol_match *matches);

#endif
