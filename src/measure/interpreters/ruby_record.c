// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/ruby_record.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "cfi/instruction.h"
#include "elf/elf_stubs.h"

/* What the C library saves (glibc and musl have the same order), and what the compiler does. */
static const struct ruby_record by_library = { .label = 56, .sp = 48, .fp = 8, .size = 200 };
static const struct ruby_record by_compiler = { .label = 8, .sp = 16, .fp = 0, .size = 40 };

/* Registers in the code from the function's beginning on, as offsets from its CFA. */
struct places {
	int32_t sp, bp;
	bool has_bp;
	/* What %rdi has the address of. */
	int32_t argument;
	bool has_argument;
};

/* Follows an instruction. False: the stack pointer is not known behind it. */
static bool follow(struct places *at, const struct instruction *is)
{
	bool of_sp = is->base == REGISTER_SP, of_bp = is->base == REGISTER_BP && at->has_bp;

	if (is->kind == INSTRUCTION_PUSH)
		at->sp -= (int32_t)sizeof(uint64_t);
	else if (is->kind == INSTRUCTION_ADD_SP)
		at->sp += is->offset;
	else if (is->kind == INSTRUCTION_MOVE && is->reg == REGISTER_BP && of_sp) {
		at->bp = at->sp;
		at->has_bp = true;
	} else if (is->kind == INSTRUCTION_ADDRESS && is->reg == REGISTER_DI && (of_sp || of_bp)) {
		at->argument = (of_sp ? at->sp : at->bp) + is->offset;
		at->has_argument = true;
	}
	return is->kind != INSTRUCTION_POP && is->kind != INSTRUCTION_LEAVE &&
	       is->kind != INSTRUCTION_RETURN && !(is->written & 1u << REGISTER_SP);
}

/* Whether the code at an address is the stub of the C library's function. */
static int is_setjmp(const struct elf_file *elf, uint64_t address)
{
	static const char *const names[] = { "_setjmp@", "setjmp@", "__sigsetjmp@" };
	struct symbol_query query = { .address = address, .chain = QUERY_NO_CHAIN };
	own(own_pool_free) struct pool *pool = NULL;
	int r = pool_new(&pool);

	if (r == 0)
		r = elf_stubs_find(elf, &query, 1, pool);
	if (r < 0)
		return r;
	for (size_t i = 0; query.name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(query.name, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

/* Looks for a call of setjmp(), up to where the stack pointer is not known any more. */
static int find_call(const struct elf_file *elf, const uint8_t *bytes, uint32_t size,
		     uint64_t address, struct ruby_record *ret_record)
{
	struct places places = { .sp = -(int32_t)sizeof(uint64_t) };
	int r = 0;

	for (uint32_t at = 0; at < size && r == 0;) {
		struct instruction is = instruction_decode(bytes + at, size - at);
		int64_t above = (int64_t)places.argument - places.sp;

		if (is.kind == INSTRUCTION_UNKNOWN || !follow(&places, &is))
			return -ENODATA;
		at += is.size;
		if (is.kind != INSTRUCTION_CALL)
			continue;
		if (places.has_argument && above > 0)
			r = is_setjmp(elf, address + at + (uint64_t)(int64_t)is.offset);
		places.has_argument = false;
		if (r <= 0)
			continue;
		*ret_record = by_library;
		ret_record->continues = address + at;
		ret_record->above = (uint32_t)above;
	}
	return r < 0 ? r : r == 0 ? -ENODATA : 0;
}

/* Whether a function itself saves its stack pointer in memory. */
static bool saves_stack_pointer(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t at = 0; at < size;) {
		struct instruction is = instruction_decode(bytes + at, size - at);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return false;
		if (is.kind == INSTRUCTION_STORE && is.reg == REGISTER_SP)
			return true;
		at += is.size;
	}
	return false;
}

int ruby_record_find(const struct elf_file *elf, const uint8_t *bytes, uint32_t size,
		     uint64_t address, struct ruby_record *ret_record)
{
	if (!saves_stack_pointer(bytes, size))
		return find_call(elf, bytes, size, address, ret_record);
	*ret_record = by_compiler;
	return 0;
}
