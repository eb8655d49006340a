/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns addresses and the symbols found for them into frames of `names`: with the module and the
 * object (file) that they are in, inlined functions and lines. `names` shares the strings of the
 * symbols.
 *
 * Borrows its parts. Not for several threads. Must not know: how symbols are found.
 */
#ifndef STACKTALLY_SYMBOLIZE_FRAME_BUILDER_H
#define STACKTALLY_SYMBOLIZE_FRAME_BUILDER_H

#include "kernel/kernel_names.h"
#include "process/images.h"
#include "symbolize/inlines.h"
#include "symbolize/symbol_cache.h"
#include "tally/names.h"
#include "tally/scripts.h"
#include "tally/tally.h"

struct frame_builder;

/*
 * `inlines` and `scripts` may be NULL. `file_addresses`: as in struct symbolizer_options. 0 or
 * -ENOMEM.
 */
int frame_builder_new(const struct images *images, struct symbol_cache *cache,
		      struct kernel_names *kernel, const struct inlines *inlines,
		      struct scripts *scripts, bool file_addresses,
		      struct frame_builder **ret_builder);
void frame_builder_free(struct frame_builder *builder);
DEFINE_OWN(struct frame_builder, frame_builder_free)

/* Adds the frames of the next `n` addresses to `names`. 0 or a negative errno. */
int frame_builder_add(struct frame_builder *builder, const struct tally_address *addresses,
		      const struct symbol_match *matches, uint32_t n, struct names *names);

/* Gives the address of an id, whose code has one frame, the frame of another match. */
int frame_builder_replace(struct frame_builder *builder, const struct tally_address *address,
			  const struct symbol_match *match, struct names *names, uint32_t id);

#endif
