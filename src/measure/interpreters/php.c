// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PHP, without threads. What differs from version to version, where the current frame is and where
 * a function has its file, is read from the code of exported functions, which find the file and the
 * line that are executed. Everything else is the same in the headers of 7.4 to 8.6.
 */
#include <string.h>

#include "bpf/unwind_walk.h"
#include "cfi/frame_lookup.h"
#include "cfi/instruction.h"
#include "elf/elf_exports.h"
#include "interpreters/languages.h"

/* Offsets in bytes, and a flag. */
enum {
	FRAME_INSTRUCTION = 0,
	FRAME_FUNCTION = 24,
	FRAME_INFO = 40,
	FRAME_PREVIOUS = 48,
	INFO_TOP = 1 << 17,
	INSTRUCTION_LINE = 24,
	INSTRUCTION_SIZE = 32,
	FUNCTION_NAME = 8,
	FUNCTION_SCOPE = 16,
	CLASS_NAME = 8,
	STRING_HASH = 8,
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	/* From a function's file on. */
	FILE_INSTRUCTIONS = -64,
	FILE_N_INSTRUCTIONS = -72,
	FILE_LINE = 8,
};

#define FILE_LEAST 112u /* behind the instructions, ... */
#define FILE_MOST  172u /* ... and what is copied of a function has it */

enum php_symbol {
	PHP_EXECUTOR,
	PHP_EVALUATOR,
	PHP_CALL,
	PHP_LINK,
	PHP_FILE,
	PHP_LINE,
	PHP_CLASS,
	PHP_EXECUTE,
	PHP_RESUME,
	PHP_N_SYMBOLS,
};

/* ---- the structures ---- */

#define READER_MAX 512 /* bytes of the functions that are read, which have some 100 */

/* Code, and where it loads the current frame from: an offset in executor_globals; -1. */
struct reader {
	const struct elf_export *executor;
	uint64_t address;
	uint32_t size;
	uint8_t code[READER_MAX];
	int32_t current;
};

static bool open_reader(const struct elf_file *elf, const struct elf_export *executor,
			const struct elf_export *function, struct reader *ret_reader)
{
	*ret_reader = (struct reader){
		.executor = executor,
		.address = function->address,
		.size = (uint32_t)function->size,
		.current = -1,
	};
	return function->size != 0 && function->size <= READER_MAX &&
	       elf_exports_read(elf, function->address, ret_reader->code, function->size) == 0;
}

/* A load, of an address in executor_globals as an offset there; false: another instruction. */
static bool decode_load(const struct reader *reader, uint32_t at, struct instruction *ret_load)
{
	const uint8_t *bytes = reader->code + at;
	struct instruction is = instruction_decode(bytes, reader->size - at);
	int32_t displacement;
	uint64_t into;

	*ret_load = is;
	if (is.kind == INSTRUCTION_LOAD)
		return true;
	/* mov DISPLACEMENT(%rip),REGISTER */
	if (is.size != 7 || (bytes[0] & 0xfb) != 0x48 || bytes[1] != 0x8b ||
	    (bytes[2] & 0xc7) != 0x05)
		return false;
	memcpy(&displacement, bytes + 3, sizeof(displacement));
	into = reader->address + at + is.size + (uint64_t)(int64_t)displacement -
	       reader->executor->address;
	ret_load->reg = (bytes[0] & 4) << 1 | (bytes[2] >> 3 & 7);
	ret_load->base = REGISTER_NONE;
	ret_load->offset = into < reader->executor->size ? (int32_t)into : -1;
	return true;
}

/*
 * Finds the first load of a frame's function, and what the frame was loaded from just before: it is
 * executor_globals' current one. Returns where the code goes on, 0: there is none.
 */
static uint32_t find_current(struct reader *reader, struct instruction *ret_function)
{
	int32_t loaded[REGISTER_N];

	for (uint32_t i = 0; i < REGISTER_N; i++)
		loaded[i] = -1;
	for (uint32_t at = 0; at < reader->size;) {
		struct instruction is;
		bool loads = decode_load(reader, at, &is);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return 0;
		at += is.size;
		if (!loads)
			continue;
		if (is.base < REGISTER_N && is.offset == FRAME_FUNCTION && loaded[is.base] > 0) {
			reader->current = loaded[is.base];
			*ret_function = is;
			return at;
		}
		loaded[is.reg] = is.offset;
	}
	return 0;
}

/* Where functions have their file: what is loaded from one after its type was looked at; 0. */
static uint32_t find_file(const struct reader *reader, uint32_t at,
			  const struct instruction *function)
{
	while (at < reader->size) {
		struct instruction is = instruction_decode(reader->code + at, reader->size - at);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return 0;
		if (is.kind == INSTRUCTION_LOAD && is.base == function->reg)
			return is.offset >= (int32_t)FILE_LEAST && is.offset <= (int32_t)FILE_MOST
				       ? (uint32_t)is.offset
				       : 0;
		at += is.size;
	}
	return 0;
}

/* Whether a function loads the current frame from the same place. */
static bool agrees(const struct elf_file *elf, const struct elf_export *executor,
		   const struct elf_export *function, int32_t current)
{
	struct instruction load;
	struct reader reader;

	if (!open_reader(elf, executor, function, &reader))
		return false;
	return find_current(&reader, &load) && reader.current == current;
}

/* Sets the offsets. False: the functions do not tell them, or not the same ones. */
static bool find_offsets(const struct elf_file *elf, const struct elf_export *symbols,
			 struct wire_php *php)
{
	const struct elf_export *executor = &symbols[PHP_EXECUTOR];
	struct instruction function;
	struct reader reader;
	uint32_t at, file;

	if (!executor->address || !open_reader(elf, executor, &symbols[PHP_FILE], &reader))
		return false;
	at = find_current(&reader, &function);
	file = at ? find_file(&reader, at, &function) : 0;
	if (!file || (uint64_t)reader.current + sizeof(uint64_t) > executor->size ||
	    !agrees(elf, executor, &symbols[PHP_LINE], reader.current) ||
	    !agrees(elf, executor, &symbols[PHP_CLASS], reader.current))
		return false;
	*php = (struct wire_php){
		.current = executor->address + (uint32_t)reader.current,
		.call = symbols[PHP_CALL].address,
		.link = symbols[PHP_LINK].address,
		.call_size = (uint32_t)symbols[PHP_CALL].size,
		.link_size = (uint32_t)symbols[PHP_LINK].size,
		.execute = symbols[PHP_EXECUTE].address,
		.resume = symbols[PHP_RESUME].address,
		.execute_size = (uint32_t)symbols[PHP_EXECUTE].size,
		.resume_size = (uint32_t)symbols[PHP_RESUME].size,
		.top = INFO_TOP,
		.frame_function = FRAME_FUNCTION,
		.frame_info = FRAME_INFO,
		.frame_previous = FRAME_PREVIOUS,
		.frame_instruction = FRAME_INSTRUCTION,
		.instruction_line = INSTRUCTION_LINE,
		.instruction_size = INSTRUCTION_SIZE,
		.function_instructions = (uint8_t)(file + FILE_INSTRUCTIONS),
		.function_n = (uint8_t)(file + FILE_N_INSTRUCTIONS),
		.function_name = FUNCTION_NAME,
		.function_scope = FUNCTION_SCOPE,
		.function_file = (uint8_t)file,
		.function_line = (uint8_t)(file + FILE_LINE),
		.class_name = CLASS_NAME,
		.string_hash = STRING_HASH,
		.string_length = STRING_LENGTH,
		.string_text = STRING_TEXT,
	};
	return true;
}

/* ---- calls from C ---- */

#define CALL_MAX 8192 /* bytes of zend_call_function(), that has some 2,600 */

/*
 * Finds where zend_call_function() has the frame that it links and calls the evaluator for: it is
 * on the C stack, as the variable's address is passed on for named arguments. Where it passes the
 * frame to what links it, it loads it from there.
 */
static void find_held_frame(const struct elf_file *elf, const struct elf_export *call,
			    uint64_t link, struct wire_php *php)
{
	uint8_t code[CALL_MAX];
	struct instruction load = { 0 };

	if (call->size > sizeof(code) || elf_exports_read(elf, call->address, code, call->size) < 0)
		return;
	for (uint32_t at = 0; at < call->size;) {
		struct instruction is = instruction_decode(code + at, call->size - at);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return;
		at += is.size;
		if (is.kind == INSTRUCTION_LOAD && is.reg == REGISTER_DI)
			load = is;
		if (is.kind != INSTRUCTION_CALL ||
		    call->address + at + (uint64_t)(int64_t)is.offset != link)
			continue;
		if (load.base == REGISTER_SP || load.base == REGISTER_BP) {
			php->held_from = load.base == REGISTER_SP ? UNWIND_SP : UNWIND_FP;
			php->held_at = load.offset;
		}
		return;
	}
}

/* ---- generated code ---- */

/*
 * Finds the CFA of the evaluator where it runs code, which its last instruction is a part of: the
 * frame is set up in its first ones.
 */
static void find_frame(const struct elf_file *elf, const struct elf_export *evaluator,
		       struct wire_php *php)
{
	struct frame_lookup frames;
	struct code_view view;
	struct wire_rule rule;

	code_view_open(&view, elf, UINT32_MAX);
	if (evaluator->size && frame_lookup_open(&frames, &view, 1) == 0 &&
	    frame_lookup_rule(&frames, evaluator->address + evaluator->size - 1, &rule) &&
	    (rule.cfa == WIRE_CFA_SP || rule.cfa == WIRE_CFA_FP) &&
	    WIRE_RULE_RA(&rule) == WIRE_RA_CFA) {
		php->cfa_from = rule.cfa == WIRE_CFA_SP ? UNWIND_SP : UNWIND_FP;
		php->cfa_at = rule.cfa_offset;
	}
	frame_lookup_close(&frames);
}

static int read_php(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[PHP_N_SYMBOLS] = {
		[PHP_EXECUTOR] = { .name = "executor_globals" }, /* with threads there is none */
		[PHP_EVALUATOR] = { .name = "execute_ex" },
		[PHP_CALL] = { .name = "zend_call_function" },
		[PHP_LINK] = { .name = "zend_init_func_execute_data" },
		[PHP_FILE] = { .name = "zend_get_executed_filename_ex" },
		[PHP_LINE] = { .name = "zend_get_executed_lineno" },
		[PHP_CLASS] = { .name = "get_active_class_name" },
		[PHP_EXECUTE] = { .name = "zend_execute" },
		[PHP_RESUME] = { .name = "zend_generator_resume" },
	};
	const struct elf_export *evaluator = &symbols[PHP_EVALUATOR];
	int r = elf_exports_find(elf, symbols, PHP_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!evaluator->address)
		return 0;
	ret_interpreter->language = LANGUAGE_PHP;
	ret_interpreter->evaluator = evaluator->address;
	ret_interpreter->evaluator_end = evaluator->address + evaluator->size;
	if (!find_offsets(elf, symbols, &ret_interpreter->php)) {
		ret_interpreter->refused = WIRE_SCRIPT_VERSION;
		return 0;
	}
	find_held_frame(elf, &symbols[PHP_CALL], symbols[PHP_LINK].address, &ret_interpreter->php);
	find_frame(elf, evaluator, &ret_interpreter->php);
	return 0;
}

const struct language_reader language_php = {
	.exports = LANGUAGE_EXPORTS("execute_ex"),
	.file_name = "php",
	.program = "php",
	.read = read_php,
};
