/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The functions of JavaScript, as V8 runs them. Each has a native frame of its own, in generated
 * code or in V8's bytecode interpreter, that the native walk finds; what it lacks is a name. All
 * frames of V8 have a frame pointer and below it either a number, their type, or the context and
 * the function of a JavaScript frame. Optimized code may be of several functions: those that were
 * inlined have no frames, and a frame of ours says so.
 *
 * Objects move, so functions are known by what their texts say. Whatever is read belongs to the
 * process and may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_JAVASCRIPT_BPF_H
#define STACKTALLY_LANGUAGES_JAVASCRIPT_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_frames.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/javascript_code.bpf.h"
#include "languages/javascript_strings.bpf.h"
#include "languages/left_frame.bpf.h"

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int javascript_send_name(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	struct found_text name = { .kind = 1 }, file = { .kind = 1 };
	struct interpreter_walk *interp;
	int written;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	if (interp->file) {
		written = javascript_write(number, interp->file, 1);
		if (written < 0)
			return 0;
		text_of(written, &file);
		bpf_probe_read_kernel(interp->message.file, WIRE_SCRIPT_TEXT, interp->message.name);
	}
	if (interp->name) {
		written = javascript_write(number, interp->name, 0);
		if (written < 0)
			return 0;
		text_of(written, &name);
	}
	send_message(interp, &name, &file);
	return 0;
}

#define JAVASCRIPT_NO_STRING 1ull /* in place of a string: it cannot be read */

#define JAVASCRIPT_STRING_BYTES 16 /* the map, the hash and the length of a string */

/*
 * A string that has characters; 0: it is none, or a number, or another object if that `may_be`.
 * Keeps its hash.
 */
static __always_inline __u64 full_string(struct interpreter_walk *interp, __u64 word, bool may_be)
{
	__u64 head[JAVASCRIPT_STRING_BYTES / sizeof(__u64)];
	__u32 type;

	if (!is_object(word))
		return 0;
	if (bpf_probe_read_user(head, sizeof(head), (const void *)(word - 1)))
		return JAVASCRIPT_NO_STRING;
	type = map_type(interp, head[0]);
	if (type >= interp->javascript.type_not_string)
		return type == JAVASCRIPT_NO_TYPE || !may_be ? JAVASCRIPT_NO_STRING : 0;
	interp->javascript_walk.string = word;
	interp->javascript_walk.hash =
		AT((__u8 *)head, interp->javascript.string_hash, JAVASCRIPT_STRING_BYTES, __u64);
	return interp->javascript_walk.hash >> 32 ? word : 0;
}

/*
 * What a function has in place of its name: that, or its scope, which has the name, or the one that
 * V8 infers from what the function is assigned to, as V8's own stacks show them; 0: it has none. As
 * full_string(). A global function, which the verifier checks once.
 */
__noinline __u64 javascript_name(__u32 number, __u64 scope)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	const struct wire_javascript *is;
	struct interpreter_walk *interp;
	__u64 head[JAVASCRIPT_HEAD_BYTES / sizeof(__u64)], n, words[4], name;

	if (!slot)
		return 0;
	interp = &slot->interp;
	is = &interp->javascript;
	if (!is_object(scope))
		return 0;
	if (bpf_probe_read_user(head, sizeof(head), (const void *)(scope - 1)))
		return JAVASCRIPT_NO_STRING;
	if (map_type(interp, head[0]) != is->type_scope)
		return full_string(interp, scope, false);
	if ((AT((__u8 *)head, is->scope_flags, JAVASCRIPT_HEAD_BYTES, __u32) & is->scope_kinds) !=
	    is->scope_of_function)
		return 0;
	n = AT((__u8 *)head, is->scope_count, JAVASCRIPT_HEAD_BYTES, __u64) >> 32;
	/* The variables' names, or a table of them; then a word for each; then ours. */
	n += n < is->scope_most_inlined ? n : 1;
	if (bpf_probe_read_user(words, sizeof(words),
				(const void *)(scope - 1 + is->scope_names + n * sizeof(__u64))))
		return JAVASCRIPT_NO_STRING;
	/* A number may come first: where a method's class is. */
	if (!is_object(words[0])) {
		words[0] = words[1];
		words[2] = words[3];
	}
	name = full_string(interp, words[0], false);
	return name ? name : full_string(interp, words[2], true);
}

enum javascript_found {
	JAVASCRIPT_FOUND,
	JAVASCRIPT_NATIVE, /* a function of V8's own */
	JAVASCRIPT_UNREADABLE,
};

/* Copies what a function's closures share to program->code, from where it has moved to. */
static __always_inline bool copy_shared(struct interpreter_walk *interp, __u64 shared)
{
	__u64 map;

	for (__u32 i = 0; i < 2; i++) {
		if (!is_object(shared) || bpf_probe_read_user(interp->code, JAVASCRIPT_OBJECT_BYTES,
							      (const void *)(shared - 1)))
			return false;
		map = *(__u64 *)interp->code;
		interp->javascript_walk.map = map;
		if (is_object(map))
			return map_type(interp, map) == interp->javascript.type_shared;
		/* The collector is at work, and has left the new address, without a tag. */
		shared = map + 1;
	}
	return false;
}

/* Of a script: V8's number for it is among them, which no other script of the process ever gets. */
#define JAVASCRIPT_SCRIPT_BYTES	   96
#define JAVASCRIPT_SCRIPT_CAPACITY 128 /* in the window, which has room for more */

/* Copies an object that should be a script to the window; its type. */
static __always_inline __u32 copy_script(struct interpreter_walk *interp, __u64 script)
{
	if (!is_object(script) || bpf_probe_read_user(interp->window.bytes, JAVASCRIPT_SCRIPT_BYTES,
						      (const void *)(script - 1)))
		return JAVASCRIPT_NO_TYPE;
	return map_type(interp, *(const __u64 *)interp->window.bytes);
}

/*
 * The script of the function in program->code, which is copied to the window if it is not the one
 * found last; 0: none, as of V8's own functions; JAVASCRIPT_NO_STRING: it cannot be read.
 */
static __always_inline __u64 script_of(struct interpreter_walk *interp)
{
	const struct wire_javascript *is = &interp->javascript;
	__u64 script = AT(interp->code, is->shared_script, JAVASCRIPT_OBJECT_BYTES, __u64);
	__u32 type;

	if (script == interp->javascript_walk.script && script)
		return script;
	type = copy_script(interp, script);
	if (type == is->type_debug) { /* a debugger has stopped in it */
		script = AT(interp->window.bytes, is->debug_script, JAVASCRIPT_SCRIPT_CAPACITY,
			    __u64);
		type = copy_script(interp, script);
	}
	if (type == JAVASCRIPT_NO_TYPE)
		return JAVASCRIPT_NO_STRING;
	return type == is->type_script ? script : 0;
}

/* Sets the file of a function, by its script, which is the one found last or in the window. */
static __always_inline void javascript_take_script(struct interpreter_walk *interp, __u32 number,
						   __u64 script)
{
	const __u64 *words = (const void *)interp->window.bytes;
	__u64 is = 0;

	if (script == interp->javascript_walk.script)
		return;
	for (__u32 i = 0; i < JAVASCRIPT_SCRIPT_BYTES / sizeof(__u64); i++)
		is = (is ^ is >> 32 ^ words[i]) * 0x9fb21c651e98df25ull;
	interp->javascript_walk.script_is = is;
	interp->file = full_string(interp,
				   AT(interp->window.bytes, interp->javascript.script_name,
				      JAVASCRIPT_SCRIPT_CAPACITY, __u64),
				   true);
	interp->last_file_hash = javascript_hash(number, interp->file, 1);
	interp->javascript_walk.script =
		interp->file == JAVASCRIPT_NO_STRING || !interp->last_file_hash ? 0 : script;
}

/*
 * Makes a function known, by what its closures share, and sends its name if that was not sent yet;
 * an enum javascript_found. A global function, which the verifier checks once.
 */
__noinline int javascript_take_function(__u32 number, __u64 shared, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);
	const struct wire_javascript *is;
	struct interpreter_walk *interp;
	struct known_script *known;
	__u64 script, name, content, hash;

	if (!slot)
		return JAVASCRIPT_UNREADABLE;
	interp = &slot->interp;
	is = &interp->javascript;
	if (!copy_shared(interp, shared))
		return JAVASCRIPT_UNREADABLE;
	script = script_of(interp);
	if (!script)
		return JAVASCRIPT_NATIVE;
	if (script == JAVASCRIPT_NO_STRING)
		return JAVASCRIPT_UNREADABLE;
	/* Before the script's name is read, where they are now. */
	name = AT(interp->code, is->shared_name, JAVASCRIPT_OBJECT_BYTES, __u64);
	interp->content = AT(interp->code, is->shared_literal, JAVASCRIPT_OBJECT_BYTES, __u32);
	javascript_take_script(interp, number, script);
	/*
	 * It is the one that another walk has met at its address if it has the same number in the
	 * same script, and the same name or scope.
	 */
	content = (name ^ interp->javascript_walk.script_is) * 0xd6e8feb86659fd93ull;
	content = (content ^ content >> 32 ^ interp->content) * 0xbf58476d1ce4e5b9ull;
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (LIKELY(known->code == shared && known->seed == interp->seed &&
		   known->first == content && known->version)) {
		known->walk = interp->walk;
		interp->id = known->id;
		return JAVASCRIPT_FOUND;
	}
	interp->line = 0;
	interp->name = javascript_name(number, name);
	hash = javascript_hash(number, interp->name, 0);
	if (interp->name == JAVASCRIPT_NO_STRING || interp->file == JAVASCRIPT_NO_STRING || !hash ||
	    !interp->last_file_hash)
		return JAVASCRIPT_UNREADABLE;
	interp->id = code_id(interp, LANGUAGE_JAVASCRIPT, hash, interp->last_file_hash);
	if (!is_sent(interp))
		javascript_send_name(number);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	known->code = shared;
	known->walk = interp->walk;
	known->seed = interp->seed;
	known->first = content;
	known->version = is_sent(interp);
	known->id = interp->id;
	return JAVASCRIPT_FOUND;
}

#define JAVASCRIPT_NO_ID 0ull /* of a function of V8's own */

static __always_inline __u64 javascript_frame(__u64 id)
{
	return WIRE_FRAME_SCRIPT | (__u64)LANGUAGE_JAVASCRIPT << WIRE_FRAME_LANGUAGE_SHIFT | id;
}

#define JAVASCRIPT_FUNCTION_REGISTER 5 /* rdi: a function's code is entered with it */

/*
 * Finds the function of the frame that the walk was at, whose pointer is program->frame, or 0
 * before the code has made a frame: then the function's register has it, if that function's code is
 * what runs. 0: a frame of V8's own, or a reason.
 */
static __always_inline __u64 function_of_frame(struct scratch *slot, __u32 number, __u64 pc,
					       __u32 *ret_reason)
{
	const struct interpreter_walk *interp = &slot->interp;
	__u64 words[2], fp = interp->frame;

	*ret_reason = WIRE_SCRIPT_KNOWN;
	if (!fp) {
		words[0] = slot->walk.registers[JAVASCRIPT_FUNCTION_REGISTER];
		if (interp->n_native == 1 && /* of the innermost frame */
		    javascript_code_at(number, words[0],
				       object_word(words[0], interp->javascript.function_shared),
				       pc) != JAVASCRIPT_OTHER)
			return words[0];
		*ret_reason = WIRE_SCRIPT_TORN;
		return 0;
	}
	if (window_read(slot, number, words, sizeof(words),
			fp + (__s64)interp->javascript.frame_function)) {
		*ret_reason = WIRE_SCRIPT_UNREADABLE;
		return 0;
	}
	return is_object(words[1]) ? words[0] : 0; /* a type, not a context */
}

/* The id of a function by what its closures share, which is made known; an enum wire_script_reason.
 */
static __always_inline __u64 javascript_function_id(struct scratch *slot, __u32 number,
						    __u64 shared)
{
	struct interpreter_walk *interp = &slot->interp;
	__u32 at = code_place(interp, shared);
	const struct known_script *known;
	int found;

	OPAQUE(at);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (known->code == shared && known->walk == interp->walk)
		return known->id;
	found = javascript_take_function(number, shared, at);
	return found == JAVASCRIPT_FOUND    ? interp->id
	       : found == JAVASCRIPT_NATIVE ? JAVASCRIPT_NO_ID
					    : WIRE_SCRIPT_UNREADABLE;
}

/* That of a function which is inlined in the code found last. A global function, which the verifier
 * checks once. */
__noinline __u64 javascript_inlined_id(__u32 number, __u32 i)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);

	return slot ? javascript_function_id(slot, number, javascript_literal(&slot->interp, i))
		    : WIRE_SCRIPT_UNREADABLE;
}

/* There is none: what a frame has leads to its function. */
static __always_inline bool javascript_find_state(struct scratch *slot, __u32 number)
{
	(void)number;
	__builtin_memset(&slot->interp.javascript_walk, 0, sizeof(slot->interp.javascript_walk));
	return false;
}

/*
 * Notes the last frame, of V8's code, in its builtins or generated, if it has a frame pointer of
 * its own.
 */
#define javascript_has_sees_function 1
static __always_inline bool javascript_sees_function(struct scratch *slot,
						     const struct left_frame *left)
{
	struct interpreter_walk *interp = &slot->interp;
	bool generated = slot->walk.callee_owner == UNWIND_GENERATED;

	interp->frame = left->fp;
	if (left->fp + 2 * sizeof(__u64) != slot->walk.registers[UNWIND_SP] ||
	    left->fp + (__s64)interp->javascript.frame_function < left->sp) {
		if (!generated)
			return false;
		interp->frame = 0; /* it has just been entered, or is about to return */
	}
	interp->javascript_walk.generated = generated;
	return true;
}

/*
 * The id that stands for a function and those that were compiled into it where it is, in code of
 * that kind. Without those, a frame says so.
 */
static __always_inline __u64 javascript_with_inlined(struct scratch *slot, __u32 number,
						     __u64 function, int kind)
{
	struct wire_inlined_code *code = (void *)&slot->frames[LINES_AT];
	const struct javascript_walk *walk = &slot->interp.javascript_walk;
	__u64 place = 0;

	if (kind == JAVASCRIPT_PLAIN)
		return function;
	if (kind == JAVASCRIPT_INLINES && walk->n_inlined <= WIRE_INLINED_FUNCTIONS) {
		place = javascript_place_in_code(number, function);
		if (place)
			return place;
		for (__u32 i = 0; i < WIRE_INLINED_FUNCTIONS && i < walk->n_inlined; i++)
			code->functions[i] = javascript_inlined_id(number, i);
		javascript_send_code(number, function);
		place = javascript_place_in_code(number, function);
	}
	if (!place)
		frames_insert(slot, javascript_frame(WIRE_SCRIPT_INLINED));
	return place ? place : function;
}

/*
 * Puts a function in place of the last frame, which program->frame is the pointer of. A global
 * function, which the verifier checks once.
 */
#define javascript_has_place 1
__noinline int javascript_place(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);
	struct interpreter_walk *interp;
	__u64 function, shared, frame, pc, id;
	__u32 reason;

	if (!slot || slot->interp.language != LANGUAGE_JAVASCRIPT)
		return 0;
	pc = frames_last(slot);
	OPAQUE(pc);
	if (pc >= 2 * WIRE_MAX_DEPTH)
		return 0;
	interp = &slot->interp;
	frame = slot->frames[pc];
	pc = frame & WIRE_FRAME_ADDRESS;
	function = function_of_frame(slot, number, pc, &reason);
	if (!function) {
		if (reason)
			frames_insert(slot, javascript_frame(reason));
		return 0;
	}
	shared = object_word(function, interp->javascript.function_shared);
	id = javascript_function_id(slot, number, shared);
	if (id == JAVASCRIPT_NO_ID)
		return 0;
	if (id < WIRE_SCRIPT_IDS) {
		frames_insert(slot, javascript_frame(id));
		return 0;
	}
	/* A caller is at its call, before the address that it goes on at. */
	if (interp->n_native > 1 && !(frame & WIRE_FRAME_EXACT))
		pc--;
	if (interp->javascript_walk.generated && interp->frame) /* what is inlined has a frame */
		id = javascript_with_inlined(slot, number, id,
					     javascript_code_at(number, function, shared, pc));
	id = javascript_frame(id);
	if (config_has(WIRE_NATIVE))
		frames_insert(slot, id);
	else
		frames_replace(slot, id);
	return 0;
}

#endif
