/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the addresses of a tally: of the kernel by its own symbols, of user code by what process
 * images have mapped there. A file is read once, however many processes map it. sources.h has the
 * order of the sources of names.
 *
 * Used by one thread at a time, but for symbolizer_prepare(). Must not know: BPF, formats, options
 * of the commands.
 */
#ifndef STACKTALLY_SYMBOLIZE_SYMBOLIZER_H
#define STACKTALLY_SYMBOLIZE_SYMBOLIZER_H

#include "base/error.h"
#include "confined/confined.h"
#include "kernel/kernel_symbols.h"
#include "process/images.h"
#include "tally/names.h"
#include "tally/tally.h"

struct symbolizer_options {
	const char *symfs;	    /* BCC_SYMFS, or NULL */
	const char *debuginfo_root; /* BCC_DEBUGINFO_ROOT, or NULL: /usr/lib/debug */
	bool debuginfod;     /* fetch missing debug files from the servers in DEBUGINFOD_URLS */
	bool inlines;	     /* inlined functions become frames of their own */
	bool lines;	     /* file and line of each frame */
	bool file_addresses; /* frames have their addresses in files (`base`), and objects `bias` */
	bool patient; /* the user named the processes: files of any owner may take their time */
	/* Called between files, and every second while one takes long; or NULL. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
	struct scripts *scripts; /* of interpreted programs, borrowed; or NULL */
};

struct scripts;
struct sources_refused;
struct kernel_names;
struct symbolizer;

/* `images` is borrowed, and so are the strings of the options. 0 or -ENOMEM. */
int symbolizer_new(struct images *images, const struct symbolizer_options *options,
		   struct symbolizer **ret_symbolizer);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Frees what was found in user code: call it when images were renumbered (images_forget()) and
 * names_clear() was called. 0 or -ENOMEM.
 */
int symbolizer_forget(struct symbolizer *symbolizer);

/*
 * Looks up kernel symbols with `lookup` from now on, which must stay valid. -ENOTSUP when the
 * kernel does not support that, -ENOMEM: then /proc/kallsyms is read.
 */
int symbolizer_ask_kernel(struct symbolizer *symbolizer, const struct kernel_lookup *lookup);

/*
 * Reads the kernel's symbols now, if they have to be read, so that the first resolve need not wait
 * for that. Another thread may call it while sampling goes on.
 */
void symbolizer_prepare(struct symbolizer *symbolizer);

/* The kernel's symbols; borrowed. */
struct kernel_names *symbolizer_kernel(struct symbolizer *symbolizer);

/*
 * Adds to `names` the names of the tally's addresses that it does not have yet, in the order of
 * their ids. An address without a name is no error. 0 or a negative errno.
 *
 * Addresses of generated code are looked up again where their process has written more names, and
 * then have the name that is there now.
 */
int symbolizer_resolve(struct symbolizer *symbolizer, const struct tally *tally,
		       struct names *names, struct error *err);

/*
 * Why kernel addresses have no names, as advice to the user ("kernel.kptr_restrict hides ...");
 * NULL when they have, or when there were none. Valid after a resolve.
 */
const char *symbolizer_kernel_advice(const struct symbolizer *symbolizer);

/*
 * What could not be read for names lately: files that took more than their owner's time, or made a
 * child that read them crash.
 */
struct confined_losses symbolizer_losses(const struct symbolizer *symbolizer);

/* Files that would name generated code and were not read, as another user's; borrowed. */
const struct sources_refused *symbolizer_refused(const struct symbolizer *symbolizer);

/*
 * The number of compilation units whose inlined functions are in .dwo files that are not there, as
 * far as it is kept, and one of these files, valid until the next call of another function.
 */
uint32_t symbolizer_n_missing_inlines(const struct symbolizer *symbolizer, const char **ret_file);

/* The number of files whose inlined functions and lines could not be read to the end. */
uint32_t symbolizer_n_broken_inlines(const struct symbolizer *symbolizer);

#endif
