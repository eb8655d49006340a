// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPython. Its structures are those of its headers (python_offsets.h). That a file has them is
 * checked: its version, the sizes of its types and, from 3.13 on, its own description of itself.
 */
#include <errno.h>
#include <string.h>

#include "elf/elf_exports.h"
#include "interpreters/cold_part.h"
#include "interpreters/languages.h"
#include "interpreters/thread_variable.h"

/* Offsets in the interpreter's description of itself (struct _Py_DebugOffsets). */
struct python_own_offsets {
	uint16_t version, free_threaded, thread_id, top, frame_code, frame_previous,
		frame_instruction, frame_owner, type, code_file, code_name, code_line, code_bytes,
		string_length, string_state, string_ascii_size;
};

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
	uint8_t own_at; /* in _PyRuntime */
	struct python_own_offsets own;
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
	PYTHON_NEW_IN_3_9,
	PYTHON_NEW_IN_3_10,
	PYTHON_N_SYMBOLS,
};

static const struct python_offsets *offsets_of(uint32_t version)
{
	for (size_t i = 0; i < sizeof(python_offsets) / sizeof(python_offsets[0]); i++)
		if (python_offsets[i].major == version >> 24 &&
		    python_offsets[i].minor == (version >> 16 & 0xff))
			return &python_offsets[i];
	return NULL;
}

/* Whether objects of a type have the size that our offsets give them. */
static bool has_size(const struct elf_file *elf, const struct python_offsets *offsets,
		     uint64_t type, uint64_t size)
{
	uint64_t found;

	return elf_exports_read(elf, type + offsets->type_size, &found, sizeof(found)) == 0 &&
	       found == size;
}

#define COOKIE "xdebugpy"

/* Whether the interpreter describes itself, and says that it has no global lock. */
static bool is_free_threaded(const struct elf_file *elf, const struct python_own_offsets *own,
			     uint64_t at)
{
	char cookie[sizeof(COOKIE) - 1];
	uint64_t value;

	return own->version && elf_exports_read(elf, at, cookie, sizeof(cookie)) == 0 &&
	       memcmp(cookie, COOKIE, sizeof(cookie)) == 0 &&
	       elf_exports_read(elf, at + own->free_threaded, &value, sizeof(value)) == 0 && value;
}

/* Compares our offsets with the interpreter's own, which it has from 3.13 on. */
static enum wire_code_reason compare_own(const struct elf_file *elf,
					 const struct python_offsets *offsets, uint64_t runtime,
					 uint32_t version)
{
	const struct python_own_offsets *own = &offsets->own;
	const struct {
		uint16_t at;
		uint64_t is;
	} expected[] = {
		{ own->version, version },
		{ own->thread_id, offsets->thread_id },
		{ own->top, offsets->top },
		{ own->frame_code, offsets->frame_code },
		{ own->frame_previous, offsets->frame_previous },
		{ own->frame_instruction, offsets->frame_instruction },
		{ own->frame_owner, offsets->frame_owner },
		{ own->type, offsets->type },
		{ own->code_file, offsets->code_file },
		{ own->code_name, offsets->code_name },
		{ own->code_line, offsets->code_line },
		{ own->code_bytes, offsets->code_bytes },
		{ own->string_length, offsets->string_length },
		{ own->string_state, offsets->string_state },
		{ own->string_ascii_size, offsets->string_ascii_size },
	};
	uint64_t at = runtime + offsets->own_at, value;
	char cookie[sizeof(COOKIE) - 1];

	if (!own->version)
		return WIRE_CODE_KNOWN;
	if (elf_exports_read(elf, at, cookie, sizeof(cookie)) < 0 ||
	    memcmp(cookie, COOKIE, sizeof(cookie)) != 0)
		return WIRE_CODE_DISAGREES;
	if (elf_exports_read(elf, at + own->free_threaded, &value, sizeof(value)) < 0 || value)
		return WIRE_CODE_DISAGREES;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		if (elf_exports_read(elf, at + expected[i].at, &value, sizeof(value)) < 0 ||
		    value != expected[i].is)
			return WIRE_CODE_DISAGREES;
	}
	return WIRE_CODE_KNOWN;
}

static enum wire_code_reason check(const struct elf_file *elf, const struct python_offsets *offsets,
				   const struct elf_export *symbols, uint32_t version)
{
	/* Its types have other sizes, too. */
	if (is_free_threaded(elf, &offsets->own, symbols[PYTHON_RUNTIME].address + offsets->own_at))
		return WIRE_CODE_FREE_THREADED;
	if (!symbols[PYTHON_CODE_TYPE].address || !symbols[PYTHON_STRING_TYPE].address ||
	    !has_size(elf, offsets, symbols[PYTHON_CODE_TYPE].address, offsets->code_bytes) ||
	    !has_size(elf, offsets, symbols[PYTHON_STRING_TYPE].address, offsets->string_size))
		return WIRE_CODE_DISAGREES;
	if (offsets->frame_size &&
	    (!symbols[PYTHON_FRAME_TYPE].address ||
	     !has_size(elf, offsets, symbols[PYTHON_FRAME_TYPE].address, offsets->frame_size)))
		return WIRE_CODE_DISAGREES;
	return compare_own(elf, offsets, symbols[PYTHON_RUNTIME].address, version);
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
	uint32_t version;

	if (!symbols[PYTHON_VERSION].address)
		return symbols[PYTHON_NEW_IN_3_10].address  ? 0x030a0000
		       : symbols[PYTHON_NEW_IN_3_9].address ? 0x03090000
							    : 0;
	if (elf_exports_read(elf, symbols[PYTHON_VERSION].address, &version, sizeof(version)) < 0)
		return 0;
	return version;
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

#define STATE_MAX 64 /* bytes of the function that returns the thread's state */

/* From 3.15 on the state is a variable of the thread, which an exported function returns. */
static void take_thread_state(const struct elf_file *elf, const struct elf_export *function,
			      struct wire_interpreter *interpreter)
{
	struct thread_variable state;
	uint8_t bytes[STATE_MAX];
	size_t size = function->size < STATE_MAX ? (size_t)function->size : STATE_MAX;

	if (elf_exports_read(elf, function->address, bytes, size) < 0 ||
	    !thread_variable_find(bytes, (uint32_t)size, function->address, &state)) {
		interpreter->refused = WIRE_CODE_NO_STATE;
		return;
	}
	interpreter->python.tls_slot = state.slot;
	interpreter->python.tls_offset = state.offset;
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
		[PYTHON_NEW_IN_3_9] = { .name = "PyFrame_GetCode" },
		[PYTHON_NEW_IN_3_10] = { .name = "PyModule_AddObjectRef" },
	};
	const struct python_offsets *offsets;
	uint32_t version;
	uint64_t next;
	int r = elf_exports_find(elf, symbols, PYTHON_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!symbols[PYTHON_RUNTIME].address || !symbols[PYTHON_EVALUATOR].address)
		return 0;
	ret_interpreter->language = LANGUAGE_PYTHON;
	take_evaluator(elf, &symbols[PYTHON_EVALUATOR], ret_interpreter);
	version = version_of(elf, symbols);
	offsets = offsets_of(version);
	if (!offsets) {
		ret_interpreter->refused = WIRE_CODE_VERSION;
		return 0;
	}
	ret_interpreter->refused = check(elf, offsets, symbols, version);
	ret_interpreter->python = wire_of(offsets, symbols);
	next = find_next_version(elf, offsets, symbols[PYTHON_RUNTIME].address);
	if (next > symbols[PYTHON_RUNTIME].address)
		ret_interpreter->python.next_version =
			(uint32_t)(next - symbols[PYTHON_RUNTIME].address);
	if (!offsets->tss_key && !ret_interpreter->refused)
		take_thread_state(elf, &symbols[PYTHON_THREAD_STATE], ret_interpreter);
	return 0;
}

const struct language_reader language_python = {
	.exports = LANGUAGE_EXPORTS("_PyRuntime", "PyEval_EvalCode"),
	.file_name = "python",
	.read = read_python,
};
