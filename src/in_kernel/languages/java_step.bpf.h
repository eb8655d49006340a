/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step from a frame of HotSpot's generated code to its caller: by what is at its address, and
 * by whether it is at a call (languages/java_frames.bpf.h), was interrupted (java_leaves.bpf.h and
 * java_interpreted.bpf.h), is a stub (java_stubs.bpf.h), or in the heap (java_frozen.bpf.h).
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_STEP_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_STEP_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"
#include "languages/java_frames.bpf.h"
#include "languages/java_frozen.bpf.h"
#include "languages/java_interpreted.bpf.h"
#include "languages/java_leaves.bpf.h"
#include "languages/java_names.bpf.h"
#include "languages/java_stubs.bpf.h"

/*
 * Takes the slot's walk to the caller of a frame of a method, or of the interpreter; JAVA_GO_ON: it
 * is one of a stub, and java->blob is what it is in. A global function, which the verifier checks
 * once.
 */
__noinline int java_step_method(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	struct java_place *place;
	bool by_java, by_stub, by_native;
	__u64 pc;
	int end;

	if (!slot)
		return WIRE_END_STALE;
	java = &slot->interp.java_walk;
	pc = slot->walk.pc;
	by_native = slot->walk.callee_owner != UNWIND_GENERATED;
	by_java = !by_native && java->kind >= JAVA_INTERPRETED && java->kind <= JAVA_WRAPPER;
	by_stub = !by_native && java->kind == JAVA_STUBS;
	java->pc = pc;
	java->exact = slot->walk.exact;
	java->method = 0;
	java->bytecode = JAVA_NO_BYTECODE;
	java->reason = WIRE_SCRIPT_KNOWN;
	if (java_is_interpreter(java, pc)) {
		java->kind = JAVA_INTERPRETED;
		if (java->exact)
			return java_interpreted_leaf(number);
		end = by_native ? java_removed(number) : JAVA_GO_ON;
		if (end != JAVA_GO_ON)
			return end;
		return by_stub ? java_entered_stub(number) : java_interpreted(slot, number);
	}
	if (pc == java->is.call_stub_return && !java->exact) {
		java->kind = JAVA_ENTRY;
		return java_go_by_fp(slot, number);
	}
	place = java_place_of(number, pc, java->is.number);
	if (!place)
		return WIRE_END_STALE;
	if (!java->exact && place->pc == pc && place->machine == java->is.number) {
		__u32 id;

		if (bpf_probe_read_user(&id, sizeof(id),
					(const void *)(place->blob + java->is.compile_id)) == 0 &&
		    id == place->compile_id) {
			java->kind = place->kind;
			java->blob.at = place->blob;
			java->blob.frame = place->frame;
			java->blob.compile_id = id;
			java->blob.original_pc = place->original_pc;
			java->method = place->method;
			return java_compiled(slot, number, by_java);
		}
	}
	java->kind = java_find(number, pc);
	java->blob = java->other;
	if (java->kind == JAVA_NONE)
		return java_fail(slot, WIRE_SCRIPT_NO_CODE);
	if (java->kind != JAVA_COMPILED && java->kind != JAVA_WRAPPER)
		return JAVA_GO_ON;
	java->method = java->blob.method;
	if (java->exact) {
		end = java_leaf(number);
		return end == JAVA_GO_ON ? java_whole(number) : end;
	}
	if (pc != java->blob.deopt && pc != java->blob.deopt_handle)
		java->blob.original_pc = 0;
	*place = (struct java_place){
		.pc = pc,
		.machine = java->is.number,
		.blob = java->blob.at,
		.frame = java->blob.frame,
		.method = java->method,
		.original_pc = java->blob.original_pc,
		.kind = java->kind,
		.compile_id = java->blob.compile_id,
	};
	return java_compiled(slot, number, by_java);
}

/* As java_step_method(), of a frame of a stub. Two functions, as one has too much on its stack. */
__noinline int java_step_stub(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);

	return slot ? java_stub(slot, number) : WIRE_END_STALE;
}

/* Takes the slot's walk to the caller of a frame of generated code. */
#define java_has_step 1
static __always_inline int java_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	int end;

	if (slot && slot->interp.java_walk.frozen.chunk)
		return java_step_frozen(number);
	end = java_step_method(number);
	return end == JAVA_GO_ON ? java_step_stub(number) : end;
}

#endif
