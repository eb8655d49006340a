/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the walk of user stacks leaves to the room above, which knows interpreters. An object that
 * walks them (languages/interpreted.bpf.c) includes languages/interpreter.bpf.h first, which has
 * these functions; for all others they are here, and do nothing.
 */
#ifndef STACKTALLY_BPF_INTERPRETER_HOOKS_BPF_H
#define STACKTALLY_BPF_INTERPRETER_HOOKS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include "bpf/scratch.bpf.h"

#ifndef WALKS_INTERPRETERS
#define WALKS_INTERPRETERS 0 /* else 1 */

/* Whether the process that is walked has an interpreter that is known. */
static __always_inline bool interpreter_is_there(const struct scratch *slot)
{
	(void)slot;
	return false;
}

/*
 * Writes frames to frames[first...] until the walk ends, functions of programs in place of their
 * evaluators' frames; returns how many, and sets the enum wire_end. `may_ask` as in
 * bpf/unwind_user.bpf.h.
 */
static __always_inline __u32 interpreter_walk(struct scratch *slot, __u32 number, __u32 first,
					      bool may_ask, __u32 *ret_end)
{
	(void)slot;
	(void)number;
	(void)first;
	(void)may_ask;
	(void)ret_end;
	return 0;
}

/*
 * Writes the runs that an unfinished walk has not come to behind the slot's stack, where struct
 * wire_rest says; returns how many words that takes.
 */
static __always_inline __u32 interpreter_rest(struct scratch *slot, __u32 number)
{
	(void)slot;
	(void)number;
	return 0;
}
#endif

#endif
