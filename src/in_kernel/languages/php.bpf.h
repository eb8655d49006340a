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
 * call its run. Whatever is read belongs to the process and may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_PHP_BPF_H
#define STACKTALLY_LANGUAGES_PHP_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/left_frame.bpf.h"
#include "languages/program_names.bpf.h"
#include "languages/program_run.bpf.h"

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
static __always_inline bool php_find_text(const struct interpreter_walk *program, __u64 string,
					  struct found_text *ret_text)
{
	const struct wire_php *php = &program->php;

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
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct found_text text = { 0 };
	__u64 hash = 0;

	if (!slot || !string || !read_word(&hash, string + slot->program.php.string_hash) || hash)
		return hash;
	if (!php_find_text(&slot->program, string, &text) ||
	    !copy_text(&text, true, slot->program.message.name, WIRE_CODE_TEXT))
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
	to = slot->program.message.name;
	if (!slot->program.name) {
		__builtin_memcpy(to, "{main}", 6);
		return 6;
	}
	if (slot->program.scope && (!php_find_text(&slot->program, slot->program.scope, &class) ||
				    !copy_text(&class, false, to, PHP_CLASS_TEXT)))
		return -1;
	at = class.size;
	OPAQUE(at);
	if (at > PHP_CLASS_TEXT)
		return -1;
	if (slot->program.scope) {
		to[at] = ':';
		to[at + 1] = ':';
		at += 2;
	}
	OPAQUE(at);
	if (at > PHP_CLASS_TEXT + 2 || !php_find_text(&slot->program, slot->program.name, &name) ||
	    !copy_text(&name, false, to + at, WIRE_CODE_TEXT - PHP_CLASS_TEXT - 2))
		return -1;
	return at + name.size;
}

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int php_send_name(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { 0 };
	struct interpreter_walk *program;
	int size;

	if (!slot || !has_room_for_names())
		return 0;
	program = &slot->program;
	size = php_write_name(number);
	if (size < 0)
		return 0;
	name.size = size;
	if (php_find_text(program, program->file, &file) &&
	    copy_text(&file, true, program->message.file, WIRE_CODE_TEXT))
		send_message(program, &name, &file);
	return 0;
}

/* Sets the name of the function's class, and its hash. False: it cannot be read. */
static __always_inline bool php_take_class(struct interpreter_walk *program, __u32 number,
					   __u64 class)
{
	struct php_class *last = &program->php_walk.class;

	program->scope = 0;
	program->content = 0;
	if (!class)
		return true;
	if (last->class != class) {
		last->class = 0;
		if (!read_word(&last->name, class + program->php.class_name))
			return false;
		last->hash = php_text_hash(number, last->name);
		last->class = class;
	}
	program->scope = last->name;
	program->content = last->hash;
	return true;
}

/*
 * Makes the function in `code` known, and sends its name if that was not sent yet. It is known by
 * what it says, not by its address: each request may compile it anew. A global function.
 */
__noinline int php_take_function(__u32 number, __u64 function, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct interpreter_walk *program;
	const struct wire_php *php;
	struct known_code *known;

	if (!slot)
		return -1;
	program = &slot->program;
	php = &program->php;
	program->name = CODE_WORD(program->code, php->function_name);
	program->file = CODE_WORD(program->code, php->function_file);
	program->line = CODE_INT(program->code, php->function_line);
	if (!php_take_class(program, number, CODE_WORD(program->code, php->function_scope)))
		return -1;
	if (program->file != program->last_file || !program->last_file) {
		program->last_file_hash = php_text_hash(number, program->file);
		program->last_file = program->file;
	}
	program->id = code_id(program, LANGUAGE_PHP, php_text_hash(number, program->name),
			      program->last_file_hash);
	if (!is_sent(program))
		php_send_name(number);
	known = &program->codes[at % KNOWN_CODES];
	known->code = function;
	known->walk = program->walk;
	known->version = 0;
	known->id = program->id;
	return 0;
}

/*
 * Finds a function among those of this walk, and takes it if it is not there. A function in C has
 * none, as its native frames stand for it. False: it cannot be read.
 */
static __always_inline bool php_know(struct interpreter_walk *program, __u32 number, __u64 function,
				     const struct known_code **ret_known)
{
	__u32 at = function / 16 % KNOWN_CODES;
	struct known_code *known = &program->codes[at];

	*ret_known = known;
	if (known->code == function && known->walk == program->walk)
		return true;
	if (bpf_probe_read_user(program->code, PHP_FUNCTION_BYTES, (const void *)function) &&
	    bpf_probe_read_user(program->code, PHP_HEAD_BYTES, (const void *)function))
		return false;
	if (program->code[0] == PHP_FUNCTION_IN_C) {
		*ret_known = NULL;
		return true;
	}
	return (program->code[0] == PHP_FUNCTION_USER || program->code[0] == PHP_FUNCTION_EVAL) &&
	       !php_take_function(number, function, at);
}

/*
 * The instruction that the innermost function, in `code`, is at. The evaluator has it in r15, and
 * writes it to the frame only before what may fail or call a function: `written`.
 */
static __always_inline __u64 php_instruction(const struct scratch *slot, __u64 written)
{
	const struct interpreter_walk *program = &slot->program;
	const struct wire_php *php = &program->php;
	__u64 at = slot->walk.registers[PHP_INSTRUCTION];
	__u64 into = at - CODE_WORD(program->code, php->function_instructions);
	__u64 size = (__u64)CODE_INT(program->code, php->function_n) * php->instruction_size;

	return into < size && into % php->instruction_size == 0 ? at : written;
}

/* The line of a function, whose frame says that it is at an instruction; 0: not known. */
static __always_inline __u32 php_line(const struct scratch *slot, __u64 instruction)
{
	const struct interpreter_walk *program = &slot->program;
	__u32 line = 0;

	if (!config_has(WIRE_LINES))
		return 0;
	if (!program->n && !program->n_native)
		instruction = php_instruction(slot, instruction);
	bpf_probe_read_user(&line, sizeof(line),
			    (const void *)(instruction + program->php.instruction_line));
	return line;
}

/* Stages the frame that the walk is at, if it is of PHP, and goes to its caller. */
__noinline int php_step(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PHP, number);
	struct interpreter_walk *program;
	const struct known_code *known;
	const struct wire_php *php;
	__u64 function, at;
	const __u8 *frame;
	__u32 info;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	php = &program->php;
	at = program->frame - program->window.from;
	if (at > program->window.last)
		at = (__s64)frame_window_move(number);
	OPAQUE(at);
	if (at > FRAME_ON_STACK)
		return program_fail(program, WIRE_CODE_UNREADABLE);
	frame = program->window.bytes + at;
	function = FRAME_WORD(frame, php->frame_function);
	info = AT(frame, php->frame_info, FRAME_ROOM, __u32);
	program->php_walk.first = program->frame;
	program->frame = FRAME_WORD(frame, php->frame_previous);
	if (!function) { /* a placeholder: of a generator, in `yield from`, or of a call from C */
		if ((info & 0xff) == PHP_IS_OBJECT)
			program_stage(slot, LANGUAGE_PHP, WIRE_CODE_DELEGATED);
		return program->frame ? PROGRAM_MORE : PROGRAM_ALL_ENDED;
	}
	if (!php_know(program, number, function, &known))
		return program_fail(program, WIRE_CODE_UNREADABLE);
	if (!known) {
		/* A fiber begins with a frame of a function in C without a name. */
		if (!CODE_WORD(program->code, php->function_name))
			program->frame = 0;
		return program->frame ? PROGRAM_MORE : PROGRAM_ALL_ENDED;
	}
	program_stage(slot, LANGUAGE_PHP,
		      program_id_at(program, number, known->id,
				    php_line(slot, FRAME_WORD(frame, php->frame_instruction))));
	if (info & php->top)
		return PROGRAM_RUN_ENDED;
	return program->frame ? PROGRAM_MORE : program_fail(program, WIRE_CODE_TORN);
}

/* Stages up to PROGRAM_STEPS frames; an enum program_step. */
__noinline int php_steps(__u32 number)
{
	int step = PROGRAM_MORE;

	for (__u32 i = 0; i < PROGRAM_STEPS && step == PROGRAM_MORE; i++) {
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
	struct interpreter_walk *program;
	int step = PROGRAM_MORE;

	if (!slot || slot->program.language != LANGUAGE_PHP)
		return 0;
	program = &slot->program;
	program->php_walk.used = program->php_walk.first;
	program->php_walk.first = 0;
	program->php_walk.innermost = program->next;
	if (!program_begin_run(program))
		return 0;
	program->frame = program->next;
	for (__u32 i = 0; i < PROGRAM_ROUNDS && step == PROGRAM_MORE; i++) {
		step = php_steps(number);
		OPAQUE(step);
	}
	program->next = step == PROGRAM_RUN_ENDED ? program->frame : 0;
	program->anchor = step != PROGRAM_ALL_ENDED;
	if (step == PROGRAM_MORE)
		program->run_reason = WIRE_CODE_TOO_DEEP;
	if (step != PROGRAM_RUN_ENDED)
		program->reason = program->run_reason;
	return 0;
}

/* Whether the frame that the walk is at is of zend_call_function(), ... */
static __always_inline bool php_is_calling(const struct scratch *slot)
{
	return slot->walk.pc - slot->program.bias - slot->program.php.call <
	       slot->program.php.call_size;
}

/* ... and for which frame it calls the evaluator then; 0: that is not known. */
static __always_inline __u64 php_held_frame(const struct scratch *slot)
{
	const struct wire_php *php = &slot->program.php;
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
	struct interpreter_walk *program = &slot->program;
	const struct unwind_walk *walk = &slot->walk;
	__u64 current;

	(void)number;
	program->ordered = 1;
	program->php_walk.class.class = 0;
	program->php_walk.first = 0;
	program->reason = WIRE_CODE_NO_STATE;
	if (!read_word(&current, program->php.current + program->bias))
		return false;
	program->next = current;
	/* From linking the frame to calling the evaluator, it is the first argument of both. */
	if (UNLIKELY(walk->registers[UNWIND_RDI] == current && php_is_calling(slot)) &&
	    php_held_frame(slot) == current &&
	    !read_word(&program->next, current + program->php.frame_previous))
		return false;
	program->php_walk.links =
		walk->pc - program->bias - program->php.link < program->php.link_size;
	program->reason = WIRE_CODE_UNMATCHED;
	return true;
}

/*
 * After the step from the innermost native frame, if that is of the function that links frames:
 * whether it has linked the first one of the staged run, for which the evaluator is not called yet.
 */
static __always_inline bool php_has_linked(struct scratch *slot)
{
	slot->program.php_walk.links = 0;
	return slot->program.php_walk.first && php_held_frame(slot) == slot->program.php_walk.first;
}

/*
 * Whether the evaluator's frame that the walk has left was called for another frame than the staged
 * run's first one, and has unlinked that: then the staged run called it, and it was not used for
 * another evaluator's frame. Else the frames before got the wrong runs, as those of generators may.
 */
static __always_inline bool php_has_unlinked(struct scratch *slot)
{
	struct interpreter_walk *program = &slot->program;
	const struct php_walk *walk = &program->php_walk;
	__u64 held = program->run_reason ? 0 : php_held_frame(slot), previous;

	if (!held || held == walk->first)
		return false;
	if (held != walk->used && read_word(&previous, held + program->php.frame_previous) &&
	    previous == walk->innermost)
		return true;
	program->missing++;
	return false;
}

#define php_has_watches 1
static __always_inline bool php_watches(const struct scratch *slot)
{
	return slot->program.php_walk.links;
}

#define php_has_sees 1
static __always_inline bool php_sees(struct scratch *slot, const struct left_frame *left)
{
	(void)left;
	return slot->program.php_walk.links && php_has_linked(slot);
}

#define php_has_evaluates 1
static __always_inline enum evaluated php_evaluates(struct scratch *slot)
{
	return php_has_unlinked(slot) ? EVALUATED_BETWEEN : EVALUATED_RUN;
}

#endif
