/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of user stacks that the BPF programs do (bpf/unwind_user.bpf.h, languages/), from the
 * same source, compiled for user space. There it reads the memory of threads that sleep: these
 * cause no event, and a BPF program reads the memory of the current process only.
 *
 * What the verifier proves of the source holds here, too: each loop ends, and no access is outside
 * of the scratch slot, whatever the process's memory has. For one thread. Must not know: where
 * threads come from, what becomes of stacks.
 */
#ifndef STACKTALLY_USER_WALK_USER_WALK_H
#define STACKTALLY_USER_WALK_USER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "interpreters/interpreters.h"
#include "process/remote_memory.h"
#include "unwind/unwind.h"

struct user_walk;

/* All is borrowed. */
struct user_walk_options {
	const struct wire_config *config; /* that of the BPF programs; copied */
	const struct unwind *unwind;
	const struct interpreters *interpreters;
	struct remote_memory *memory;
	/*
	 * Takes a record of the kinds WIRE_KIND_SCRIPT, PLACE or INLINED, as the BPF programs send
	 * it, before the stack that it is of. 0 or a negative errno.
	 */
	int (*take)(void *context, const void *record, size_t size);
	void *context;
};

/* 0 or -ENOMEM. */
int user_walk_new(const struct user_walk_options *options, struct user_walk **ret_walk);
/* May be NULL. */
void user_walk_free(struct user_walk *walk);

/* A thread that sleeps. */
struct user_walk_thread {
	uint32_t tgid, tid;
	uint64_t pointer;		 /* where it finds its own data */
	const struct unwind_walk *begin; /* pc, exact and registers are set */
};

/* Whether the process has an interpreter, whose functions this walk finds. */
bool user_walk_is_needed(const struct user_walk *walk, uint32_t tgid);

/*
 * Walks the thread's stack. `stack` has the process and its image; sets its n_user, end and flags.
 * `*ret_frames` are the user frames, in the form of struct wire_stack, valid until the next call.
 * 0; 1: a table that may come yet was missing; or a negative errno of `take`.
 */
int user_walk_stack(struct user_walk *walk, const struct user_walk_thread *thread,
		    struct wire_stack *stack, const uint64_t **ret_frames);

#endif
