/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The classes that functions of Ruby belong to. A frame's variables have the method that runs;
 * those of a block lead to those of the function around it. The method has its owner, a class or a
 * module, and that has its name, if it is one that cannot change any more. Ruby shows the same
 * from 3.4 on.
 */
#ifndef STACKTALLY_LANGUAGES_RUBY_CLASS_BPF_H
#define STACKTALLY_LANGUAGES_RUBY_CLASS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/ruby_text.bpf.h"

#define RUBY_SCOPES	8   /* blocks in each other that are followed */
#define RUBY_VARIABLES	8   /* of a class, until 3.1, among which its name is looked for */
#define RUBY_CLASS_TEXT 240 /* bytes of the name of a class; longer ones are not shown */

/* What stands beside a frame's variables, and the flag of those that are not a block's. */
struct ruby_scope {
	__u64 method, around, flags;
};
#define RUBY_SCOPE_METHOD 16 /* bytes that it is below the flags */
#define RUBY_SCOPE_LOCAL  2

/* The method that an object is, or that it has besides the special variables of a call; or 0. */
static __always_inline __u64 ruby_as_method(const struct wire_ruby *ruby, __u64 object)
{
	__u64 flags = 0;

	if (!object || !read_word(&flags, object))
		return 0;
	if ((flags & ruby->iseq_type_mask) == ruby->special_type &&
	    (!read_word(&object, object + ruby->special_method) || !read_word(&flags, object)))
		return 0;
	return (flags & ruby->iseq_type_mask) == ruby->method_type ? object : 0;
}

/* The method of a block's variables, whose flags are at `from`; 0. A global function. */
__noinline __u64 ruby_method_around(__u32 number, __u64 from)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct ruby_scope scope = { 0 };
	__u64 method = 0;

	if (!slot)
		return 0;
	for (__u32 i = 0; i < RUBY_SCOPES && !method && !(scope.flags & RUBY_SCOPE_LOCAL); i++) {
		if (bpf_probe_read_user(&scope, sizeof(scope),
					(const void *)(from - RUBY_SCOPE_METHOD)))
			return 0;
		method = ruby_as_method(&slot->interp.ruby, scope.method);
		from = scope.around & ~3ull;
	}
	return method;
}

/* Until 3.1: the variables of a class, a hash table in the order of insertion. Ruby's st.c. */
struct ruby_variables {
	__u64 first, end, entries;
};
#define RUBY_VARIABLES_AT 32 /* in the table */

struct ruby_variable {
	__u64 hash, key, value;
};

static __always_inline bool ruby_find_variables(const struct wire_ruby *ruby, __u64 class,
						struct ruby_variables *ret_variables)
{
	__u64 at;

	return ruby->class_extension && read_word(&at, class + ruby->class_extension) &&
	       read_word(&at, at + ruby->class_variables) &&
	       bpf_probe_read_user(ret_variables, sizeof(*ret_variables),
				   (const void *)(at + RUBY_VARIABLES_AT)) == 0;
}

/* A variable of a class; 0: it is not among the first ones. */
static __always_inline __u64 ruby_class_variable(const struct wire_ruby *ruby, __u64 class,
						 __u64 key)
{
	struct ruby_variable variable = { 0 };
	struct ruby_variables all;
	__u64 value = 0;

	if (!key || !ruby_find_variables(ruby, class, &all))
		return 0;
	for (__u32 i = 0; i < RUBY_VARIABLES && !value && all.first + i < all.end; i++) {
		if (bpf_probe_read_user(&variable, sizeof(variable),
					(const void *)(all.entries +
						       (all.first + i) * sizeof(variable))))
			return 0;
		value = variable.key == key ? variable.value : 0;
	}
	return value;
}

/*
 * Sets the key of a class's variable that has its name: the first one of the class Object. A global
 * function.
 */
__noinline int ruby_find_path_key(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct interpreter_walk *interp;
	struct ruby_variable variable;
	struct ruby_variables all;
	struct found_text text = { 0 };
	__u64 object, name = 0;

	if (!slot)
		return -1;
	interp = &slot->interp;
	if (!read_word(&object, interp->ruby.object_class + interp->bias) ||
	    !ruby_find_variables(&interp->ruby, object, &all) ||
	    bpf_probe_read_user(&variable, sizeof(variable),
				(const void *)(all.entries + all.first * sizeof(variable))) ||
	    !ruby_find_text(interp, variable.value, &text) || text.size != 6 ||
	    bpf_probe_read_user(&name, 6, (const void *)text.from) ||
	    name != ('O' | 'b' << 8 | 'j' << 16 | 'e' << 24 | (__u64)'c' << 32 | (__u64)'t' << 40))
		return -1;
	interp->ruby_walk.path_key = variable.key;
	return 0;
}

/* Whether an object is a class or a module. */
static __always_inline bool ruby_is_class(const struct wire_ruby *ruby, __u64 object,
					  __u64 *ret_flags)
{
	return object && read_word(ret_flags, object) &&
	       ((*ret_flags & ruby->type_mask) == ruby->type_class ||
		(*ret_flags & ruby->type_mask) == ruby->type_module);
}

/* What an object's own class, the singleton class, is of. */
static __always_inline __u64 ruby_attached(const struct wire_ruby *ruby, __u64 class)
{
	__u64 object = 0;

	if (!ruby->class_attached)
		return ruby_class_variable(ruby, class, ruby->attached_key);
	return read_word(&object, class + ruby->class_attached) ? object : 0;
}

/* The string with the name of a class, if it has one for good; else 0. */
static __always_inline __u64 ruby_class_path(const struct interpreter_walk *interp, __u64 class)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u64 path = 0;
	__u8 bits = 0;

	if (!ruby->class_path)
		return ruby_class_variable(ruby, class, interp->ruby_walk.path_key);
	if (bpf_probe_read_user(&bits, 1, (const void *)(class + ruby->class_permanent)) ||
	    !(bits & ruby->permanent) || !read_word(&path, class + ruby->class_path))
		return 0;
	return path;
}

/*
 * Looks up the class of a method: its name, what stands behind that, and a hash. Without one the
 * hash is 0. A global function.
 */
__noinline int ruby_take_class(__u32 number, __u64 method)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_RUBY, number);
	struct found_text text = { 0 };
	struct interpreter_walk *interp;
	const struct wire_ruby *ruby;
	__u64 object, flags = 0, hash;

	if (!slot)
		return 0;
	interp = &slot->interp;
	ruby = &interp->ruby;
	interp->ruby_walk.method = method;
	interp->ruby_walk.class_hash = 0;
	object = ruby_as_method(ruby, method);
	if (!object || !read_word(&object, object + ruby->method_owner) ||
	    !ruby_is_class(ruby, object, &flags))
		return 0;
	interp->ruby_walk.separator = '#';
	if ((flags & ruby->type_mask) == ruby->type_class && flags & ruby->singleton) {
		interp->ruby_walk.separator = '.';
		object = ruby_attached(ruby, object);
		if (!ruby_is_class(ruby, object, &flags))
			return 0;
	}
	object = ruby_class_path(interp, object);
	if (!object || !ruby_find_text(interp, object, &text) || !text.size ||
	    text.size > RUBY_CLASS_TEXT)
		return 0;
	interp->ruby_walk.class_name = object;
	hash = text.from == object + ruby->string_embedded && text.size <= 24
		       ? ruby_hash_of_head(interp, text.size)
	       : copy_text(&text, false, interp->message.name, WIRE_SCRIPT_TEXT)
		       ? hash_of_copy(slot, &text)
		       : 0;
	interp->ruby_walk.class_hash = hash ? hash ^ interp->ruby_walk.separator : 0;
	return 0;
}

/*
 * Whether the function found last, whose body is at an address, is in a method: it is one, or a
 * part of one.
 */
static __always_inline bool ruby_is_in_method(const struct interpreter_walk *interp, __u64 body)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u32 type = 0;
	__u64 around;

	return interp->scope == ruby->type_function ||
	       (read_word(&around, body + ruby->body_local) &&
		read_word(&body, around + ruby->iseq_body) &&
		bpf_probe_read_user(&type, sizeof(type), (const void *)(body + ruby->body_type)) ==
			0 &&
		type == ruby->type_function);
}

#endif
