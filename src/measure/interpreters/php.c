// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PHP, without threads. Its structures are those of its headers (php_offsets.h). A file has them if
 * its four large variables have the sizes that these headers give them.
 */
#include "bpf/unwind_walk.h"
#include "cfi/instruction.h"
#include "elf/elf_exports.h"
#include "interpreters/languages.h"

/* Of one minor version: bytes. php_offsets.h is made by scripts/php-offsets. */
struct php_offsets {
	uint16_t executor_size, compiler_size, core_size, sapi_size; /* of variables */
	uint16_t current;					     /* in executor_globals */
	uint32_t top;
	uint8_t frame_function, frame_info, frame_previous, frame_instruction;
	uint8_t instruction_line, instruction_size, function_instructions, function_n;
	uint8_t function_name, function_scope, function_file, function_line;
	uint8_t class_name;
	uint8_t string_hash, string_length, string_text;
};

#include "interpreters/php_offsets.h"

enum php_symbol {
	PHP_EXECUTOR,
	PHP_COMPILER,
	PHP_CORE,
	PHP_SAPI,
	PHP_EVALUATOR,
	PHP_CALL,
	PHP_LINK,
	PHP_N_SYMBOLS,
};

static const struct php_offsets *offsets_of(const struct elf_export *symbols)
{
	for (size_t i = 0; i < sizeof(php_offsets) / sizeof(php_offsets[0]); i++) {
		const struct php_offsets *is = &php_offsets[i];

		if (symbols[PHP_EXECUTOR].size == is->executor_size &&
		    symbols[PHP_COMPILER].size == is->compiler_size &&
		    symbols[PHP_CORE].size == is->core_size &&
		    symbols[PHP_SAPI].size == is->sapi_size)
			return is;
	}
	return NULL;
}

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

static int read_php(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[PHP_N_SYMBOLS] = {
		[PHP_EXECUTOR] = { .name = "executor_globals" },
		[PHP_COMPILER] = { .name = "compiler_globals" },
		[PHP_CORE] = { .name = "core_globals" },
		[PHP_SAPI] = { .name = "sapi_globals" },
		[PHP_EVALUATOR] = { .name = "execute_ex" },
		[PHP_CALL] = { .name = "zend_call_function" },
		[PHP_LINK] = { .name = "zend_init_func_execute_data" },
	};
	const struct elf_export *evaluator = &symbols[PHP_EVALUATOR];
	const struct php_offsets *is;
	int r = elf_exports_find(elf, symbols, PHP_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!evaluator->address)
		return 0;
	ret_interpreter->language = LANGUAGE_PHP;
	ret_interpreter->evaluator = evaluator->address;
	ret_interpreter->evaluator_end = evaluator->address + evaluator->size;
	is = offsets_of(symbols);
	if (!is) {
		ret_interpreter->refused = WIRE_CODE_VERSION;
		return 0;
	}
	ret_interpreter->php = (struct wire_php){
		.current = symbols[PHP_EXECUTOR].address + is->current,
		.call = symbols[PHP_CALL].address,
		.link = symbols[PHP_LINK].address,
		.call_size = (uint32_t)symbols[PHP_CALL].size,
		.link_size = (uint32_t)symbols[PHP_LINK].size,
		.top = is->top,
		.frame_function = is->frame_function,
		.frame_info = is->frame_info,
		.frame_previous = is->frame_previous,
		.frame_instruction = is->frame_instruction,
		.instruction_line = is->instruction_line,
		.instruction_size = is->instruction_size,
		.function_instructions = is->function_instructions,
		.function_n = is->function_n,
		.function_name = is->function_name,
		.function_scope = is->function_scope,
		.function_file = is->function_file,
		.function_line = is->function_line,
		.class_name = is->class_name,
		.string_hash = is->string_hash,
		.string_length = is->string_length,
		.string_text = is->string_text,
	};
	find_held_frame(elf, &symbols[PHP_CALL], symbols[PHP_LINK].address, &ret_interpreter->php);
	return 0;
}

const struct language_reader language_php = {
	.exports = LANGUAGE_EXPORTS("execute_ex"),
	.file_name = "php",
	.read = read_php,
};
