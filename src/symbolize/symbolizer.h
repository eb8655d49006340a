/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the addresses of a tally into names: asks the images what was mapped where, and a chain
 * of sources what is there: kallsyms for the kernel; symbol tables, debug files, perf maps and
 * the vDSO for user code. One symbol table for each file identity, shared by all processes.
 *
 * Must not know: BPF, formats, options of the commands.
 */
#ifndef STACKTALLY_SYMBOLIZE_SYMBOLIZER_H
#define STACKTALLY_SYMBOLIZE_SYMBOLIZER_H

#include "base/error.h"
#include "kernel/kernel_symbols.h"
#include "process/images.h"
#include "tally/names.h"
#include "tally/tally.h"

struct symbolizer_options {
	const char *symfs;	    /* BCC_SYMFS, or NULL */
	const char *debuginfo_root; /* BCC_DEBUGINFO_ROOT, or NULL: /usr/lib/debug */
	bool debuginfod; /* DEBUGINFOD_URLS is set: ask the network for what is missing */
	bool inlines;	 /* inlined functions as frames of their own */
	bool lines;	 /* file and line of each frame */
	/* Called between files, and while one takes long, for a user who waits; or NULL. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

struct kernel_names;
struct symbolizer;

/* `images` is borrowed and must outlive the symbolizer. */
int symbolizer_new(struct images *images, const struct symbolizer_options *options,
		   struct symbolizer **ret_symbolizer);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Forgets what was found in user code, which is looked up again when it is met again: when the ids
 * of images are given anew (images_forget()), and names_clear() was called. 0 or -ENOMEM.
 */
int symbolizer_forget(struct symbolizer *symbolizer);

/*
 * Has the kernel asked for its names, as long as the asker's context is there. -ENOTSUP when it
 * does not answer, -ENOMEM: then its symbols are read.
 */
int symbolizer_ask_kernel(struct symbolizer *symbolizer, const struct kernel_lookup *asker);

/*
 * Reads the kernel's symbols now rather than at the first resolve: called while sampling, so
 * that the report need not wait for it. Harmless to leave out.
 */
void symbolizer_prepare(struct symbolizer *symbolizer);

/* The kernel's symbols, which live as long as the symbolizer. */
struct kernel_names *symbolizer_kernel(struct symbolizer *symbolizer);

/*
 * Names every address of the tally that `names` does not name yet, in the order of their ids.
 * An address without a name is a result, not an error. Returns 0 or a negative errno.
 */
int symbolizer_resolve(struct symbolizer *symbolizer, const struct tally *tally,
		       struct names *names, struct error *err);

/*
 * Why kernel addresses have no names, as advice for the user ("kernel.kptr_restrict hides ..."),
 * or NULL when they have. Valid after a resolve.
 */
const char *symbolizer_kernel_advice(const struct symbolizer *symbolizer);

/* In how many files inlined functions and lines were not read to the end. */
uint32_t symbolizer_n_broken_inlines(const struct symbolizer *symbolizer);

#endif
