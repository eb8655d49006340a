/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks and threads of a JFR file's chunks, as those of a tally. Frames that are equal have one
 * address in all chunks.
 */
#ifndef STACKTALLY_IMPORT_JFR_STACKS_H
#define STACKTALLY_IMPORT_JFR_STACKS_H

#include <stdint.h>

#include "import/jfr_chunk.h"
#include "tally/names.h"
#include "tally/tally.h"

#define JFR_FRAME_KINDS 32u /* more kinds of frames than this are taken for Java's */

/* What has been read of constants of the chunk, by their keys. */
struct jfr_known {
	enum jfr_known_kind { JFR_KNOWN_STACK, JFR_KNOWN_FRAME, JFR_KNOWN_THREAD } kind;
	uint64_t keys[3];      /* stack, state, object; method, line, kind; thread */
	struct tally_entry is; /* the stacks; the frame's address as `user`; comm and tid */
};

struct jfr_stacks {
	struct tally *tally; /* borrowed, as names and pool are */
	struct names *names;
	struct pool *pool;
	struct jfr_chunk *chunk;
	struct index frames; /* of addresses, by their names */
	struct jfr_known *known;
	uint32_t n_known, known_capacity;
	struct index index; /* of them */
	struct bytes text;
	/* The kinds of frames of the chunk, by their keys. */
	enum jfr_frame_kind {
		JFR_FRAME_JAVA,
		JFR_FRAME_INLINED,
		JFR_FRAME_NATIVE,
		JFR_FRAME_KERNEL
	} kinds[JFR_FRAME_KINDS];
	uint32_t user[TALLY_MAX_FRAMES], kernel[TALLY_MAX_FRAMES]; /* leaf first */
	uint32_t n_user, n_kernel;
	bool cut_user, cut_kernel;
};

void jfr_stacks_start(struct jfr_stacks *stacks, struct tally *tally, struct names *names,
		      struct pool *pool);
void jfr_stacks_clear(struct jfr_stacks *stacks);

/* The following are of this chunk, whose constants were read. 0, -EBADMSG, -ENOMEM. */
int jfr_stacks_begin(struct jfr_stacks *stacks, struct jfr_chunk *chunk);

/*
 * Sets the stacks of an entry. Fields may be missing: `state` of the thread, which is a leaf of its
 * own unless the thread ran, and `object`, the class of what the event is about, which is another.
 */
int jfr_stacks_stack(struct jfr_stacks *stacks, const struct jfr_value *stack,
		     const struct jfr_value *state, const struct jfr_value *object,
		     struct tally_entry *entry);
/* Sets the comm and the tid of an entry. */
int jfr_stacks_thread(struct jfr_stacks *stacks, const struct jfr_value *thread,
		      struct tally_entry *entry);

#endif
