/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes answers down as frames of `names`: joins each with the module it is in, the object
 * that is mapped there, inlined functions and lines. Shares the strings of the
 * answers with `names`.
 *
 * Borrows all else it is given. Must not know: how answers are found.
 */
#ifndef STACKTALLY_SYMBOLIZE_FRAME_BUILDER_H
#define STACKTALLY_SYMBOLIZE_FRAME_BUILDER_H

#include "kernel/kernel_names.h"
#include "process/images.h"
#include "symbolize/answers.h"
#include "symbolize/inlines.h"
#include "tally/names.h"
#include "tally/tally.h"

struct frame_builder;

/* `inlines` may be NULL. */
int frame_builder_new(const struct images *images, struct answers *answers,
		      struct kernel_names *kernel, const struct inlines *inlines,
		      struct frame_builder **ret_builder);
void frame_builder_free(struct frame_builder *builder);
DEFINE_OWN(struct frame_builder, frame_builder_free)

/* Names the next `n` addresses of `names`. 0 or a negative errno. */
int frame_builder_add(struct frame_builder *builder, const struct tally_address *addresses,
		      const struct answer *answers, uint32_t n, struct names *names);

/* Image 0 is the kernel's and that of processes that nothing is known of. */
static inline bool is_kernel_address(const struct tally_address *address)
{
	return address->image == TALLY_WORLD_KERNEL && address->address >> 63;
}

/*
 * A return address may be the first byte of the next function, when the call was the last thing
 * its function did: the byte before belongs to the call.
 */
static inline uint64_t lookup_address(const struct tally_address *address)
{
	bool exact = (address->flags & TALLY_ADDRESS_EXACT) || !address->address;

	return exact ? address->address : address->address - 1;
}

#endif
