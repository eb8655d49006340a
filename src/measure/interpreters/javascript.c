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
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "elf/elf_exports.h"
#include "interpreters/bare_code.h"
#include "interpreters/languages.h"

#define TAGGED                                                                                     \
	8 /* bytes of a word of V8's heap, which begins each object: no compressed pointers */

#define NAMES 4

/*
 * A constant, and the member of struct wire_javascript that it goes to. V8 has given some other
 * names: the first that is there is taken.
 */
struct constant {
	uint8_t at, size; /* bytes */
	bool may_lack;	  /* else the version is not known without it */
	const char *names[NAMES];
};

#define MEMBER(member)                                                                             \
	offsetof(struct wire_javascript, member), sizeof(((struct wire_javascript *)0)->member)

#define SHARED	  "v8dbg_class_SharedFunctionInfo__"
#define CODE	  "v8dbg_class_Code__"
#define POSITIONS CODE "source_position_table__"
#define FUNCTION  "v8dbg_class_JSFunction__"
#define LEAVING	  "v8dbg_DeoptimizationData"

/* Those that are not in all versions come first. */
enum { FUNCTION_CODE, CODE_FLAGS, CODE_SIZE, CODE_START, CODE_POSITIONS, N_LACKING = 9 };

static const struct constant constants[] = {
	[FUNCTION_CODE] = { MEMBER(function_code),
			    true,
			    { FUNCTION "code__Tagged_Code_", FUNCTION "code__CodeT",
			      FUNCTION "raw_code__CodeT" } },
	[CODE_FLAGS] = { MEMBER(code_flags), true, { CODE "flags__uint32_t" } },
	[CODE_SIZE] = { MEMBER(code_size), true, { CODE "instruction_size__int" } },
	[CODE_START] = { MEMBER(code_start), true, { CODE "instruction_start__Address" } },
	[CODE_POSITIONS] = { MEMBER(code_positions),
			     true,
			     { POSITIONS "ByteArray", POSITIONS "Tagged_ByteArray_" } },
	{ MEMBER(code_inline),
	  true,
	  { CODE "instruction_start__uintptr_t",
	    "v8dbg_class_InstructionStream__instruction_start__uintptr_t" } },
	{ MEMBER(code_kinds), true, { "v8dbg_CodeKindFieldMask" } },
	{ MEMBER(code_baseline), true, { "v8dbg_CodeKindBaseline" } },
	{ MEMBER(type_stream), true, { "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE" } },
	{ MEMBER(frame_function), false, { "v8dbg_off_fp_function" } },
	{ MEMBER(map_type), false, { "v8dbg_class_Map__instance_type__uint16_t" } },
	{ MEMBER(function_shared), false, { FUNCTION "shared__SharedFunctionInfo" } },
	{ MEMBER(shared_data),
	  true, /* always the first */
	  { SHARED "function_data__Object", SHARED "function_data__Tagged_Object_" } },
	{ MEMBER(shared_name),
	  false,
	  { SHARED "name_or_scope_info__Object", SHARED "name_or_scope_info__Tagged_Object_",
	    SHARED "name_or_scope_info__Tagged_NameOrScopeInfoT_" } },
	{ MEMBER(shared_script),
	  false,
	  { SHARED "script_or_debug_info__HeapObject",
	    SHARED "script_or_debug_info__Tagged_HeapObject_", SHARED "script__Tagged_HeapObject_",
	    SHARED "raw_script__Tagged_Object_" } },
	{ MEMBER(shared_literal), false, { SHARED "flags__int" } },
	{ MEMBER(scope_count), false, { "v8dbg_scopeinfo_idx_ncontextlocals" } },
	{ MEMBER(scope_names), false, { "v8dbg_scopeinfo_idx_first_vars" } },
	{ MEMBER(script_name), false, { "v8dbg_class_Script__name__Object" } },
	{ MEMBER(string_length), false, { "v8dbg_class_String__length__int32_t" } },
	{ MEMBER(string_text), false, { "v8dbg_class_SeqOneByteString__chars__char" } },
	{ MEMBER(cons_first), false, { "v8dbg_class_ConsString__first__String" } },
	{ MEMBER(cons_second), false, { "v8dbg_class_ConsString__second__String" } },
	{ MEMBER(sliced_parent), false, { "v8dbg_class_SlicedString__parent__String" } },
	{ MEMBER(sliced_offset), false, { "v8dbg_class_SlicedString__offset__SMI" } },
	{ MEMBER(thin_actual), false, { "v8dbg_class_ThinString__actual__String" } },
	{ MEMBER(string_form), false, { "v8dbg_StringRepresentationMask" } },
	{ MEMBER(string_one_byte), false, { "v8dbg_OneByteStringTag" } },
	{ MEMBER(form_sequential), false, { "v8dbg_SeqStringTag" } },
	{ MEMBER(form_cons), false, { "v8dbg_ConsStringTag" } },
	{ MEMBER(form_sliced), false, { "v8dbg_SlicedStringTag" } },
	{ MEMBER(form_thin), false, { "v8dbg_ThinStringTag" } },
	{ MEMBER(type_not_string), false, { "v8dbg_FirstNonstringType" } },
	{ MEMBER(type_shared),
	  false,
	  { "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE" } },
	{ MEMBER(type_scope), false, { "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE" } },
	{ MEMBER(type_script), false, { "v8dbg_type_Script__SCRIPT_TYPE" } },
	{ MEMBER(type_debug), false, { "v8dbg_type_DebugInfo__DEBUG_INFO_TYPE" } },
	{ MEMBER(type_code), false, { "v8dbg_type_Code__CODE_TYPE" } },
	/* Words of an array. */
	{ MEMBER(inlined_count), true, { LEAVING "InlinedFunctionCountIndex" } },
	{ MEMBER(inlined_literals), true, { LEAVING "LiteralArrayIndex" } },
	{ MEMBER(inlined_id), true, { LEAVING "OptimizationIdIndex" } },
	{ MEMBER(inlined_shared),
	  true,
	  { LEAVING "SharedFunctionInfoIndex", LEAVING "SharedFunctionInfoWrapperIndex",
	    LEAVING "WrappedSharedFunctionInfoIndex" } },
	{ MEMBER(inlined_places), true, { LEAVING "InliningPositionsIndex" } },
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
	JAVASCRIPT_CONTEXT,
	JAVASCRIPT_REQUIRED,
	JAVASCRIPT_CONSTANTS = JAVASCRIPT_REQUIRED + N_REQUIRED,
	JAVASCRIPT_N_SYMBOLS = JAVASCRIPT_CONSTANTS + N_CONSTANTS * NAMES,
};

/* Constants that are 0 have no bytes in the file. */
static bool read_int(const struct elf_file *elf, const struct elf_export *symbol, int32_t *ret)
{
	int r = symbol->address ? elf_exports_read(elf, symbol->address, ret, sizeof(*ret)) : -EIO;

	if (r == -ENODATA)
		*ret = 0;
	return r == 0 || r == -ENODATA;
}

/* ---- structures ---- */

struct version {
	int32_t major, minor;
};

static bool is_before(const struct version *version, int32_t major, int32_t minor)
{
	return version->major < major || (version->major == major && version->minor < minor);
}

/* The value of a constant by the first of its names that is there. False: none is. */
static bool read_constant(const struct elf_file *elf, const struct elf_export *symbols, size_t i,
			  int32_t *ret_value)
{
	const struct elf_export *named = &symbols[JAVASCRIPT_CONSTANTS + i * NAMES];

	for (size_t at = 0; at < NAMES; at++)
		if (constants[i].names[at] && named[at].address)
			return read_int(elf, &named[at], ret_value);
	return false;
}

/* What a file lacks becomes 0. */
enum constants_read { CONSTANTS_FIT, CONSTANTS_LACK, CONSTANTS_DISAGREE };

/* Sets the members for which V8 exports constants. */
static enum constants_read read_constants(const struct elf_file *elf,
					  const struct elf_export *symbols,
					  struct wire_javascript *is)
{
	int32_t value;

	for (size_t i = 0; i < N_REQUIRED; i++)
		if (!read_int(elf, &symbols[JAVASCRIPT_REQUIRED + i], &value) ||
		    value != required[i].value)
			return CONSTANTS_DISAGREE;
	for (size_t i = 0; i < N_CONSTANTS; i++) {
		const struct constant *constant = &constants[i];

		if (!read_constant(elf, symbols, i, &value)) {
			if (!constant->may_lack)
				return CONSTANTS_LACK;
			continue;
		}
		if (value < INT8_MIN || value > (constant->size == 1 ? UINT8_MAX : UINT16_MAX))
			return CONSTANTS_DISAGREE;
		/* The lower bytes come first. */
		memcpy((char *)is + constant->at, &value, constant->size);
	}
	return read_int(elf, &symbols[JAVASCRIPT_CONTEXT], &value) &&
			       value == is->frame_function + TAGGED
		       ? CONSTANTS_FIT
		       : CONSTANTS_DISAGREE;
}

/* Where a word of an array is, by its number. */
static uint8_t in_array(uint8_t index)
{
	return (uint8_t)(2 * TAGGED + index * TAGGED);
}

/*
 * Sets what is in the code that V8 has generated. In V8 10, an object had it and the instructions;
 * in 11, what describes the instructions became an object of its own, without constants at first.
 */
static void complete_code(struct wire_javascript *is, const struct version *version)
{
	bool is_inline = is_before(version, 11, 0);

	if (!is->code_kinds)
		is->code_kinds = 15;
	if (!is->code_baseline)
		is->code_baseline = 11;
	if (!is->code_positions)
		is->code_positions = is_before(version, 11, 4) ? 24 : 16;
	is->code_leaving = is->code_positions - TAGGED;
	if (is_inline) {
		is->code_start = 0;
		is->code_flags = 48;
		is->code_size = 40;
		is->type_stream = 0;
	} else if (!is->code_start) {
		is->code_start = is->code_positions + 16;
		is->code_flags = is->code_positions + 24;
		is->code_size = is->code_positions + (is_before(version, 11, 4) ? 32 : 28);
	}
	if (!is->inlined_literals) {
		is->inlined_count = 1;
		is->inlined_literals = 2;
		is->inlined_id = 5;
		is->inlined_shared = 6;
		is->inlined_places = 7;
	}
	is->inlined_count = in_array(is->inlined_count);
	is->inlined_literals = in_array(is->inlined_literals);
	is->inlined_id = in_array(is->inlined_id);
	is->inlined_shared = in_array(is->inlined_shared);
	is->inlined_places = in_array(is->inlined_places);
}

/* Sets what no constant tells. The rules hold from V8 9 to 14; the walk judges what they lead to.
 */
static void complete(struct wire_javascript *is, const struct version *version)
{
	if (!is->function_code && is_before(version, 11, 7))
		is->function_code = is->function_shared + 3 * TAGGED;
	else if (!is->function_code)
		is->function_code = is->function_shared - TAGGED;
	if (!is->shared_data)
		is->shared_data = TAGGED;
	is->shared_literal += 4; /* from the word before it */
	/* The first word of a scope: a number, in its upper half, up to 12.4. */
	is->scope_flags = is_before(version, 12, 5) ? TAGGED + 4 : TAGGED;
	is->scope_count = TAGGED + is->scope_count * TAGGED; /* counted from that word */
	is->scope_names = TAGGED + is->scope_names * TAGGED;
	is->scope_most_inlined = 75;
	is->scope_kinds = 15;
	is->scope_of_function = is_before(version, 12, 5) ? 2 : 4;
	is->debug_script = 24;
	is->string_hash = 8;
	complete_code(is, version);
}

static int read_javascript(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[JAVASCRIPT_N_SYMBOLS] = {
		[JAVASCRIPT_MAJOR] = { .name = "_ZN2v88internal7Version6major_E" },
		[JAVASCRIPT_MINOR] = { .name = "_ZN2v88internal7Version6minor_E" },
		[JAVASCRIPT_CONTEXT] = { .name = "v8dbg_off_fp_context" },
	};
	struct wire_javascript is = { 0 };
	struct version version = { 0 };
	enum constants_read constants_read;
	uint64_t builtins, builtins_end;
	int r;

	for (size_t i = 0; i < N_REQUIRED; i++)
		symbols[JAVASCRIPT_REQUIRED + i].name = required[i].name;
	for (size_t i = 0; i < N_CONSTANTS * NAMES; i++)
		symbols[JAVASCRIPT_CONSTANTS + i].name =
			constants[i / NAMES].names[i % NAMES] ?: "";
	/* Where these are exported all are, but for those of other versions, and .symtab is large.
	 */
	if (elf_exports_look_up(elf, symbols, JAVASCRIPT_N_SYMBOLS, JAVASCRIPT_CONSTANTS)) {
		r = elf_exports_find(elf, symbols, JAVASCRIPT_N_SYMBOLS);
		if (r < 0)
			return r;
	}
	if (!symbols[JAVASCRIPT_REQUIRED].address)
		return 0;
	ret_interpreter->language = LANGUAGE_JAVASCRIPT;
	r = bare_code_find(elf, &builtins, &builtins_end);
	ret_interpreter->evaluator = builtins;
	ret_interpreter->evaluator_end = builtins_end;
	if (r == -ENOMEM)
		return r;
	constants_read = read_constants(elf, symbols, &is);
	if (!read_int(elf, &symbols[JAVASCRIPT_MAJOR], &version.major) ||
	    !read_int(elf, &symbols[JAVASCRIPT_MINOR], &version.minor) ||
	    is_before(&version, 9, 0) || constants_read == CONSTANTS_LACK)
		ret_interpreter->refused = WIRE_SCRIPT_VERSION;
	else if (r < 0 || constants_read == CONSTANTS_DISAGREE)
		ret_interpreter->refused = WIRE_SCRIPT_DISAGREES;
	if (ret_interpreter->refused)
		return 0;
	complete(&is, &version);
	ret_interpreter->javascript = is;
	return 0;
}

const struct language_reader language_javascript = {
	.exports = LANGUAGE_EXPORTS("v8dbg_SmiTag"),
	.file_name = "node",
	.program = "node",
	.read = read_javascript,
};
