// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPython. Its structures are those of its headers (python_offsets.h) and, from 3.13 on, what it
 * says of itself. That a file has them is checked: its version, and the sizes of its types.
 */
#include <errno.h>
#include <string.h>

#include "cfi/instruction.h"
#include "elf/elf_exports.h"
#include "interpreters/cold_part.h"
#include "interpreters/languages.h"
#include "interpreters/python_description.h"
#include "interpreters/thread_variable.h"

/* One minor version. Offsets are in bytes; python_offsets.h is made by scripts/python-offsets. */
struct python_offsets {
	uint8_t major, minor;
	uint8_t form; /* enum wire_python_form */
	uint8_t owner_entry, owner_generator, code_tag;
	uint16_t tss_key, current; /* in _PyRuntime; 0: it has none */
	uint8_t thread_id, top, cframe_current, cframe_previous;
	uint8_t thread_frame; /* where frames are objects */
	uint16_t thread_record;
	uint8_t frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	uint8_t type, type_size;
	uint8_t code_file, code_name, code_line, code_first, code_bytes, code_version, code_lines;
	uint8_t interpreter;	   /* in a thread's state */
	uint32_t next_version;	   /* in an interpreter's state, ... */
	uint32_t version_cache;	   /* ... bytes of zeros that follow at the start, ... */
	uint8_t first_version;	   /* ... and its value then */
	uint32_t main_interpreter; /* in _PyRuntime */
	uint8_t frame_function, function_code, function_version;
	uint8_t bytes_size, bytes_text;
	uint16_t frame_size; /* where frames are objects */
	uint8_t string_length, string_hash, string_state, string_kind_bit, string_compact_bit,
		string_ascii_bit, string_ascii_size, string_compact_size, string_size;
};

#include "interpreters/python_offsets.h"

enum python_symbol {
	PYTHON_RUNTIME,
	PYTHON_VERSION,
	PYTHON_EVALUATOR,
	PYTHON_CODE_TYPE,
	PYTHON_STRING_TYPE,
	PYTHON_FRAME_TYPE,
	PYTHON_THREAD_STATE,
	PYTHON_CURRENT_STATE, /* until 3.6 */
	PYTHON_OLD_EVALUATOR, /* until 3.5 */
	PYTHON_NEW_IN_3_8,
	PYTHON_NEW_IN_3_9,
	PYTHON_NEW_IN_3_10,
	PYTHON_N_SYMBOLS,
};

#define N_OFFSETS (sizeof(python_offsets) / sizeof(python_offsets[0]))

#define MINOR(version) ((version) >> 16) /* with the major one */

static uint32_t minor_of(const struct python_offsets *is)
{
	return (uint32_t)is->major << 8 | is->minor;
}

/* The offsets of a version; those of the last one for versions to come; NULL. */
static const struct python_offsets *offsets_of(uint32_t version)
{
	const struct python_offsets *last = &python_offsets[N_OFFSETS - 1];

	for (size_t i = 0; i < N_OFFSETS; i++)
		if (minor_of(&python_offsets[i]) == MINOR(version))
			return &python_offsets[i];
	return MINOR(version) > minor_of(last) ? last : NULL;
}

/* Whether objects of a type have the size that our offsets give them. */
static bool has_size(const struct elf_file *elf, const struct python_offsets *offsets,
		     uint64_t type, uint64_t size)
{
	uint64_t found;

	return type &&
	       elf_exports_read(elf, type + offsets->type_size, &found, sizeof(found)) == 0 &&
	       found == size;
}

static bool has_sizes(const struct elf_file *elf, const struct python_offsets *offsets,
		      const struct elf_export *symbols)
{
	return has_size(elf, offsets, symbols[PYTHON_CODE_TYPE].address, offsets->code_bytes) &&
	       has_size(elf, offsets, symbols[PYTHON_STRING_TYPE].address, offsets->string_size) &&
	       (!offsets->frame_size ||
		has_size(elf, offsets, symbols[PYTHON_FRAME_TYPE].address, offsets->frame_size));
}

/*
 * Puts what the interpreter says of itself in place of what was known of its version, or of the one
 * before: what it does not say is then assumed to be where it was, as seen from its neighbours.
 */
static void take_description(const struct python_description *own, struct python_offsets *offsets)
{
	offsets->code_first =
		(uint8_t)(offsets->code_first + own->code_bytes - offsets->code_bytes);
	offsets->top = own->top;
	offsets->frame_code = own->frame_code;
	offsets->frame_previous = own->frame_previous;
	offsets->frame_instruction = own->frame_instruction;
	offsets->frame_owner = own->frame_owner;
	offsets->type = own->type;
	offsets->code_file = own->code_file;
	offsets->code_name = own->code_name;
	offsets->code_line = own->code_line;
	offsets->code_lines = own->code_lines;
	offsets->code_bytes = own->code_bytes;
	offsets->string_length = own->string_length;
	offsets->string_state = own->string_state;
	offsets->string_ascii_size = own->string_ascii_size;
}

#define FIRST_DESCRIBED 0x030d

/* Sets the offsets of a file; WIRE_SCRIPT_KNOWN, or why they are not known. */
static enum wire_script_reason find_offsets(const struct elf_file *elf,
					    const struct elf_export *symbols, uint32_t version,
					    struct python_offsets *ret_offsets)
{
	const struct python_offsets *known = offsets_of(version);
	struct python_description own;

	if (!known)
		return WIRE_SCRIPT_VERSION;
	*ret_offsets = *known;
	if (MINOR(version) < FIRST_DESCRIBED)
		return has_sizes(elf, known, symbols) ? WIRE_SCRIPT_KNOWN : WIRE_SCRIPT_DISAGREES;
	if (python_description_read(elf, symbols[PYTHON_RUNTIME].address,
				    symbols[PYTHON_CODE_TYPE].address,
				    symbols[PYTHON_STRING_TYPE].address, &own) < 0 ||
	    own.version != version)
		return WIRE_SCRIPT_DISAGREES;
	if (own.free_threaded)
		return WIRE_SCRIPT_FREE_THREADED;
	take_description(&own, ret_offsets);
	if (minor_of(known) != MINOR(version))
		ret_offsets->thread_id = 0;
	return WIRE_SCRIPT_KNOWN;
}

#define MOVED 256 /* bytes by which patch releases have moved members of an interpreter's state */

/* Whether there are so many zeros. */
static bool is_zero(const struct elf_file *elf, uint64_t at, uint32_t size)
{
	char some[4096];

	for (uint32_t done = 0; done < size; done += sizeof(some)) {
		if (elf_exports_read(elf, at + done, some, sizeof(some)) < 0)
			return false;
		for (size_t i = 0; i < sizeof(some); i++)
			if (some[i])
				return false;
	}
	return true;
}

/*
 * Where the number of the main interpreter's next code object is; 0: not known. In the file, it is
 * alone before a large empty cache. Patch releases move it, so it is looked for near our offset.
 * The walk does not trust it either: no code object may have a number that is yet to come.
 */
static uint64_t find_next_version(const struct elf_file *elf, const struct python_offsets *offsets,
				  uint64_t runtime)
{
	uint64_t expected = runtime + offsets->main_interpreter + offsets->next_version, found = 0;
	uint32_t next[2];

	if (!offsets->next_version)
		return 0;
	for (uint64_t at = expected - MOVED; at <= expected + MOVED; at += sizeof(next)) {
		if (elf_exports_read(elf, at - sizeof(next[0]), next, sizeof(next)) < 0 ||
		    next[0] || next[1] != offsets->first_version ||
		    !is_zero(elf, at + sizeof(uint64_t), offsets->version_cache))
			continue;
		if (found)
			return 0;
		found = at;
	}
	return found;
}

static struct wire_python wire_of(const struct python_offsets *is, const struct elf_export *symbols)
{
	uint64_t runtime = symbols[PYTHON_RUNTIME].address;

	return (struct wire_python){
		.runtime = runtime,
		.tss_key = is->tss_key,
		.current = is->current,
		.code_type = symbols[PYTHON_CODE_TYPE].address,
		.string_type = symbols[PYTHON_STRING_TYPE].address,
		.form = is->form,
		.owner_entry = is->owner_entry,
		.owner_generator = is->owner_generator,
		.code_tag = is->code_tag,
		.thread_id = is->thread_id,
		.top = is->top,
		.cframe_current = is->cframe_current,
		.cframe_previous = is->cframe_previous,
		.thread_frame = is->thread_frame,
		.thread_record = is->thread_record,
		.frame_code = is->frame_code,
		.frame_previous = is->frame_previous,
		.frame_instruction = is->frame_instruction,
		.frame_owner = is->frame_owner,
		.frame_is_entry = is->frame_is_entry,
		.type = is->type,
		.code_file = is->code_file,
		.code_name = is->code_name,
		.code_line = is->code_line,
		.code_first = is->code_first,
		.code_bytes = is->code_bytes,
		.code_version = is->code_version,
		.code_lines = is->code_lines,
		.frame_function = is->frame_function,
		.function_code = is->function_code,
		.function_version = is->function_version,
		.bytes_size = is->bytes_size,
		.bytes_text = is->bytes_text,
		.interpreter = is->interpreter,
		.string_hash = is->string_hash,
		.string_length = is->string_length,
		.string_state = is->string_state,
		.string_kind_bit = is->string_kind_bit,
		.string_compact_bit = is->string_compact_bit,
		.string_ascii_bit = is->string_ascii_bit,
		.string_ascii_size = is->string_ascii_size,
		.string_compact_size = is->string_compact_size,
	};
}

/* PY_VERSION_HEX of the interpreter; 0: not known. From 3.11 on it is in a variable. */
static uint32_t version_of(const struct elf_file *elf, const struct elf_export *symbols)
{
	static const struct {
		enum python_symbol symbol;
		uint32_t version;
	} new_in[] = {
		{ PYTHON_NEW_IN_3_10, 0x030a0000 }, { PYTHON_NEW_IN_3_9, 0x03090000 },
		{ PYTHON_NEW_IN_3_8, 0x03080000 },  { PYTHON_RUNTIME, 0x03070000 },
		{ PYTHON_EVALUATOR, 0x03060000 },
	};
	uint32_t version;

	if (symbols[PYTHON_VERSION].address)
		return elf_exports_read(elf, symbols[PYTHON_VERSION].address, &version,
					sizeof(version)) < 0
			       ? 0
			       : version;
	for (size_t i = 0; i < sizeof(new_in) / sizeof(new_in[0]); i++)
		if (symbols[new_in[i].symbol].address)
			return new_in[i].version;
	return 0;
}

/* The evaluator's code: what it jumps to, if that is larger than the function itself. */
static void take_evaluator(const struct elf_file *elf, const struct elf_export *function,
			   struct wire_interpreter *interpreter)
{
	struct frame_function part;

	interpreter->evaluator = function->address;
	interpreter->evaluator_end = function->address + function->size;
	if (cold_part_find(elf, function->address, function->size, &part) < 0 ||
	    part.end - part.begin <= function->size)
		return;
	interpreter->evaluator = part.begin;
	interpreter->evaluator_end = part.end;
}

#define CODE_MAX 64 /* bytes of the function that returns the thread's state */

/* From 3.15 on the state is a variable of the thread, which an exported function returns. */
static void take_thread_state(const struct elf_file *elf, const struct elf_export *function,
			      struct wire_interpreter *interpreter)
{
	struct thread_variable state;
	uint8_t bytes[CODE_MAX];
	size_t size = function->size < CODE_MAX ? (size_t)function->size : CODE_MAX;

	if (elf_exports_read(elf, function->address, bytes, size) < 0 ||
	    !thread_variable_find(bytes, (uint32_t)size, function->address, &state)) {
		interpreter->refused = WIRE_SCRIPT_NO_STATE;
		return;
	}
	interpreter->python.tls_slot = state.slot;
	interpreter->python.tls_offset = state.offset;
}

/*
 * Until 3.6 the state that holds the lock and the key of the threads' states are variables. The
 * function that returns the thread's state gives the key to what looks its value up.
 */
static void take_variables(const struct elf_file *elf, const struct elf_export *symbols,
			   struct wire_interpreter *interpreter)
{
	const struct elf_export *function = &symbols[PYTHON_THREAD_STATE];
	size_t size = function->size < CODE_MAX ? (size_t)function->size : CODE_MAX;
	uint8_t bytes[CODE_MAX];
	int32_t displacement;

	interpreter->python.current = sizeof(uint64_t);
	interpreter->python.runtime =
		symbols[PYTHON_CURRENT_STATE].address - interpreter->python.current;
	interpreter->refused = WIRE_SCRIPT_NO_STATE;
	if (elf_exports_read(elf, function->address, bytes, size) < 0)
		return;
	for (uint32_t at = 0; at < size;) {
		struct instruction is = instruction_decode(bytes + at, (uint32_t)size - at);

		at += is.size;
		if (is.kind == INSTRUCTION_UNKNOWN)
			return;
		if (is.size != 6 || memcmp(bytes + at - 6, "\x8b\x3d", 2) != 0)
			continue; /* no `mov KEY(%rip),%edi` */
		memcpy(&displacement, bytes + at - sizeof(displacement), sizeof(displacement));
		interpreter->python.key = function->address + at + (uint64_t)(int64_t)displacement;
		interpreter->refused = WIRE_SCRIPT_KNOWN;
		return;
	}
}

/* Sets where the state of a thread is found, in versions that do not have it in _PyRuntime. */
static void find_state(const struct elf_file *elf, const struct elf_export *symbols,
		       struct wire_interpreter *interpreter)
{
	if (interpreter->refused || interpreter->python.tss_key)
		return;
	if (symbols[PYTHON_RUNTIME].address)
		take_thread_state(elf, &symbols[PYTHON_THREAD_STATE], interpreter);
	else if (symbols[PYTHON_CURRENT_STATE].address)
		take_variables(elf, symbols, interpreter);
	else
		interpreter->refused = WIRE_SCRIPT_NO_STATE;
}

static int read_python(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[PYTHON_N_SYMBOLS] = {
		[PYTHON_RUNTIME] = { .name = "_PyRuntime" },
		[PYTHON_VERSION] = { .name = "Py_Version" },
		[PYTHON_EVALUATOR] = { .name = "_PyEval_EvalFrameDefault" },
		[PYTHON_CODE_TYPE] = { .name = "PyCode_Type" },
		[PYTHON_STRING_TYPE] = { .name = "PyUnicode_Type" },
		[PYTHON_FRAME_TYPE] = { .name = "PyFrame_Type" },
		[PYTHON_THREAD_STATE] = { .name = "PyGILState_GetThisThreadState" },
		[PYTHON_CURRENT_STATE] = { .name = "_PyThreadState_Current" },
		[PYTHON_OLD_EVALUATOR] = { .name = "PyEval_EvalFrameEx" },
		[PYTHON_NEW_IN_3_8] = { .name = "PyCode_NewWithPosOnlyArgs" },
		[PYTHON_NEW_IN_3_9] = { .name = "PyFrame_GetCode" },
		[PYTHON_NEW_IN_3_10] = { .name = "PyModule_AddObjectRef" },
	};
	const struct elf_export *evaluator = &symbols[PYTHON_EVALUATOR];
	struct python_offsets offsets;
	uint64_t next;
	int r = elf_exports_find(elf, symbols, PYTHON_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!evaluator->address) /* 3.6 and later have both */
		evaluator = &symbols[PYTHON_OLD_EVALUATOR];
	if (!evaluator->address)
		return 0;
	ret_interpreter->language = LANGUAGE_PYTHON;
	take_evaluator(elf, evaluator, ret_interpreter);
	ret_interpreter->refused = find_offsets(elf, symbols, version_of(elf, symbols), &offsets);
	if (ret_interpreter->refused)
		return 0;
	ret_interpreter->python = wire_of(&offsets, symbols);
	next = find_next_version(elf, &offsets, symbols[PYTHON_RUNTIME].address);
	if (next > symbols[PYTHON_RUNTIME].address)
		ret_interpreter->python.next_version =
			(uint32_t)(next - symbols[PYTHON_RUNTIME].address);
	find_state(elf, symbols, ret_interpreter);
	return 0;
}

const struct language_reader language_python = {
	.exports = LANGUAGE_EXPORTS("_PyRuntime", "PyEval_EvalCode"),
	.file_name = "python",
	.program = "python",
	.read = read_python,
};
