/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of PHP, without threads. They are linked in one chain, from the innermost one. Each
 * call of the evaluator, execute_ex(), runs functions up to one with a flag (ZEND_CALL_TOP), and
 * itself keeps nothing on the C stack that tells which: so its frames get runs in order
 * (languages/interpreter.bpf.h). Functions written in C have frames in the chain, too, and native
 * frames of their own.
 *
 * But zend_call_function(), which most callbacks from C go through, has the first frame of the
 * run on the C stack. It links that frame before it calls the evaluator, and the evaluator unlinks
 * it before it frees the function's variables: so a run may lack its call of the evaluator, and a
 * call its run.
 *
 * The JIT's code is jumped to from the evaluator, in whose frame it runs, and goes on to that of
 * another function by jumps: so it is a part of the evaluator. Whatever is read belongs to the
 * process and may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_PHP_BPF_H
#define STACKTALLY_LANGUAGES_PHP_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_frames.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/left_frame.bpf.h"

#define PHP_FUNCTION_BYTES 184 /* of one written in PHP; those in C have the first ones only */
#define PHP_HEAD_BYTES	   24
#define PHP_CLASS_TEXT	   240

#define PHP_INSTRUCTION 15 /* DWARF's number of the register that has it: r15 */

#define PHP_IS_OBJECT 8 /* the lowest byte of a frame's call information: it is of an object */

/* Values of a function's first byte. */
enum php_function {
	PHP_FUNCTION_IN_C = 1,
	PHP_FUNCTION_USER = 2,
	PHP_FUNCTION_EVAL = 4,
};

/* Finds a string's characters. False: it cannot be read. */
static __always_inline bool php_find_text(const struct interpreter_walk *interp, __u64 string,
					  struct found_text *ret_text)
{
	const struct wire_php *php = &interp->php;

	if (!string || !read_word(&ret_text->size, string + php->string_length) ||
	    ret_text->size > 1 << 20)
		return false;
	ret_text->from = string + php->string_text;
	ret_text->kind = WIRE_TEXT_UTF8;
	return true;
}

/*
 * A hash of a string's characters: PHP's own, if it was computed, else of those that would be sent.
 * A global function, which the verifier checks once.
 */
__noinline __u64 php_text_hash(__u32 number, __u64 string)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PHP, number);
	struct found_text text = { 0 };
	__u64 hash = 0;

	if (!slot || !string || !read_word(&hash, string + slot->interp.php.string_hash) || hash)
		return hash;
	if (!php_find_text(&slot->interp, string, &text) ||
	    !copy_text(&text, true, slot->interp.message.name, WIRE_SCRIPT_TEXT))
		return 0;
	return hash_of_copy(slot, &text);
}

/*
 * Writes "CLASS::FUNCTION" to the message, or "{main}" for code outside of functions. A global
 * function, which the verifier checks once; returns the size, or -1.
 */
__noinline int php_write_name(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct found_text class = { 0 }, name = { 0 };
	__u8 *to;
	__u64 at;

	if (!slot)
		return -1;
	to = slot->interp.message.name;
	if (!slot->interp.name) {
		__builtin_memcpy(to, "{main}", 6);
		return 6;
	}
	if (slot->interp.scope && (!php_find_text(&slot->interp, slot->interp.scope, &class) ||
				   !copy_text(&class, false, to, PHP_CLASS_TEXT)))
		return -1;
	at = class.size;
	OPAQUE(at);
	if (at > PHP_CLASS_TEXT)
		return -1;
	if (slot->interp.scope) {
		to[at] = ':';
		to[at + 1] = ':';
		at += 2;
	}
	OPAQUE(at);
	if (at > PHP_CLASS_TEXT + 2 || !php_find_text(&slot->interp, slot->interp.name, &name) ||
	    !copy_text(&name, false, to + at, WIRE_SCRIPT_TEXT - PHP_CLASS_TEXT - 2))
		return -1;
	return at + name.size;
}

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int php_send_name(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PHP, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { 0 };
	struct interpreter_walk *interp;
	int size;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	size = php_write_name(number);
	if (size < 0)
		return 0;
	name.size = size;
	if (php_find_text(interp, interp->file, &file) &&
	    copy_text(&file, true, interp->message.file, WIRE_SCRIPT_TEXT))
		send_message(interp, &name, &file);
	return 0;
}

/* Sets the name of the function's class, and its hash. False: it cannot be read. */
static __always_inline bool php_take_class(struct interpreter_walk *interp, __u32 number,
					   __u64 class)
{
	struct php_class *last = &interp->php_walk.class;

	interp->scope = 0;
	interp->content = 0;
	if (!class)
		return true;
	if (last->class != class) {
		last->class = 0;
		if (!read_word(&last->name, class + interp->php.class_name))
			return false;
		last->hash = php_text_hash(number, last->name);
		last->class = class;
	}
	interp->scope = last->name;
	interp->content = last->hash;
	return true;
}

/*
 * Makes the function in `code` known, and sends its name if that was not sent yet. It is known by
 * what it says, not by its address: each request may compile it anew. A global function.
 */
__noinline int php_take_function(__u32 number, __u64 function, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct interpreter_walk *interp;
	const struct wire_php *php;
	struct known_script *known;

	if (!slot)
		return -1;
	interp = &slot->interp;
	php = &interp->php;
	interp->name = CODE_WORD(interp->code, php->function_name);
	interp->file = CODE_WORD(interp->code, php->function_file);
	interp->line = CODE_INT(interp->code, php->function_line);
	if (!php_take_class(interp, number, CODE_WORD(interp->code, php->function_scope)))
		return -1;
	if (interp->file != interp->last_file || !interp->last_file) {
		interp->last_file_hash = php_text_hash(number, interp->file);
		interp->last_file = interp->file;
	}
	interp->id = code_id(interp, LANGUAGE_PHP, php_text_hash(number, interp->name),
			     interp->last_file_hash);
	if (!is_sent(interp))
		php_send_name(number);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	known->code = function;
	known->walk = interp->walk;
	known->version = 0;
	known->id = interp->id;
	return 0;
}

/*
 * Finds a function among those of this walk, and takes it if it is not there. A function in C has
 * none, as its native frames stand for it. False: it cannot be read.
 */
static __always_inline bool php_know(struct interpreter_walk *interp, __u32 number, __u64 function,
				     const struct known_script **ret_known)
{
	__u32 at = function / 16 % KNOWN_SCRIPTS;
	struct known_script *known = &interp->codes[at];

	*ret_known = known;
	if (known->code == function && known->walk == interp->walk)
		return true;
	if (bpf_probe_read_user(interp->code, PHP_FUNCTION_BYTES, (const void *)function) &&
	    bpf_probe_read_user(interp->code, PHP_HEAD_BYTES, (const void *)function))
		return false;
	if (interp->code[0] == PHP_FUNCTION_IN_C) {
		*ret_known = NULL;
		return true;
	}
	return (interp->code[0] == PHP_FUNCTION_USER || interp->code[0] == PHP_FUNCTION_EVAL) &&
	       !php_take_function(number, function, at);
}

/*
 * The instruction that the innermost function, in `code`, is at. The evaluator has it in r15, and
 * writes it to the frame only before what may fail or call a function: `written`.
 */
static __always_inline __u64 php_instruction(const struct scratch *slot, __u64 written)
{
	const struct interpreter_walk *interp = &slot->interp;
	const struct wire_php *php = &interp->php;
	__u64 at = slot->walk.registers[PHP_INSTRUCTION];
	__u64 into = at - CODE_WORD(interp->code, php->function_instructions);
	__u64 size = (__u64)CODE_INT(interp->code, php->function_n) * php->instruction_size;

	return into < size && into % php->instruction_size == 0 ? at : written;
}

/* The line of a function, whose frame says that it is at an instruction; 0: not known. */
static __always_inline __u32 php_line(const struct scratch *slot, __u64 instruction)
{
	const struct interpreter_walk *interp = &slot->interp;
	__u32 line = 0;

	if (!config_has(WIRE_LINES))
		return 0;
	if (!interp->n && !interp->n_native)
		instruction = php_instruction(slot, instruction);
	bpf_probe_read_user(&line, sizeof(line),
			    (const void *)(instruction + interp->php.instruction_line));
	return line;
}

/* Stages the frame that the walk is at, if it is of PHP, and goes to its caller. */
__noinline int php_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct interpreter_walk *interp;
	const struct known_script *known;
	const struct wire_php *php;
	__u64 function, at;
	const __u8 *frame;
	__u32 info;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	php = &interp->php;
	at = interp->frame - interp->window.from;
	if (at > interp->window.last)
		at = (__s64)frame_window_move(number);
	OPAQUE(at);
	if (at > FRAME_ON_STACK)
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	frame = interp->window.bytes + at;
	function = FRAME_WORD(frame, php->frame_function);
	info = AT(frame, php->frame_info, FRAME_CAPACITY, __u32);
	interp->php_walk.first = interp->frame;
	interp->frame = FRAME_WORD(frame, php->frame_previous);
	if (!function) { /* a placeholder: of a generator, in `yield from`, or of a call from C */
		if ((info & 0xff) == PHP_IS_OBJECT)
			interp_stage(slot, LANGUAGE_PHP, WIRE_SCRIPT_DELEGATED);
		return interp->frame ? INTERP_MORE : INTERP_ALL_ENDED;
	}
	if (!php_know(interp, number, function, &known))
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	if (!known) {
		/* A fiber begins with a frame of a function in C without a name. */
		if (!CODE_WORD(interp->code, php->function_name))
			interp->frame = 0;
		return interp->frame ? INTERP_MORE : INTERP_ALL_ENDED;
	}
	if (interp->php_walk.first == interp->php_walk.current)
		interp->php_walk.innermost_function = known->id;
	interp_stage(slot, LANGUAGE_PHP,
		     interp_id_at(interp, number, known->id,
				  php_line(slot, FRAME_WORD(frame, php->frame_instruction))));
	if (info & php->top)
		return INTERP_RUN_ENDED;
	return interp->frame ? INTERP_MORE : interp_fail(interp, WIRE_SCRIPT_TORN);
}

/* Stages up to INTERP_STEPS frames; an enum interp_step. */
__noinline int php_steps(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < INTERP_STEPS && step == INTERP_MORE; i++) {
		step = php_step(number);
		OPAQUE(step);
	}
	return step;
}

/* Stages the next run; without one, `anchor` is 0. */
#define php_has_run 1
__noinline int php_run(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct interpreter_walk *interp;
	int step = INTERP_MORE;

	if (!slot || slot->interp.language != LANGUAGE_PHP)
		return 0;
	interp = &slot->interp;
	interp->php_walk.used = interp->php_walk.first;
	interp->php_walk.first = 0;
	interp->php_walk.innermost = interp->next;
	interp->php_walk.innermost_function = 0;
	if (!interp_begin_run(interp))
		return 0;
	interp->frame = interp->next;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = php_steps(number);
		OPAQUE(step);
	}
	interp->next = step == INTERP_RUN_ENDED ? interp->frame : 0;
	interp->anchor = step != INTERP_ALL_ENDED;
	if (step == INTERP_MORE)
		interp->run_reason = WIRE_SCRIPT_TOO_DEEP;
	if (step != INTERP_RUN_ENDED)
		interp->reason = interp->run_reason;
	return 0;
}

/* Whether an address is in zend_call_function(), ... */
static __always_inline bool php_is_in_call(const struct interpreter_walk *interp, __u64 pc)
{
	return pc - interp->bias - interp->php.call < interp->php.call_size;
}

/* ... whether the frame that the walk is at is of it, ... */
static __always_inline bool php_is_calling(const struct scratch *slot)
{
	return php_is_in_call(&slot->interp, slot->walk.pc);
}

/* ... and for which frame it calls the evaluator then; 0: that is not known. */
static __always_inline __u64 php_held_frame(const struct scratch *slot)
{
	const struct wire_php *php = &slot->interp.php;
	__u32 from = php->held_from & (WIRE_N_REGISTERS - 1);
	__u64 at = slot->walk.registers[from] + php->held_at, held = 0;

	if (!from || !UNWIND_KNOWS(&slot->walk, from) || !php_is_calling(slot))
		return 0;
	return window_peek(slot, &held, at) || read_word(&held, at) ? held : 0;
}

/*
 * Finds the innermost frame, of those that the evaluator was called for. Sets the reason if that
 * fails.
 */
static __always_inline bool php_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct unwind_walk *walk = &slot->walk;
	__u64 current;

	(void)number;
	interp->ordered = 1;
	interp->php_walk.class.class = 0;
	interp->php_walk.first = 0;
	interp->reason = WIRE_SCRIPT_NO_STATE;
	interp->php_walk.current = 0;
	if (!read_word(&current, interp->php.current + interp->bias))
		return false;
	interp->php_walk.current = current;
	interp->next = current;
	/* From linking the frame to calling the evaluator, it is the first argument of both. */
	if (UNLIKELY(walk->registers[UNWIND_ARGUMENT] == current && php_is_calling(slot)) &&
	    php_held_frame(slot) == current &&
	    !read_word(&interp->next, current + interp->php.frame_previous))
		return false;
	interp->php_walk.links = walk->pc - interp->bias - interp->php.link < interp->php.link_size;
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	return true;
}

/*
 * After the step from the innermost native frame, if that is of the function that links frames:
 * whether it has linked the first one of the staged run, for which the evaluator is not called yet.
 */
static __always_inline bool php_has_linked(struct scratch *slot)
{
	slot->interp.php_walk.links = 0;
	return slot->interp.php_walk.first && php_held_frame(slot) == slot->interp.php_walk.first;
}

/*
 * Whether the evaluator's frame that the walk has left was called for another frame than the staged
 * run's first one, and has unlinked that: then the staged run called it, and it was not used for
 * another evaluator's frame. Else the frames before got the wrong runs, as those of generators may.
 */
static __always_inline bool php_has_unlinked(struct scratch *slot)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct php_walk *walk = &interp->php_walk;
	__u64 held = interp->run_reason ? 0 : php_held_frame(slot), previous;

	if (!held || held == walk->first)
		return false;
	if (held != walk->used && read_word(&previous, held + interp->php.frame_previous) &&
	    previous == walk->innermost)
		return true;
	interp->missing++;
	return false;
}

#define php_has_watches 1
static __always_inline bool php_watches(const struct scratch *slot)
{
	return slot->interp.php_walk.links;
}

#define php_has_sees 1
static __always_inline bool php_sees(struct scratch *slot, const struct left_frame *left)
{
	(void)left;
	return slot->interp.php_walk.links && php_has_linked(slot);
}

/* Whether an address is one that the evaluator returns to; it is often called by call *(REGISTER).
 */
static __always_inline bool php_is_return(const struct interpreter_walk *interp, __u64 pc)
{
	__u64 into = pc - interp->bias, bytes;

	return (php_is_in_call(interp, pc) ||
		into - interp->php.execute < interp->php.execute_size ||
		into - interp->php.resume < interp->php.resume_size) &&
	       read_word(&bytes, pc - sizeof(bytes)) &&
	       (is_call(bytes) || (bytes >> 48 & 0xf8ff) == 0x10ff);
}

/*
 * What generated code has of its own on the stack during a call, which returns to `pc`: what
 * follows the call takes that off, by add $N,%rsp.
 */
static __always_inline __u64 php_own_stack(__u64 pc)
{
	__u64 bytes;

	if (!read_word(&bytes, pc) || (bytes & 0xffffff) != 0xc48148)
		return 0;
	return (__u32)(bytes >> 24);
}

/*
 * Goes from generated code on in the evaluator, whose frame it runs in, if that frame has a return
 * address: 1, else 0. Without frame pointers the walk is still at that code. The code does not
 * always write the line that it is at.
 */
#define php_has_leaves_generated 1
static __always_inline bool php_leaves_generated(struct scratch *slot,
						 const struct left_frame *left)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_php *php = &interp->php;
	__u64 sp = left->sp, cfa, pc;
	bool by_fp;

	by_fp = php->cfa_from == UNWIND_FP;
	if (!by_fp)
		sp += php_own_stack(slot->walk.pc);
	cfa = (by_fp ? left->fp : sp) + php->cfa_at;
	if (!php->cfa_from || (by_fp && !UNWIND_KNOWS(&slot->walk, UNWIND_FP)) ||
	    !read_word(&pc, cfa - sizeof(pc)) || !php_is_return(interp, pc))
		return false;
	if (interp->php_walk.innermost_function && interp->n)
		slot->frames[STAGED_AT] = WIRE_FRAME_SCRIPT |
					  (__u64)LANGUAGE_PHP << WIRE_FRAME_LANGUAGE_SHIFT |
					  interp->php_walk.innermost_function;
	slot->walk.pc = interp->evaluator + interp->evaluator_size - 1;
	slot->walk.registers[UNWIND_SP] = sp;
	slot->walk.registers[UNWIND_FP] = left->fp;
	slot->walk.known = UNWIND_BIT(UNWIND_SP) | UNWIND_BIT(UNWIND_FP);
	slot->walk.rbx_at = 0;
	slot->walk.exact = 0;
	slot->walk.by_chain = 0;
	slot->walk.callee_owner = UNWIND_GENERATED;
	if (!config_has(WIRE_NATIVE))
		frames_drop(slot);
	return true;
}

#define php_has_evaluates 1
static __always_inline enum evaluated php_evaluates(struct scratch *slot)
{
	return php_has_unlinked(slot) ? EVALUATED_BETWEEN : EVALUATED_RUN;
}

#endif
