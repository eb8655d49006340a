/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The functions of Ruby (iseqs): their ids and names, and the lines that their instructions are of.
 */
#ifndef STACKTALLY_LANGUAGES_RUBY_CODE_BPF_H
#define STACKTALLY_LANGUAGES_RUBY_CODE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/ruby_class.bpf.h"
#include "languages/ruby_text.bpf.h"

#define RUBY_ISEQ_BYTES	  24
#define RUBY_BODY_BYTES	  104
#define RUBY_OBJECT_BYTES 40 /* of any object */

/*
 * Copies a function's label to the message. That of a file is text of the library, which a process
 * that was forked has not mapped yet.
 */
static __always_inline bool ruby_copy_label(struct interpreter_walk *interp,
					    struct found_text *label)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u8 *to = interp->message.name;

	if (copy_text(label, false, to, WIRE_SCRIPT_TEXT))
		return true;
	if (interp->scope == ruby->type_main && label->size == 6) {
		__builtin_memcpy(to, "<main>", 6);
		return true;
	}
	if (interp->scope == ruby->type_top && label->size == 16) {
		__builtin_memcpy(to, "<top (required)>", 16);
		return true;
	}
	return false;
}

/* A hash of a path's characters, as far as they would be sent. A global function. */
__noinline __u64 ruby_path_hash(__u32 number, __u64 string)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct found_text text = { 0 };

	if (!slot || !ruby_find_text(&slot->interp, string, &text) ||
	    !copy_text(&text, true, slot->interp.message.name, WIRE_SCRIPT_TEXT))
		return 0;
	return hash_of_copy(slot, &text);
}

/* A hash of the label of the function found last. A global function. */
__noinline __u64 ruby_label_hash(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	struct found_text text = { 0 };

	if (!slot)
		return 0;
	interp = &slot->interp;
	if (!ruby_find_text(interp, interp->name, &text))
		return 0;
	if (text.from == interp->name + interp->ruby.string_embedded && text.size <= 24)
		return ruby_hash_of_head(interp, text.size);
	return ruby_copy_label(interp, &text) ? hash_of_copy(slot, &text) : 0;
}

/* The string of a file's path: that, or the first one of an array, which each function has. */
static __always_inline __u64 ruby_path_of(struct interpreter_walk *interp, __u64 file)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u8 *head = interp->message.file;
	__u64 path = 0;

	if (bpf_probe_read_user(head, RUBY_OBJECT_BYTES, (const void *)file))
		return 0;
	if ((*(__u64 *)head & ruby->type_mask) != ruby->type_array)
		return file;
	if (*(__u64 *)head & ruby->array_embedded_flag)
		return AT(head, ruby->array_embedded, RUBY_STRING_BYTES, __u64);
	return read_word(&path, AT(head, ruby->array_pointer, RUBY_STRING_BYTES, __u64)) ? path : 0;
}

/*
 * Copies the name of the function found last to the message: its class, if it has one, and its
 * label. Finds the file's text, too, as that needs the message's room. False: it cannot be read.
 */
static __always_inline bool ruby_copy_name(struct interpreter_walk *interp, struct found_text *name,
					   struct found_text *file)
{
	struct found_text class = { 0 };
	__u8 *to = interp->message.name;
	__u64 at;

	if (!ruby_find_text(interp, interp->name, name) ||
	    !ruby_find_text(interp, interp->last_name, file))
		return false;
	if (!interp->content)
		return ruby_copy_label(interp, name);
	if (!ruby_find_text(interp, interp->ruby_walk.class_name, &class) ||
	    !copy_text(&class, false, to, RUBY_CLASS_TEXT))
		return false;
	at = class.size;
	OPAQUE(at);
	if (at > RUBY_CLASS_TEXT)
		return false;
	to[at] = interp->ruby_walk.separator;
	if (!copy_text(name, false, to + at + 1, WIRE_SCRIPT_TEXT - RUBY_CLASS_TEXT - 1))
		return false;
	name->size += class.size + 1;
	name->class_first = true;
	return true;
}

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int ruby_send_name(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_RUBY, number);
	struct found_text name = { 0 }, file = { 0 };
	struct interpreter_walk *interp;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	if (ruby_copy_name(interp, &name, &file) &&
	    copy_text(&file, true, interp->message.file, WIRE_SCRIPT_TEXT))
		send_message(interp, &name, &file);
	return 0;
}

/*
 * Makes a function that runs for a method known, and sends its name if that was not sent yet. It is
 * known by what it says: another one may be at its address later. The class of the method has been
 * looked up. A global function. Returns 0 when it did.
 */
__noinline int ruby_take_iseq(__u32 number, __u64 iseq, __u32 at, __u64 method)
{
	struct scratch *slot = slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	const struct wire_ruby *ruby;
	struct known_script *known;
	__u64 label, path, body;

	if (!slot)
		return -1;
	interp = &slot->interp;
	ruby = &interp->ruby;
	if (bpf_probe_read_user(interp->code, RUBY_ISEQ_BYTES, (const void *)iseq) ||
	    (CODE_WORD(interp->code, 0) & ruby->iseq_type_mask) != ruby->iseq_type)
		return -1;
	body = CODE_WORD(interp->code, ruby->iseq_body);
	if (bpf_probe_read_user(interp->code, RUBY_BODY_BYTES, (const void *)body))
		return -1;
	interp->name = CODE_WORD(interp->code, ruby->body_label);
	interp->file = CODE_WORD(interp->code, ruby->body_path);
	interp->scope = CODE_INT(interp->code, ruby->body_type);
	interp->line = CODE_INT(interp->code, ruby->body_line) >> (ruby->line_tag_bits & 1);
	if (interp->file != interp->last_file) {
		path = ruby_path_of(interp, interp->file);
		if (path != interp->last_name || !path)
			interp->last_file_hash = ruby_path_hash(number, path);
		interp->last_name = path;
		interp->last_file = interp->file;
	}
	label = ruby_label_hash(number);
	if (!label || !interp->last_file_hash)
		return -1;
	interp->content = 0;
	if (method && ruby_is_in_method(interp, body))
		interp->content = interp->ruby_walk.class_hash;
	interp->id = code_id(interp, LANGUAGE_RUBY, label, interp->last_file_hash);
	if (!is_sent(interp))
		ruby_send_name(number);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	known->code = iseq;
	known->walk = interp->walk;
	known->version = 0;
	known->function = method;
	known->id = interp->id;
	return 0;
}

/*
 * Looks up the class of a method, and makes a function that runs for it known. ruby_take_iseq()
 * does not look it up itself: functions that call each other have 512 bytes of stack together.
 */
static __always_inline int ruby_take_function(struct interpreter_walk *interp, __u32 number,
					      __u64 iseq, __u64 method)
{
	if (method && interp->ruby.class_extension && !interp->ruby_walk.path_key)
		ruby_find_path_key(number);
	if (method && method != interp->ruby_walk.method)
		ruby_take_class(number, method);
	return ruby_take_iseq(number, iseq, iseq / 8 % KNOWN_SCRIPTS, method);
}

/* Of a function's body: its lines, each from a position of its code on. Ruby's vm_core.h. */
struct ruby_lines {
	__u64 list, positions;
	__u32 n, padding;
	__u64 table;
};

/*
 * How many lines begin up to a position, by the table of Ruby's iseq.c. Of the first positions it
 * has that number itself, with 7 bits each, nine to a word. Of each 512 that follow it has a block:
 * the number before it, those before each of its words but the first, with 9 bits each, and a bit
 * for each position.
 */
#define RUBY_FIRST_POSITIONS 54
#define RUBY_BLOCK_POSITIONS 512
#define RUBY_BLOCK_BYTES     80

static __always_inline __u32 ruby_lines_up_to(__u64 table, __u64 position)
{
	__u64 word, block[2], at, in_words;

	if (position < RUBY_FIRST_POSITIONS)
		return read_word(&word, table + position / 9 * sizeof(word))
			       ? word >> position % 9 * 7 & 0x7f
			       : 0;
	position -= RUBY_FIRST_POSITIONS;
	at = table + RUBY_FIRST_POSITIONS / 9 * sizeof(word) +
	     position / RUBY_BLOCK_POSITIONS * RUBY_BLOCK_BYTES;
	position %= RUBY_BLOCK_POSITIONS;
	if (bpf_probe_read_user(block, sizeof(block), (const void *)at) ||
	    !read_word(&word, at + sizeof(block) + position / 64 * sizeof(word)))
		return 0;
	in_words = position < 64 ? 0 : block[1] >> (position / 64 - 1) * 9 & 0x1ff;
	return (__u32)block[0] + in_words + __builtin_popcountll(word << (63 - position % 64));
}

/* The line of the instruction before `next`. A global function; 0: not known. */
__noinline int ruby_line_before(__u32 number, __u64 iseq, __u64 next)
{
	struct scratch *slot =
		config_has(WIRE_LINES) ? seldom_slot_of(LANGUAGE_RUBY, number) : NULL;
	const struct wire_ruby *ruby;
	struct ruby_lines lines;
	__u64 body, code, position;
	__u32 n, line = 0;

	if (!slot)
		return 0;
	ruby = &slot->interp.ruby;
	if (!read_word(&body, iseq + ruby->iseq_body) ||
	    !read_word(&code, body + ruby->body_instructions) ||
	    bpf_probe_read_user(&lines, sizeof(lines), (const void *)(body + ruby->body_lines)))
		return 0;
	position = (next - code) / sizeof(__u64);
	n = lines.n > 1 ? ruby_lines_up_to(lines.table, position ? position - 1 : 0) : lines.n;
	if (n)
		bpf_probe_read_user(&line, sizeof(line),
				    (const void *)(lines.list + (n - 1ull) * ruby->line_size));
	return line;
}

#endif
