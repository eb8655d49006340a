/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The contexts of Perl with threads, 5.36 and later. Each sub, eval and loop that runs has a
 * context. They lie in stacks, of which each callback from C begins a new one, and the stacks are
 * linked. One call of the evaluator, Perl_runops_standard(), runs several contexts. The outermost
 * of them is a sub or an eval without an operation to return to, which C code called; the block of
 * a sort() or of `defer`; or the main program, which has no context.
 *
 * The evaluator keeps nothing on the C stack that tells which contexts it runs: so its frames get
 * runs in order (languages/interpreter.bpf.h). In a sub that C code called, an eval calls the
 * evaluator anew, as exceptions must not leave the call that runs already; the new call then also
 * runs the rest of that sub. Both count as one call: the inner one's caller has a handler of
 * exceptions (PL_top_env and those before), and the outer one calls that or its caller.
 *
 * The innermost run may lack its call, and the innermost call its run, while a sub is called from C
 * or returns there, and between two calls of a sort()'s. Then the walk is repeated without that
 * one, if the operation at work agrees (perl_judge()). Whatever is read belongs to the process and
 * may be anything.
 */
#ifndef STACKTALLY_LANGUAGES_PERL_BPF_H
#define STACKTALLY_LANGUAGES_PERL_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "languages/program_names.bpf.h"
#include "languages/program_run.bpf.h"

#define PERL_CONTEXT_BYTES 104
#define PERL_BELOW	   416 /* bytes that are copied below a context: four more */
#define PERL_ROOM	   128 /* a power of two above, for the verifier */
#define PERL_CODE_BYTES	   112 /* of code; and of what names and packages refer to, at most */
#define PERL_HEAD_BYTES	   24  /* of any value: where it is, and its flags */
#define PERL_PACKAGE_TEXT  240
#define PERL_LONGEST_PARTS 8 /* paths are followed for so many times WIRE_CODE_TEXT bytes */

#define PERL_WORD(copy, offset) AT(copy, offset, PERL_ROOM, __u64)
#define PERL_INT(copy, offset)	AT(copy, offset, PERL_ROOM, __u32)
#define PERL_BYTE(copy, offset) AT(copy, offset, PERL_ROOM, __u8)

/* Names of code that is in no sub; in `scope`, while `name` is 0. */
enum perl_place {
	PERL_PLACE_MAIN,
	PERL_PLACE_EVAL,
	PERL_PLACE_REQUIRE,
	PERL_PLACE_UNKNOWN, /* a sub without a name, as caller() has it */
	PERL_N_PLACES,
};

#define PERL_PLACE_TEXT 9 /* bytes of the longest */

static const struct perl_place_name {
	char text[PERL_PLACE_TEXT + 1];
	__u8 size;
} perl_places[PERL_N_PLACES] = {
	{ "{main}", 6 },
	{ "{eval}", 6 },
	{ "{require}", 9 },
	{ "(unknown)", 9 },
};

/* What a walk leaves out that is done again. */
enum perl_again {
	PERL_FIRST_WALK,
	PERL_WITHOUT_RUN,  /* the innermost run: it has no call of the evaluator */
	PERL_WITHOUT_CALL, /* the innermost call: it has no run */
	PERL_JUDGED,	   /* nothing: it was done again */
};

/* ---- names ---- */

/* Finds a string of the symbol table. False: it cannot be read. */
static __always_inline bool perl_find_text(const struct interpreter_walk *program, __u64 string,
					   struct found_text *ret_text)
{
	__u64 hash_and_length;
	__s32 length;

	if (!string || !read_word(&hash_and_length, string + program->perl.hek_hash))
		return false;
	length = (__s32)(hash_and_length >> 32);
	if (length < 0 || length > 1 << 20)
		return false;
	ret_text->from = string + program->perl.hek_text;
	ret_text->size = length;
	ret_text->kind = WIRE_TEXT_UTF8;
	return true;
}

/* A hash of such a string: Perl's own, of 32 bits, and its length; they are the same in all
 * threads. */
static __always_inline __u64 perl_text_hash(const struct interpreter_walk *program, __u64 string)
{
	__u64 hash = 0;

	if (string)
		read_word(&hash, string + program->perl.hek_hash);
	return hash;
}

/* What Perl calls the text of an eval: "(eval 12)". Shown without the number, as there are many. */
#define PERL_EVAL_FILE	     0x206c61766528ull /* "(eval " */
#define PERL_EVAL_FILE_BYTES 6
#define PERL_EVAL_SHOWN	     4 /* "eval" */

/*
 * Copies the path in `file`, or its end, to the message; returns its bytes, and WIRE_CODE_FILE_CUT
 * above 16 bits; or -1. A global function, which the verifier checks once.
 */
__noinline int perl_copy_file(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	__u64 from, size = 0, word;
	__u8 *to;
	long part;

	if (!slot)
		return -1;
	to = slot->program.message.file;
	from = slot->program.file;
	if (!from)
		return 0;
	for (__u32 i = 0; i < PERL_LONGEST_PARTS; i++) {
		part = bpf_probe_read_user_str(to, WIRE_CODE_TEXT, (const void *)(from + size));
		if (part <= 0)
			return -1;
		size += part - 1;
		if (part < WIRE_CODE_TEXT)
			break;
	}
	if (size >= WIRE_CODE_TEXT) {
		from += size - WIRE_CODE_TEXT;
		if (bpf_probe_read_user(to, WIRE_CODE_TEXT, (const void *)from))
			return -1;
		return WIRE_CODE_TEXT | WIRE_CODE_FILE_CUT << 16;
	}
	word = *(__u64 *)to & ((1ull << 8 * PERL_EVAL_FILE_BYTES) - 1);
	if (size > PERL_EVAL_FILE_BYTES && word == PERL_EVAL_FILE) {
		__builtin_memcpy(to, "eval", PERL_EVAL_SHOWN);
		return PERL_EVAL_SHOWN;
	}
	return size;
}

/* Writes "PACKAGE::NAME" or the name of a place to the message; returns the size, or -1. */
__noinline int perl_write_name(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct found_text package = { 0 }, name = { 0 };
	__u64 at, place;
	__u8 *to;

	if (!slot)
		return -1;
	to = slot->program.message.name;
	place = slot->program.scope;
	if (!slot->program.name) {
		if (place >= PERL_N_PLACES)
			return -1;
		__builtin_memcpy(to, perl_places[place].text, PERL_PLACE_TEXT);
		return perl_places[place].size;
	}
	if (slot->program.scope &&
	    (!perl_find_text(&slot->program, slot->program.scope, &package) ||
	     !copy_text(&package, false, to, PERL_PACKAGE_TEXT)))
		return -1;
	at = package.size;
	OPAQUE(at);
	if (at > PERL_PACKAGE_TEXT)
		return -1;
	if (slot->program.scope) {
		to[at] = ':';
		to[at + 1] = ':';
		at += 2;
	}
	OPAQUE(at);
	if (at > PERL_PACKAGE_TEXT + 2 ||
	    !perl_find_text(&slot->program, slot->program.name, &name) ||
	    !copy_text(&name, false, to + at, WIRE_CODE_TEXT - PERL_PACKAGE_TEXT - 2))
		return -1;
	return at + name.size;
}

/*
 * Gives the function in `name`, `scope` and `file` its id, and sends its name if that was not sent
 * yet. A global function, which the verifier checks once; 0 when it did.
 */
__noinline int perl_make_known(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { .kind = WIRE_TEXT_UTF8 };
	struct interpreter_walk *program;
	__u64 *words, hash, size;
	int copied;

	if (!slot)
		return -1;
	program = &slot->program;
	copied = perl_copy_file(number);
	if (copied < 0)
		return -1;
	file.size = copied & 0xffff;
	file.cut = copied >> 16;
	words = (void *)program->message.file;
	size = file.size;
	hash = size;
	for (__u32 i = 0; i < WIRE_CODE_TEXT / sizeof(__u64) && i * sizeof(__u64) < size; i++) {
		__u64 left = size - i * sizeof(__u64), word = words[i];

		if (left < sizeof(word))
			word &= (1ull << 8 * left) - 1;
		hash = (hash ^ word) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
		OPAQUE(hash);
	}
	program->content = program->name ? perl_text_hash(program, program->scope) : program->scope;
	program->id =
		code_id(program, WIRE_LANGUAGE_PERL, perl_text_hash(program, program->name), hash);
	if (is_sent(program) || !has_room_for_names())
		return 0;
	copied = perl_write_name(number);
	if (copied < 0)
		return -1;
	name.size = copied;
	send_message(program, &name, &file);
	return 0;
}

/* ---- subs ---- */

/*
 * Reads where a value is and, if `bytes` are not 0, so much of it to `code`. Returns its flags; -1
 * if that cannot be read. A global function, which the verifier checks once.
 */
__noinline __s64 perl_read_value(__u32 number, __u64 value)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	__u64 head[PERL_HEAD_BYTES / sizeof(__u64)];

	if (!slot || bpf_probe_read_user(head, sizeof(head), (const void *)value) ||
	    bpf_probe_read_user(slot->program.code, PERL_CODE_BYTES, (const void *)head[0]))
		return -1;
	slot->program.object = head[2];
	return head[1] >> 32;
}

/* The name of a package: a string of the symbol table. 0: it has none. False: not readable. */
static __always_inline bool perl_find_package(struct scratch *slot, __u32 number, __u64 package)
{
	struct interpreter_walk *program = &slot->program;
	__s64 flags;

	program->scope = 0;
	if (!package)
		return true;
	flags = perl_read_value(number, package);
	if (flags < 0)
		return false;
	if (!(flags >> (program->perl.hv_named_bit & 31) & 1))
		return true;
	program->scope = PERL_WORD(program->code, program->perl.hv_name);
	/* Several names: the first one is the package's. */
	if (program->scope && PERL_INT(program->code, program->perl.hv_n_names))
		return read_word(&program->scope, program->scope);
	return true;
}

/* Finds the strings that are the sub's name and its package's, as cv_name() does. */
__noinline int perl_find_name(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	__u64 stash, gv, effective = 0;
	__u32 flags;

	if (!slot)
		return -1;
	program = &slot->program;
	perl = &program->perl;
	flags = PERL_INT(program->code, perl->cv_flags);
	gv = PERL_WORD(program->code, perl->cv_gv);
	stash = PERL_WORD(program->code, perl->cv_stash);
	if (flags >> (perl->cv_named_bit & 31) & 1) {
		program->name = gv;
		if (flags >> (perl->cv_lexical_bit & 31) & 1)
			stash = 0;
	} else if (gv) {
		if (perl_read_value(number, gv) < 0)
			return -1;
		if (program->object)
			read_word(&effective, program->object + perl->gp_effective);
		if (effective && effective != gv && perl_read_value(number, effective) < 0)
			return -1;
		program->name = PERL_WORD(program->code, perl->gv_name);
		stash = PERL_WORD(program->code, perl->gv_stash);
	} else {
		program->name = 0;
		program->scope = PERL_PLACE_UNKNOWN;
		return 0;
	}
	return perl_find_package(slot, number, stash) ? 0 : -1;
}

/* The first line of the sub in `code`; 0: not known. */
static __always_inline __u32 perl_line(const struct interpreter_walk *program)
{
	const struct wire_perl *perl = &program->perl;
	__u64 start = PERL_WORD(program->code, perl->cv_start);
	__u16 kind = 0;
	__u32 line;

	if (!start ||
	    bpf_probe_read_user(&kind, sizeof(kind), (const void *)(start + perl->op_type)) ||
	    (kind & 0x1ff) != perl->op_nextstate ||
	    bpf_probe_read_user(&line, sizeof(line), (const void *)(start + perl->cop_line)))
		return 0;
	return line;
}

/*
 * Makes a sub known in `codes`. One that another walk has met is the same if all that it refers to
 * has the same addresses, and the number that Perl counts up with each scope it compiles is the
 * same. A global function, which the verifier checks once.
 */
__noinline int perl_take_sub(__u32 number, __u64 sub, __u32 at)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	struct known_code *known;
	__u64 content;
	__s64 flags;

	if (!slot)
		return -1;
	program = &slot->program;
	perl = &program->perl;
	flags = perl_read_value(number, sub);
	if (flags < 0 || (flags & perl->sv_types) != perl->sv_is_code)
		return -1;
	content = PERL_WORD(program->code, perl->cv_gv) * 0x9fb21c651e98df25ull;
	content = (content ^ PERL_WORD(program->code, perl->cv_file)) * 0xd6e8feb86659fd93ull;
	content = (content ^ PERL_WORD(program->code, perl->cv_root)) * 0x9fb21c651e98df25ull;
	content = (content ^ PERL_WORD(program->code, perl->cv_stash)) * 0xd6e8feb86659fd93ull;
	content = (content ^ content >> 32 ^ PERL_INT(program->code, perl->cv_sequence) ^
		   PERL_WORD(program->code, perl->cv_start)) *
		  0xbf58476d1ce4e5b9ull;
	known = &program->codes[at % KNOWN_CODES];
	if (known->code == sub && known->seed == program->seed && known->first == content &&
	    known->version) {
		known->walk = program->walk;
		return 0;
	}
	program->file = PERL_WORD(program->code, perl->cv_file);
	program->line = perl_line(program);
	if (perl_find_name(number) || perl_make_known(number))
		return -1;
	known = &program->codes[at % KNOWN_CODES];
	known->code = sub;
	known->walk = program->walk;
	known->seed = program->seed;
	known->first = content;
	known->version = is_sent(program);
	known->id = program->id;
	return 0;
}

static __always_inline void perl_stage(struct scratch *slot, __u64 id)
{
	__u64 at = slot->program.n;

	OPAQUE(at);
	if (at >= WIRE_MAX_DEPTH)
		return;
	slot->frames[STAGED_AT + at] =
		WIRE_FRAME_CODE | (__u64)WIRE_LANGUAGE_PERL << WIRE_FRAME_LANGUAGE_SHIFT | id;
	slot->program.n = at + 1;
}

/* Stages code that is in no sub, of the file whose path is at the address. False: unreadable. */
static __always_inline bool perl_stage_place(struct scratch *slot, __u32 number,
					     enum perl_place place, __u64 file)
{
	struct interpreter_walk *program = &slot->program;

	program->name = 0;
	program->scope = place;
	program->file = file;
	program->line = 0;
	if (perl_make_known(number))
		return false;
	perl_stage(slot, program->id);
	return true;
}

/* ---- contexts ---- */

/* Enters a stack of contexts. False: it cannot be read. */
static __always_inline bool perl_enter_stack(struct interpreter_walk *program, __u64 stackinfo)
{
	const struct wire_perl *perl = &program->perl;
	struct perl_walk *walk = &program->perl_walk;
	__s32 top;

	if (!read_word(&walk->contexts, stackinfo + perl->si_contexts) ||
	    bpf_probe_read_user(&top, sizeof(top), (const void *)(stackinfo + perl->si_top)))
		return false;
	if (top < -1)
		return false;
	walk->stackinfo = stackinfo;
	walk->context = walk->contexts + (__s64)top * perl->cx_size;
	return true;
}

/* Copies a context with those below, or if that cannot be read the context only; 0 when it did. */
__noinline int perl_move_window(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct python_window *window;
	__u64 context;

	if (!slot)
		return -1;
	window = &slot->program.window;
	context = slot->program.perl_walk.context;
	window->from = context - PERL_BELOW;
	slot->program.perl_walk.window_low = 0;
	if (bpf_probe_read_user(window->bytes, PERL_BELOW + PERL_CONTEXT_BYTES,
				(const void *)window->from) == 0)
		return 0;
	slot->program.perl_walk.window_low = PERL_BELOW;
	return bpf_probe_read_user(window->bytes + PERL_BELOW, PERL_CONTEXT_BYTES,
				   (const void *)context)
		       ? -1
		       : 0;
}

/* The stack of contexts is over: goes to the one before, or ends with the main program. */
__noinline int perl_leave_stack(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	__u64 previous = 0, word = 0;
	__s32 type;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	if (!read_word(&previous, program->perl_walk.stackinfo + perl->si_previous) ||
	    bpf_probe_read_user(&type, sizeof(type),
				(const void *)(program->perl_walk.stackinfo + perl->si_type)))
		return program_fail(program, WIRE_CODE_UNREADABLE);
	if (previous && type != perl->si_main)
		return perl_enter_stack(program, previous)
			       ? PROGRAM_MORE
			       : program_fail(program, WIRE_CODE_UNREADABLE);
	if (!read_word(&word, program->perl_walk.state + perl->program_file) ||
	    !perl_stage_place(slot, number, PERL_PLACE_MAIN, word))
		return program_fail(program, WIRE_CODE_UNREADABLE);
	program->perl_walk.is_main = 1;
	return PROGRAM_ALL_ENDED;
}

/* Copies the context before the one that the walk is at to `code`, if there is one. */
static __always_inline void perl_read_before(struct interpreter_walk *program)
{
	const struct perl_walk *walk = &program->perl_walk;

	if (walk->context < walk->contexts ||
	    bpf_probe_read_user(program->code, PERL_CONTEXT_BYTES, (const void *)walk->context))
		__builtin_memset(program->code, 0xff, sizeof(__u64));
}

/* Words that are saved with the operation at work, when C code sets another one: it is the second.
 */
#define PERL_SAVED_OP 3

/*
 * Whether a context without an operation to return to is only the last operation of the block in
 * `code`, of a sort() or a pattern. Else C code called it, and has saved the operation at work just
 * before. `saved` is how many words were saved before the context.
 */
static __always_inline bool perl_ends_block(struct interpreter_walk *program, __s32 saved)
{
	const struct wire_perl *perl = &program->perl;
	struct perl_walk *walk = &program->perl_walk;
	__u8 type = PERL_BYTE(program->code, perl->cx_type), kind = type & perl->cx_kinds;
	bool of_pattern = kind == perl->cx_is_sub && type & perl->cx_has_copy;
	__u64 stack = 0, place = 0;

	if (kind != perl->cx_is_block && kind != perl->cx_is_defer && !of_pattern)
		return false;
	/* A pattern's block has saved it itself. */
	if (of_pattern && saved - (__s32)PERL_INT(program->code, perl->cx_saved) == PERL_SAVED_OP)
		return true;
	return saved < PERL_SAVED_OP || !read_word(&stack, walk->state + perl->savestack) ||
	       !read_word(&place, stack + (saved - 2ull) * sizeof(__u64)) ||
	       place != walk->state + perl->op;
}

/* A sub: stages it. Inlined: calls nest eight times at most. */
static __always_inline int perl_sub(struct scratch *slot, __u32 number, const __u8 *context)
{
	struct interpreter_walk *program = &slot->program;
	__u64 sub = PERL_WORD(context, program->perl.cx_sub);
	struct known_code *known = &program->codes[sub / 8 % KNOWN_CODES];

	if (!(PERL_BYTE(context, program->perl.cx_type) & program->perl.cx_has_copy)) {
		if ((known->code != sub || known->walk != program->walk) &&
		    perl_take_sub(number, sub, sub / 8 % KNOWN_CODES))
			return program_fail(program, WIRE_CODE_UNREADABLE);
		perl_stage(slot, known->id);
	}
	if (PERL_WORD(context, program->perl.cx_return))
		return PROGRAM_MORE;
	perl_read_before(program);
	return perl_ends_block(program, PERL_INT(context, program->perl.cx_saved))
		       ? PROGRAM_MORE
		       : PROGRAM_RUN_ENDED;
}

/*
 * An eval. Of a block, the code is that of the function around it; of a text or a file, it is
 * staged. `at` is its context's place in the window.
 */
__noinline int perl_eval(__u32 number, __u64 at)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	const __u8 *context;
	__u64 returns, file, required;
	bool readable = true;
	__u8 type;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return PROGRAM_FAILED;
	context = program->window.bytes + at;
	type = PERL_BYTE(context, perl->cx_type);
	if (type & perl->cx_has_block)
		return PROGRAM_MORE;
	returns = PERL_WORD(context, perl->cx_return);
	required = PERL_WORD(context, perl->cx_required);
	if (type & perl->cx_has_text)
		readable = read_word(&file, PERL_WORD(context, perl->cx_cop) + perl->cop_file) &&
			   perl_stage_place(slot, number, PERL_PLACE_EVAL, file);
	else if (required)
		readable = read_word(&file, required + perl->sv_value) &&
			   perl_stage_place(slot, number, PERL_PLACE_REQUIRE, file);
	if (!readable)
		return program_fail(program, WIRE_CODE_UNREADABLE);
	if (returns)
		return PROGRAM_MORE;
	perl_read_before(program);
	return perl_ends_block(program, PERL_INT(program->window.bytes + at, perl->cx_saved))
		       ? PROGRAM_MORE
		       : PROGRAM_RUN_ENDED;
}

/*
 * Whether the innermost context, which is a sub's or an eval's, is just being pushed or popped:
 * then it has not all of its members, or those of another one. The stack of contexts knows its
 * innermost sub or eval, and a sub how often it was called.
 */
__noinline int perl_is_torn(__u32 number, __u64 at, __u32 kind)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	struct perl_walk *walk;
	const __u8 *context;
	__s32 innermost;

	if (!slot)
		return 0;
	program = &slot->program;
	perl = &program->perl;
	walk = &program->perl_walk;
	OPAQUE(at);
	if (at > PERL_BELOW)
		return 0;
	context = program->window.bytes + at;
	if (bpf_probe_read_user(&innermost, sizeof(innermost),
				(const void *)(walk->stackinfo + perl->si_sub)) ||
	    walk->contexts + (__s64)innermost * perl->cx_size != walk->context)
		return 1;
	if (kind != perl->cx_is_sub || PERL_BYTE(context, perl->cx_type) & perl->cx_has_copy)
		return 0;
	return perl_read_value(number, PERL_WORD(context, perl->cx_sub)) < 0 ||
	       PERL_INT(program->code, perl->cv_depth) != PERL_INT(context, perl->cx_depth) + 1;
}

/* Stages the context that the walk is at, if it is a function's, and goes to the one before. */
__noinline int perl_step(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	const struct wire_perl *perl;
	__u64 at;
	bool torn;
	__u8 kind;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	perl = &program->perl;
	if (program->perl_walk.context < program->perl_walk.contexts)
		return perl_leave_stack(number);
	at = program->perl_walk.context - program->window.from;
	if (at > PERL_BELOW || at < program->perl_walk.window_low) {
		if (perl_move_window(number))
			return program_fail(program, WIRE_CODE_UNREADABLE);
		at = PERL_BELOW;
	}
	OPAQUE(at);
	if (at > PERL_BELOW)
		return PROGRAM_FAILED;
	kind = PERL_BYTE(program->window.bytes + at, perl->cx_type) & perl->cx_kinds;
	torn = !program->perl_walk.begun && (kind == perl->cx_is_sub || kind == perl->cx_is_eval) &&
	       perl_is_torn(number, at, kind);
	program->perl_walk.begun = 1;
	program->perl_walk.context -= perl->cx_size;
	if (torn)
		return PROGRAM_MORE;
	if (kind == perl->cx_is_sub)
		return perl_sub(slot, number, program->window.bytes + at);
	if (kind == perl->cx_is_eval)
		return perl_eval(number, at);
	return kind == perl->cx_is_block || kind == perl->cx_is_defer ? PROGRAM_RUN_ENDED
								      : PROGRAM_MORE;
}

/* Stages up to PROGRAM_STEPS contexts; an enum program_step. */
__noinline int perl_steps(__u32 number)
{
	int step = PROGRAM_MORE;

	for (__u32 i = 0; i < PROGRAM_STEPS && step == PROGRAM_MORE; i++) {
		step = perl_step(number);
		OPAQUE(step);
	}
	return step;
}

/* Stages the next run, which may have no functions; without one, `anchor` is 0. */
__noinline int perl_run(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	int step = PROGRAM_MORE;

	if (!slot || slot->program.language != WIRE_LANGUAGE_PERL)
		return 0;
	program = &slot->program;
	program->anchor = 0;
	program->n = 0;
	program->run_reason = WIRE_CODE_KNOWN;
	program->perl_walk.is_main = 0;
	if (!program->next)
		return 0;
	for (__u32 i = 0; i < PROGRAM_ROUNDS && step == PROGRAM_MORE; i++) {
		step = perl_steps(number);
		OPAQUE(step);
	}
	if (step == PROGRAM_MORE)
		program->run_reason = WIRE_CODE_TOO_DEEP;
	program->next = step == PROGRAM_RUN_ENDED;
	program->anchor = 1;
	if (program->run_reason)
		program->reason = program->run_reason;
	return 0;
}

/* Finds the thread's interpreter and its innermost context. Sets the reason if that fails. */
static __always_inline bool perl_find_state(struct scratch *slot, __u32 number)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct interpreter_walk *program = &slot->program;
	struct perl_walk *walk = &program->perl_walk;
	__u64 thread = BPF_CORE_READ(task, thread.fsbase), stackinfo;
	__u32 key;

	program->reason = WIRE_CODE_NO_STATE;
	walk->begun = 0;
	walk->main_placed = 0;
	walk->main_is_seen = 0;
	walk->is_main = 0;
	walk->is_after_evaluator = 0;
	walk->catching = 0;
	if (bpf_probe_read_user(&key, sizeof(key),
				(const void *)(program->perl.thread_key + program->bias)) ||
	    key >= PTHREAD_KEYS ||
	    !read_word(&walk->state, thread + PTHREAD_SPECIFIC + 16ull * key + 8) || !walk->state)
		return false;
	program->reason = WIRE_CODE_UNREADABLE;
	if (!read_word(&walk->env, walk->state + program->perl.top_env) ||
	    !read_word(&stackinfo, walk->state + program->perl.stackinfo) ||
	    !perl_enter_stack(program, stackinfo))
		return false;
	program->reason = WIRE_CODE_UNMATCHED;
	program->ordered = 1;
	program->next = 1;
	if (walk->again == PERL_WITHOUT_RUN) {
		perl_run(number);
		if (program->n > 1)
			program->next = 0;
	}
	return true;
}

/* ---- runs and calls that have no other ---- */

/*
 * Native frames of an eval between two of the evaluator: the one that has the handler, and that of
 * the operation, which compilers leave out where it calls the other one last.
 */
#define PERL_CATCHING_FRAMES 2

/* Notes a native frame that is not the evaluator's, and what it has on the C stack. */
static __always_inline void perl_see_frame(struct interpreter_walk *program, __u64 pc, __u64 sp,
					   __u64 cfa)
{
	struct perl_walk *walk = &program->perl_walk;

	if (pc - program->bias - program->perl.main < program->perl.main_size)
		walk->main_is_seen = 1;
	if (walk->is_after_evaluator)
		walk->catching = walk->env - sp < cfa - sp ? PERL_CATCHING_FRAMES : 0;
	else if (walk->catching)
		walk->catching--;
	walk->is_after_evaluator = 0;
	if (walk->env < cfa && !read_word(&walk->env, walk->env + program->perl.env_previous))
		walk->env = 0;
}

/* Whether the evaluator's frame that the walk is at belongs to the same call as the one before. */
static __always_inline bool perl_is_same_call(struct interpreter_walk *program)
{
	bool same = program->perl_walk.catching;

	program->perl_walk.catching = 0;
	program->perl_walk.is_after_evaluator = 1;
	return same;
}

/* Whether the evaluator's frame that the walk is at gets no run. */
static __always_inline bool perl_leaves_out(struct interpreter_walk *program)
{
	bool out = program->perl_walk.again == PERL_WITHOUT_CALL;

	if (out)
		program->perl_walk.again = PERL_JUDGED;
	else
		program->perl_walk.main_placed |= program->perl_walk.is_main;
	return out;
}

/* Whether the staged run has nothing but a main program, which may not be running any more. */
static __always_inline bool perl_is_main_only(const struct interpreter_walk *program)
{
	return program->perl_walk.is_main && program->n == 1 && !program->run_reason;
}

/* Whether each call of the evaluator has got its run, and each run its call. */
static __always_inline bool perl_is_paired(const struct interpreter_walk *program)
{
	const struct perl_walk *walk = &program->perl_walk;

	if (program->missing)
		return false;
	if (walk->main_is_seen)
		return !program->anchor;
	return !walk->main_placed && (!program->anchor || perl_is_main_only(program));
}

/* Whether an address is in the part of the C stack that was walked. */
static __always_inline bool perl_is_on_stack(const struct scratch *slot, __u64 address)
{
	__u64 first = slot->program.perl_walk.first_sp;

	return address - first < slot->walk.registers[UNWIND_SP] - first;
}

/*
 * At the end of a complete walk: one of enum perl_again. One run without a call, the innermost, is
 * certain if no operation is at work: none, or the one that C code makes for a call. One call
 * without a run, the innermost, is certain if the sub has returned, or if the evaluator computes a
 * constant for the compiler, whose line is then on the C stack.
 */
__noinline int perl_judge(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PERL, number);
	struct interpreter_walk *program;
	struct perl_walk *walk;
	__u64 op = 0, curcop = 0;
	__u16 kind = 0;

	if (!slot)
		return PERL_JUDGED;
	program = &slot->program;
	walk = &program->perl_walk;
	if (walk->again || program->reason != WIRE_CODE_UNMATCHED || perl_is_paired(program) ||
	    !read_word(&op, walk->state + program->perl.op) ||
	    !read_word(&curcop, walk->state + program->perl.curcop))
		return PERL_JUDGED;
	if (!program->anchor) {
		if (walk->main_placed == 0 || program->missing != walk->main_is_seen)
			return PERL_JUDGED;
		if (op)
			bpf_probe_read_user(&kind, sizeof(kind),
					    (const void *)(op + program->perl.op_type));
		return !op || (kind & 0x1ff) == program->perl.op_leavesub ||
				       perl_is_on_stack(slot, curcop)
			       ? PERL_WITHOUT_CALL
			       : PERL_JUDGED;
	}
	if (program->missing || (op && !perl_is_on_stack(slot, op)))
		return PERL_JUDGED;
	if (!walk->main_is_seen) {
		if (perl_is_main_only(program))
			return PERL_JUDGED;
		perl_run(number);
		return perl_is_main_only(program) ? PERL_WITHOUT_RUN : PERL_JUDGED;
	}
	return walk->is_main && !program->run_reason ? PERL_WITHOUT_RUN : PERL_JUDGED;
}

#endif
