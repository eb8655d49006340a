/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The functions of Java, as HotSpot runs them. Each frame of generated code is one of the
 * interpreter, of compiled code, in which several functions may be inlined, or of a stub. The step
 * from it (languages/java_step.bpf.h) leaves what it was; its functions are put in its place here.
 *
 * In compiled code, HotSpot knows which functions run at calls. At other instructions, those are
 * shown that are at the points before and behind it; what these differ in is not guessed.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_frames.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"
#include "languages/java_names.bpf.h"
#include "languages/java_step.bpf.h"
#include "languages/left_frame.bpf.h"

/* Finds the machine: there is no more that a thread has. */
static __always_inline bool java_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	struct java_walk *java = &interp->java_walk;
	const struct wire_java_process *is;
	__u32 tgid = slot->walk.tgid;

	(void)number;
	java->kind = JAVA_NONE;
	java->frozen.chunk = 0;
	java->is.low = 0;
	java->is.high = 0;
	interp->reason = WIRE_SCRIPT_EARLY;
	is = bpf_map_lookup_elem(&java_processes, &tgid);
	if (!is || is->interpreter != interp->number || is->bias != interp->bias)
		return false;
	interp->reason = is->refused;
	if (is->refused)
		return false;
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	java->is = *is;
	interp->generated = is->low;
	interp->generated_size = is->high - is->low;
	return false;
}

#define java_has_sees_function 1
static __always_inline bool java_sees_function(struct scratch *slot, const struct left_frame *left)
{
	(void)slot;
	return left->own;
}

static __always_inline __u64 java_frame(__u64 id)
{
	return WIRE_FRAME_SCRIPT | (__u64)LANGUAGE_JAVA << WIRE_FRAME_LANGUAGE_SHIFT | id;
}

/* Stages a method; `bytecode` as in java_id_at(). */
static __always_inline void java_stage_method(struct scratch *slot, __u32 number, __u64 method,
					      __u64 bytecode)
{
	__u64 id = method ? java_method_id(number, method) : 0;

	interp_stage(slot, LANGUAGE_JAVA,
		     id ? java_id_at(number, method, id, bytecode) : WIRE_SCRIPT_UNREADABLE);
}

/* Stages what compiled code is known to run at a place. False: it is not known yet. */
static __always_inline bool java_stage_known(struct scratch *slot, const struct java_place *place,
					     __u64 pc)
{
	const struct java_walk *java = &slot->interp.java_walk;
	__u64 n = place->n;

	if (place->pc != pc || place->machine != java->is.number || place->blob != java->blob.at ||
	    place->compile_id != java->blob.compile_id || !n)
		return false;
	OPAQUE(n);
	if (n > JAVA_PLACE_IDS ||
	    bpf_probe_read_kernel(&slot->frames[STAGED_AT], n * sizeof(__u64), place->ids))
		return false;
	slot->interp.n = n;
	return true;
}

/* Keeps what was staged for a place. */
static __always_inline void java_keep(struct scratch *slot, struct java_place *place, __u64 pc)
{
	const struct java_walk *java = &slot->interp.java_walk;
	__u64 n = slot->interp.n;

	if (java->blob.original_pc)
		return;
	*place = (struct java_place){
		.pc = pc,
		.machine = java->is.number,
		.blob = java->blob.at,
		.frame = java->blob.frame,
		.method = java->method,
		.kind = java->kind,
		.compile_id = java->blob.compile_id,
	};
	OPAQUE(n);
	if (n <= JAVA_PLACE_IDS &&
	    bpf_probe_read_kernel(place->ids, n * sizeof(__u64), &slot->frames[STAGED_AT]) == 0)
		place->n = n;
}

/*
 * Stages a function of a chain; `at`: whether where in it is known. A global function, which the
 * verifier checks once.
 */
__noinline int java_stage_scope(__u32 number, __u32 chain, __u64 which, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	const struct java_walk *java;
	__u64 scope, entry, method = 0, bytecode;

	if (!slot)
		return 0;
	java = &slot->interp.java_walk;
	scope = java->chains[chain & 1][which % JAVA_SCOPES];
	entry = java->tables.metadata + ((scope >> 32) - 1) * sizeof(entry);
	/* One more than the offset, which is -1 before the first bytecode. */
	bytecode = (__u32)scope ? (__u32)scope - 1 : 0;
	if (entry < java->tables.metadata_end)
		read_word(&method, entry);
	java_stage_method(slot, number, method, at ? bytecode : JAVA_NO_BYTECODE);
	return 0;
}

/*
 * Stages the functions that run in compiled code. A global function, which the verifier checks
 * once.
 */
__noinline int java_stage_compiled(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct java_place *place;
	struct java_walk *java;
	__u32 found, n;
	__u64 pc;

	if (!slot)
		return 0;
	java = &slot->interp.java_walk;
	pc = java->pc | (java->exact ? JAVA_EXACT : 0);
	place = java_place_of(number, pc, java->is.number);
	if (!place || java_stage_known(slot, place, pc))
		return 0;
	found = java_functions(number);
	n = found & 0xffff;
	/* The next point may be right; the frame before these says that they are a guess. */
	if (n && found >> 16 && config_has(WIRE_NEAR))
		for (__u32 i = 0; i < JAVA_SCOPES && i + n < java->next_depth; i++)
			java_stage_scope(number, 1, i, true);
	if (!n || found >> 16)
		interp_stage(slot, LANGUAGE_JAVA, WIRE_SCRIPT_NEAR);
	for (__u32 i = 0; i < JAVA_SCOPES && i < n; i++)
		java_stage_scope(number, 0, (__u64)java->depth - n + i, i || java->same);
	if (!n)
		java_stage_method(slot, number, java->method, JAVA_NO_BYTECODE);
	java_keep(slot, place, pc);
	return 0;
}

/* Stages the name that HotSpot has for a stub, in brackets. */
__noinline int java_stage_stub(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { .kind = WIRE_TEXT_UTF8 };
	struct interpreter_walk *interp;
	long size;

	if (!slot)
		return 0;
	interp = &slot->interp;
	if (java_find(number, interp->java_walk.pc) == JAVA_NONE)
		return 0;
	name.from = JAVA_IN(&interp->java_walk, interp->java_walk.is.blob_name, __u64);
	interp->line = 0;
	interp->content = 0;
	interp->id = code_id(interp, name.from, 0, 0);
	if (!is_sent(interp) && has_room_for_names()) {
		__u64 end;

		interp->message.name[0] = '[';
		size = bpf_probe_read_user_str(interp->message.name + 1, JAVA_NAME_ROOM,
					       (const void *)name.from);
		end = size;
		OPAQUE(end);
		if (size <= 0 || end > JAVA_NAME_ROOM)
			return 0;
		interp->message.name[end] = ']';
		name.size = end + 1;
		send_message(interp, &name, &file);
	}
	interp_stage(slot, LANGUAGE_JAVA, interp->id);
	return 0;
}

/*
 * Puts the functions of the last frame, which the step has left, in its place. A global function,
 * which the verifier checks once.
 */
#define java_has_place 1
__noinline int java_place(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct interpreter_walk *interp;
	struct java_walk *java;
	bool keep = config_has(WIRE_NATIVE);

	if (!slot || slot->interp.language != LANGUAGE_JAVA)
		return 0;
	interp = &slot->interp;
	java = &interp->java_walk;
	interp->n = 0;
	if (java->kind == JAVA_COMPILED)
		java_stage_compiled(number);
	else if (java->kind == JAVA_INTERPRETED || java->kind == JAVA_WRAPPER)
		java_stage_method(slot, number, java->method, java->bytecode);
	else if (java->kind == JAVA_STUBS || java->kind == JAVA_CONTINUATION ||
		 java->kind == JAVA_RUNTIME)
		java_stage_stub(number);
	else if (java->kind == JAVA_BARRIER)
		interp_stage(slot, LANGUAGE_JAVA, WIRE_SCRIPT_FROZEN);
	if (java->reason)
		interp_stage(slot, LANGUAGE_JAVA, java->reason);
	if (interp->n)
		frames_replace_by_staged(slot, interp->n, keep);
	else if (!keep)
		frames_drop(slot);
	return 0;
}

#endif
