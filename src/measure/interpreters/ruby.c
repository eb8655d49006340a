// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ruby. Its structures are those of its headers (ruby_offsets.h), a later version's those of the
 * last one that is known. A file has them if a function that it exports, rb_iseq_label(), reads
 * what these offsets say. Its evaluator has no symbol: vm_exec() is what two exported functions end
 * with, and the evaluator is by far the largest function that it calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/frame_lookup.h"
#include "cfi/instruction.h"
#include "elf/elf_exports.h"
#include "interpreters/languages.h"
#include "interpreters/ruby_record.h"
#include "interpreters/thread_variable.h"

/* Of one minor version: bytes. ruby_offsets.h is made by scripts/ruby-offsets. */
struct ruby_offsets {
	uint8_t major, minor;
	uint8_t state_stack, state_stack_size, state_frame, state_record, state_thread;
	uint8_t record_saved; /* what setjmp() writes */
	uint16_t thread_state;
	uint16_t thread_id; /* 0: each thread has a state */
	uint8_t frame_size, frame_pc, frame_iseq, frame_ep, finish, is_c;
	uint8_t frame_sp, body_variables; /* 0: a frame has its members before it is linked */
	uint16_t iseq_type_mask, iseq_type;
	uint8_t iseq_body, body_type, type_main, type_top, body_path, body_label, body_line,
		line_tag_bits, body_instructions, body_lines, line_size;
	uint8_t type_mask, type_string, type_array;
	uint16_t string_apart, array_embedded_flag;
	uint32_t string_embedded_length;
	uint8_t string_length, string_pointer, string_embedded, string_embedded_shift;
	uint8_t array_pointer, array_embedded;
	uint8_t body_local, type_function, special_method, method_owner, type_class, type_module;
	uint16_t method_type, special_type, singleton;
	uint8_t class_path, class_permanent, permanent, class_attached; /* 0 up to 3.2 */
	uint8_t class_extension, class_variables;			/* 0 from 3.2 on */
	uint16_t attached_key;
};

#include "interpreters/ruby_offsets.h"

#define EXPORT_MAX    1024 /* bytes of an exported function that are read */
#define CALLER_MAX    8192 /* bytes of vm_exec(), that has some 2,500 */
#define EVALUATOR_MIN 8192 /* bytes of the evaluator, that has 17,000 and more */
#define EVALUATOR_MAX (1u << 20)

enum ruby_symbol {
	RUBY_VERSION,
	RUBY_EVAL,
	RUBY_EVAL_MAIN,
	RUBY_LABEL,
	RUBY_VM_EXEC,
	RUBY_STATE,
	RUBY_OBJECT,
	RUBY_N_SYMBOLS
};

/* Some code of the file. */
struct script {
	uint64_t address;
	uint32_t size;
	uint8_t bytes[CALLER_MAX];
};

static int read_code(const struct elf_file *elf, uint64_t address, uint64_t size, uint32_t most,
		     struct script *ret_code)
{
	if (size == 0 || size > most)
		return -ENODATA;
	ret_code->address = address;
	ret_code->size = (uint32_t)size;
	return elf_exports_read(elf, address, ret_code->bytes, (size_t)size);
}

/* Those of the version, or of the last one before it; NULL: it is older than all. */
static const struct ruby_offsets *offsets_of(const int *version)
{
	size_t i = sizeof(ruby_offsets) / sizeof(ruby_offsets[0]);

	while (i > 0 && (ruby_offsets[i - 1].major > version[0] ||
			 (ruby_offsets[i - 1].major == version[0] &&
			  ruby_offsets[i - 1].minor > version[1])))
		i--;
	return i ? &ruby_offsets[i - 1] : NULL;
}

/* The 32 bits in an instruction that ends with them, as an address relative to its end. */
static uint64_t target_at(const struct script *code, uint32_t at)
{
	int32_t displacement;

	memcpy(&displacement, code->bytes + at, sizeof(displacement));
	return code->address + at + sizeof(displacement) + (uint64_t)(int64_t)displacement;
}

/* ---- the evaluator ---- */

/* Whether the byte at `at` may begin a call or a jump with 32 bits of displacement. */
static bool may_call(const struct script *code, uint32_t at)
{
	return (code->bytes[at] == 0xe8 || code->bytes[at] == 0xe9) && at + 5 <= code->size;
}

/* The function that begins at an address. */
static bool function_at(struct frame_lookup *frames, uint64_t address,
			struct frame_function *ret_function)
{
	return frame_lookup_find(frames, address, ret_function) && ret_function->begin == address;
}

/* The largest function that a function calls, if that is large enough to be the evaluator. */
static bool find_evaluator(struct frame_lookup *frames, const struct script *caller,
			   struct frame_function *ret_evaluator)
{
	uint64_t largest = EVALUATOR_MIN;

	for (uint32_t at = 0; at < caller->size; at++) {
		struct frame_function function;

		if (caller->bytes[at] != 0xe8 || !may_call(caller, at) ||
		    !function_at(frames, target_at(caller, at + 1), &function))
			continue;
		if (function.end - function.begin < largest ||
		    function.end - function.begin > EVALUATOR_MAX)
			continue;
		largest = function.end - function.begin;
		*ret_evaluator = function;
	}
	return largest > EVALUATOR_MIN;
}

static bool calls(const struct script *code, uint64_t target)
{
	for (uint32_t at = 0; at < code->size; at++)
		if (may_call(code, at) && target_at(code, at + 1) == target)
			return true;
	return false;
}

/* Everything that is known of the file's code. */
struct ruby_code {
	struct frame_function caller, evaluator;
	struct thread_variable state;
	struct ruby_record record;
};

static bool take_caller(const struct elf_file *elf, struct frame_lookup *frames, uint64_t address,
			struct ruby_code *code)
{
	struct script caller;

	if (!function_at(frames, address, &code->caller) ||
	    read_code(elf, address, code->caller.end - address, CALLER_MAX, &caller) < 0)
		return false;
	return find_evaluator(frames, &caller, &code->evaluator) &&
	       ruby_record_find(elf, caller.bytes, caller.size, address, &code->record) == 0;
}

/* Finds vm_exec(), which both functions call or jump to, and what it calls. */
static bool find_caller(const struct elf_file *elf, struct frame_lookup *frames,
			const struct elf_export *symbols, const struct script *eval,
			const struct script *eval_main, struct ruby_code *code)
{
	if (symbols[RUBY_VM_EXEC].address)
		return take_caller(elf, frames, symbols[RUBY_VM_EXEC].address, code);
	for (uint32_t at = 0; at < eval->size; at++)
		if (may_call(eval, at) && calls(eval_main, target_at(eval, at + 1)) &&
		    take_caller(elf, frames, target_at(eval, at + 1), code))
			return true;
	return false;
}

/* ---- checks ---- */

/* Whether rb_iseq_label() reads a function's label where the offsets have it. */
static bool has_structures(const struct script *label, const struct ruby_offsets *is)
{
	const uint8_t expected[] = { 0x48, 0x8b, 0x47, is->iseq_body, /* mov BODY(%rdi),%rax */
				     0x48, 0x8b, 0x40, is->body_label, 0xc3 };
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint32_t at = label->size > 4 && memcmp(label->bytes, endbr, 4) == 0 ? 4 : 0;

	return label->size == at + sizeof(expected) &&
	       memcmp(label->bytes + at, expected, sizeof(expected)) == 0;
}

static struct wire_ruby wire_of(const struct ruby_offsets *is, const struct ruby_code *code,
				uint64_t object_class)
{
	const struct ruby_record *record = &code->record;

	return (struct wire_ruby){
		.tls_slot = code->state.slot,
		.tls_offset = code->state.offset,
		.caller = code->caller.begin,
		.caller_size = (uint32_t)(code->caller.end - code->caller.begin),
		.state_stack = is->state_stack,
		.state_stack_size = is->state_stack_size,
		.state_frame = is->state_frame,
		.state_record = is->state_record,
		.state_thread = is->state_thread,
		.thread_state = is->thread_state,
		.thread_id = is->thread_id,
		.record_label = is->record_saved + record->label,
		.record_sp = is->record_saved + record->sp,
		.record_fp = is->record_saved + record->fp,
		.continues = record->continues,
		.record_above = (__s32)record->above - is->record_saved,
		.record_previous = is->record_saved + record->size,
		.frame_size = is->frame_size,
		.frame_pc = is->frame_pc,
		.frame_iseq = is->frame_iseq,
		.frame_ep = is->frame_ep,
		.finish = is->finish,
		.is_c = is->is_c,
		.frame_sp = is->frame_sp,
		.body_variables = is->body_variables,
		.iseq_body = is->iseq_body,
		.iseq_type_mask = is->iseq_type_mask,
		.iseq_type = is->iseq_type,
		.body_type = is->body_type,
		.type_main = is->type_main,
		.type_top = is->type_top,
		.body_path = is->body_path,
		.body_label = is->body_label,
		.body_line = is->body_line,
		.line_tag_bits = is->line_tag_bits,
		.body_instructions = is->body_instructions,
		.body_lines = is->body_lines,
		.line_size = is->line_size,
		.type_mask = is->type_mask,
		.type_string = is->type_string,
		.type_array = is->type_array,
		.string_apart = is->string_apart,
		.string_length = is->string_length,
		.string_pointer = is->string_pointer,
		.string_embedded = is->string_embedded,
		.string_embedded_length = is->string_embedded_length,
		.string_embedded_shift = is->string_embedded_shift,
		.array_embedded_flag = is->array_embedded_flag,
		.array_pointer = is->array_pointer,
		.array_embedded = is->array_embedded,
		.body_local = is->body_local,
		.type_function = is->type_function,
		.special_method = is->special_method,
		.method_owner = is->method_owner,
		.type_class = is->type_class,
		.type_module = is->type_module,
		.method_type = is->method_type,
		.special_type = is->special_type,
		.singleton = is->singleton,
		.class_path = is->class_path,
		.class_permanent = is->class_permanent,
		.permanent = is->permanent,
		.class_attached = is->class_attached,
		.class_extension = is->class_extension,
		.class_variables = is->class_variables,
		.attached_key = is->attached_key,
		.object_class = object_class,
	};
}

/* Until 2.7, the state of the thread that runs is in a variable; later each thread has one. */
static bool find_state(const struct ruby_offsets *is, const struct elf_export *variable,
		       const struct script *eval, struct thread_variable *ret_state)
{
	if (!is->thread_id)
		return thread_variable_find(eval->bytes, eval->size, eval->address, ret_state);
	ret_state->slot = variable->address;
	return variable->address != 0;
}

static int read_ruby(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[RUBY_N_SYMBOLS] = {
		[RUBY_VERSION] = { .name = "ruby_api_version" },
		[RUBY_EVAL] = { .name = "rb_iseq_eval" },
		[RUBY_EVAL_MAIN] = { .name = "rb_iseq_eval_main" },
		[RUBY_LABEL] = { .name = "rb_iseq_label" },
		[RUBY_VM_EXEC] = { .name = "rb_vm_exec" },
		[RUBY_STATE] = { .name = "ruby_current_execution_context_ptr" },
		[RUBY_OBJECT] = { .name = "rb_cObject" },
	};
	struct script eval, eval_main, label;
	struct frame_lookup frames;
	struct ruby_code code = { 0 };
	const struct ruby_offsets *is;
	struct code_view view;
	int version[3], r = elf_exports_find(elf, symbols, RUBY_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!symbols[RUBY_VERSION].address ||
	    elf_exports_read(elf, symbols[RUBY_VERSION].address, version, sizeof(version)) < 0 ||
	    read_code(elf, symbols[RUBY_EVAL].address, symbols[RUBY_EVAL].size, EXPORT_MAX,
		      &eval) ||
	    read_code(elf, symbols[RUBY_EVAL_MAIN].address, symbols[RUBY_EVAL_MAIN].size,
		      EXPORT_MAX, &eval_main) ||
	    read_code(elf, symbols[RUBY_LABEL].address, symbols[RUBY_LABEL].size, EXPORT_MAX,
		      &label))
		return 0;
	code_view_open(&view, elf, UINT32_MAX);
	r = frame_lookup_open(&frames, &view, CALLER_MAX);
	if (r == 0 && find_caller(elf, &frames, symbols, &eval, &eval_main, &code))
		ret_interpreter->language = LANGUAGE_RUBY;
	frame_lookup_close(&frames);
	if (r < 0 || !ret_interpreter->language)
		return r;
	ret_interpreter->evaluator = code.evaluator.begin;
	ret_interpreter->evaluator_end = code.evaluator.end;
	is = offsets_of(version);
	if (!is)
		ret_interpreter->refused = WIRE_SCRIPT_VERSION;
	else if (!has_structures(&label, is))
		ret_interpreter->refused = WIRE_SCRIPT_DISAGREES;
	else if (!find_state(is, &symbols[RUBY_STATE], &eval, &code.state))
		ret_interpreter->refused = WIRE_SCRIPT_NO_STATE;
	else
		ret_interpreter->ruby = wire_of(is, &code, symbols[RUBY_OBJECT].address);
	return 0;
}

const struct language_reader language_ruby = {
	.exports = LANGUAGE_EXPORTS("ruby_api_version"),
	.file_name = "ruby",
	.program = "ruby",
	.read = read_ruby,
};
