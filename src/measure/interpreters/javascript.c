// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JavaScript, by V8 in node. V8 describes its structures in constants that it exports for debuggers
 * (v8dbg_NAME). The few that these leave out were seen in running programs of two versions, which
 * tests/root/interpreters/javascript_test.sh compares with the programs' own stacks; other versions
 * are refused.
 *
 * "Evaluator" is all code of V8's builtins: frames of its bytecode interpreter are in there. V8
 * tells where that is by two functions, whose instructions are read.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "elf/elf_exports.h"
#include "interpreters/languages.h"

#define TAGGED                                                                                     \
	8 /* bytes of a word of V8's heap, which begins each object: no compressed pointers */

/* A constant, and the member of struct wire_javascript that it goes to. */
struct constant {
	const char *name;
	uint8_t at, size; /* bytes */
};

#define MEMBER(member)                                                                             \
	offsetof(struct wire_javascript, member), sizeof(((struct wire_javascript *)0)->member)

static const struct constant constants[] = {
	{ "v8dbg_off_fp_function", MEMBER(frame_function) },
	{ "v8dbg_class_Map__instance_type__uint16_t", MEMBER(map_type) },
	{ "v8dbg_class_JSFunction__shared__SharedFunctionInfo", MEMBER(function_shared) },
	{ "v8dbg_class_JSFunction__raw_feedback_cell__FeedbackCell", MEMBER(function_code) },
	{ "v8dbg_class_SharedFunctionInfo__function_data__Object", MEMBER(shared_data) },
	{ "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object", MEMBER(shared_name) },
	{ "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	  MEMBER(shared_script) },
	{ "v8dbg_class_SharedFunctionInfo__flags__int", MEMBER(shared_literal) },
	{ "v8dbg_scopeinfo_idx_ncontextlocals", MEMBER(scope_count) },
	{ "v8dbg_scopeinfo_idx_first_vars", MEMBER(scope_names) },
	{ "v8dbg_class_Script__name__Object", MEMBER(script_name) },
	{ "v8dbg_CodeKindFieldMask", MEMBER(code_kinds) },
	{ "v8dbg_CodeKindBaseline", MEMBER(code_baseline) },
	{ "v8dbg_class_String__length__int32_t", MEMBER(string_length) },
	{ "v8dbg_class_SeqOneByteString__chars__char", MEMBER(string_text) },
	{ "v8dbg_class_ConsString__first__String", MEMBER(cons_first) },
	{ "v8dbg_class_ConsString__second__String", MEMBER(cons_second) },
	{ "v8dbg_class_SlicedString__parent__String", MEMBER(sliced_parent) },
	{ "v8dbg_class_SlicedString__offset__SMI", MEMBER(sliced_offset) },
	{ "v8dbg_class_ThinString__actual__String", MEMBER(thin_actual) },
	{ "v8dbg_StringRepresentationMask", MEMBER(string_form) },
	{ "v8dbg_OneByteStringTag", MEMBER(string_one_byte) },
	{ "v8dbg_SeqStringTag", MEMBER(form_sequential) },
	{ "v8dbg_ConsStringTag", MEMBER(form_cons) },
	{ "v8dbg_SlicedStringTag", MEMBER(form_sliced) },
	{ "v8dbg_ThinStringTag", MEMBER(form_thin) },
	{ "v8dbg_FirstNonstringType", MEMBER(type_not_string) },
	{ "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", MEMBER(type_shared) },
	{ "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", MEMBER(type_scope) },
	{ "v8dbg_type_Script__SCRIPT_TYPE", MEMBER(type_script) },
	{ "v8dbg_type_DebugInfo__DEBUG_INFO_TYPE", MEMBER(type_debug) },
	{ "v8dbg_type_Code__CODE_TYPE", MEMBER(type_code) },
};

#define N_CONSTANTS (sizeof(constants) / sizeof(constants[0]))

/* Those whose values are required. */
static const struct {
	const char *name;
	int32_t value;
} required[] = {
	{ "v8dbg_TaggedSize", TAGGED },
	{ "v8dbg_HeapObjectTag", 1 },
	{ "v8dbg_HeapObjectTagMask", 3 },
	{ "v8dbg_SmiTag", 0 },
	{ "v8dbg_SmiTagMask", 1 },
	{ "v8dbg_SmiShiftSize", 31 },
	{ "v8dbg_class_HeapObject__map__Map", 0 },
};

#define N_REQUIRED (sizeof(required) / sizeof(required[0]))

enum javascript_symbol {
	JAVASCRIPT_MAJOR,
	JAVASCRIPT_MINOR,
	JAVASCRIPT_BUILTINS,
	JAVASCRIPT_BUILTINS_SIZE,
	JAVASCRIPT_CONTEXT,
	JAVASCRIPT_REQUIRED,
	JAVASCRIPT_CONSTANTS = JAVASCRIPT_REQUIRED + N_REQUIRED,
	JAVASCRIPT_N_SYMBOLS = JAVASCRIPT_CONSTANTS + N_CONSTANTS,
};

/* Constants that are 0 have no bytes in the file. */
static bool read_int(const struct elf_file *elf, const struct elf_export *symbol, int32_t *ret)
{
	int r = symbol->address ? elf_exports_read(elf, symbol->address, ret, sizeof(*ret)) : -EIO;

	if (r == -ENODATA)
		*ret = 0;
	return r == 0 || r == -ENODATA;
}

/* ---- where the builtins are ---- */

/*
 * What a function returns that does nothing but return a constant or a variable: its instructions
 * are mov $VALUE,%eax; ret - lea VALUE(%rip),%rax; ret - mov VARIABLE(%rip),%eax; ret - or lea
 * VARIABLE(%rip),%rax; mov (%rax),%rax; ret. 0: it does something else.
 */
static uint64_t returned(const struct elf_file *elf, const struct elf_export *function)
{
	uint64_t after, value = 0;
	uint8_t code[12];
	int32_t offset;
	size_t size = 4, at;

	if (!function->address || elf_exports_read(elf, function->address, code, sizeof(code)) < 0)
		return 0;
	if (code[0] == 0xb8 && code[5] == 0xc3) {
		memcpy(&value, code + 1, 4);
		return value;
	}
	at = code[0] == 0x48 ? 1 : 0;
	memcpy(&offset, code + at + 2, sizeof(offset));
	after = function->address + at + 6 + (uint64_t)(int64_t)offset;
	if (at && code[1] == 0x8d && code[2] == 0x05) {
		if (code[7] == 0xc3)
			return after;
		at = code[7] == 0x48 ? 8 : 7;
		if (code[at] != 0x8b || code[at + 1] != 0 || code[at + 2] != 0xc3)
			return 0;
		size = at == 8 ? 8 : 4;
	} else if (code[at] != 0x8b || code[at + 1] != 0x05 || code[at + 6] != 0xc3) {
		return 0;
	} else if (at) {
		size = 8;
	}
	return elf_exports_read(elf, after, &value, size) == 0 ? value : 0;
}

/* ---- structures ---- */

/* Versions whose other structures are known. */
static bool is_known(int32_t major, int32_t minor)
{
	return (major == 10 && minor == 2) || (major == 11 && minor == 3);
}

/* Sets the members for which V8 exports constants. False: it lacks some, or they do not fit. */
static bool read_constants(const struct elf_file *elf, const struct elf_export *symbols,
			   struct wire_javascript *is)
{
	int32_t value;

	for (size_t i = 0; i < N_REQUIRED; i++)
		if (!read_int(elf, &symbols[JAVASCRIPT_REQUIRED + i], &value) ||
		    value != required[i].value)
			return false;
	for (size_t i = 0; i < N_CONSTANTS; i++) {
		const struct constant *constant = &constants[i];

		if (!read_int(elf, &symbols[JAVASCRIPT_CONSTANTS + i], &value) ||
		    value < INT8_MIN || value > (constant->size == 1 ? UINT8_MAX : UINT16_MAX))
			return false;
		/* The lower bytes come first. */
		memcpy((char *)is + constant->at, &value, constant->size);
	}
	return read_int(elf, &symbols[JAVASCRIPT_CONTEXT], &value) &&
	       value == is->frame_function + TAGGED;
}

/* Sets the other members, which are as follows in the known versions. */
static void complete(struct wire_javascript *is, int32_t major)
{
	is->function_code += TAGGED;			     /* from the word before it */
	is->shared_literal += 4;			     /* the same */
	is->scope_flags = TAGGED;			     /* the first word of a scope, ... */
	is->scope_count = TAGGED + is->scope_count * TAGGED; /* ... from which others are counted */
	is->scope_names = TAGGED + is->scope_names * TAGGED;
	is->scope_most_inlined = 75;
	is->scope_kinds = 15;
	is->scope_of_function = 2;
	is->debug_script = 24;
	is->string_hash = 8;
	is->code_flags = 48;
	is->code_deoptimization = 16;
	is->code_start = major == 10 ? 0 : 40;
	is->code_size = major == 10 ? 40 : 56;
	is->code_inline = 128;
	is->inlined_count = 2 * TAGGED + TAGGED; /* the second element of an array */
}

static int read_javascript(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[JAVASCRIPT_N_SYMBOLS] = {
		[JAVASCRIPT_MAJOR] = { .name = "_ZN2v88internal7Version6major_E" },
		[JAVASCRIPT_MINOR] = { .name = "_ZN2v88internal7Version6minor_E" },
		[JAVASCRIPT_BUILTINS] = { .name = "_ZN2v88internal23DefaultEmbeddedBlobCodeEv" },
		[JAVASCRIPT_BUILTINS_SIZE] = { .name = "_ZN2v88internal27DefaultEmbeddedBlobCodeSiz"
						       "eEv" },
		[JAVASCRIPT_CONTEXT] = { .name = "v8dbg_off_fp_context" },
	};
	struct wire_javascript is = { 0 };
	int32_t major = 0, minor = 0;
	int r;

	for (size_t i = 0; i < N_REQUIRED; i++)
		symbols[JAVASCRIPT_REQUIRED + i].name = required[i].name;
	for (size_t i = 0; i < N_CONSTANTS; i++)
		symbols[JAVASCRIPT_CONSTANTS + i].name = constants[i].name;
	r = elf_exports_find(elf, symbols, JAVASCRIPT_N_SYMBOLS);
	if (r < 0)
		return r;
	if (!symbols[JAVASCRIPT_BUILTINS].address)
		return 0;
	ret_interpreter->language = LANGUAGE_JAVASCRIPT;
	ret_interpreter->evaluator = returned(elf, &symbols[JAVASCRIPT_BUILTINS]);
	ret_interpreter->evaluator_end =
		ret_interpreter->evaluator +
		(uint32_t)returned(elf, &symbols[JAVASCRIPT_BUILTINS_SIZE]);
	if (!read_int(elf, &symbols[JAVASCRIPT_MAJOR], &major) ||
	    !read_int(elf, &symbols[JAVASCRIPT_MINOR], &minor) || !is_known(major, minor)) {
		ret_interpreter->refused = WIRE_CODE_VERSION;
		return 0;
	}
	if (ret_interpreter->evaluator == ret_interpreter->evaluator_end ||
	    !read_constants(elf, symbols, &is)) {
		ret_interpreter->refused = WIRE_CODE_DISAGREES;
		return 0;
	}
	complete(&is, major);
	ret_interpreter->javascript = is;
	return 0;
}

const struct language_reader language_javascript = {
	.exports = LANGUAGE_EXPORTS("v8dbg_SmiTag"),
	.file_name = "node",
	.read = read_javascript,
};
