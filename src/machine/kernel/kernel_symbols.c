// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "kernel/kernel_alias.h"

struct module {
	struct module *next;
	char name[]; /* with its brackets */
};

struct kernel_symbols {
	struct kernel_lookup lookup;
	uint64_t core_start, core_end; /* 0: hidden */
	uint64_t init_start,
		init_end; /* has start_kernel(), the outermost frame of an idle CPU 0 */
	struct module *modules;
	struct kernel_symbol last; /* the last answer */
	uint64_t last_end;	   /* where that function ends; 0: there was no answer */
};

int kernel_symbols_new(const struct kernel_lookup *lookup, struct kernel_symbols **ret_symbols)
{
	struct kernel_symbols *symbols;
	uint64_t start = 0, end = 0;
	int r = lookup->address_of(lookup->context, "_text", &start);

	/* Without CAP_SYSLOG the kernel tells names of addresses, but no address of a name. */
	if (r < 0 && r != -EPERM)
		return -ENOTSUP;
	if (r == 0 && (lookup->address_of(lookup->context, "_etext", &end) < 0 || start >= end))
		return -ENOTSUP;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	*symbols =
		(struct kernel_symbols){ .lookup = *lookup, .core_start = start, .core_end = end };
	if (lookup->address_of(lookup->context, "_sinittext", &start) == 0 &&
	    lookup->address_of(lookup->context, "_einittext", &end) == 0) {
		symbols->init_start = start;
		symbols->init_end = end;
	}
	*ret_symbols = symbols;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	while (symbols->modules) {
		struct module *next = symbols->modules->next;

		free(symbols->modules);
		symbols->modules = next;
	}
	free(symbols);
}

void kernel_symbols_core_range(const struct kernel_symbols *symbols, uint64_t *ret_start,
			       uint64_t *ret_end)
{
	*ret_start = symbols->core_start;
	*ret_end = symbols->core_end;
}

/* A copy of the module's name, with its brackets, that lives on. NULL: out of memory. */
static const char *module_named(struct kernel_symbols *symbols, const char *name)
{
	size_t size = strlen(name) + 1;
	struct module *module;

	for (module = symbols->modules; module; module = module->next)
		if (strcmp(module->name, name) == 0)
			return module->name;
	module = malloc(sizeof(*module) + size);
	if (!module)
		return NULL;
	memcpy(module->name, name, size);
	module->next = symbols->modules;
	symbols->modules = module;
	return module->name;
}

/* Reads "+0xOFFSET/0xSIZE"; *ret_rest is what follows. */
static bool read_extent(const char *at, uint64_t *ret_offset, uint64_t *ret_size,
			const char **ret_rest)
{
	const char *end = at + strlen(at);

	if (strncmp(at, "+0x", 3) != 0)
		return false;
	at += 3;
	if (!lines_hex(&at, end, ret_offset) || strncmp(at, "/0x", 3) != 0)
		return false;
	at += 3;
	if (!lines_hex(&at, end, ret_size) || *ret_offset >= *ret_size)
		return false;
	*ret_rest = at;
	return true;
}

/* Replaces the name by a better known one of the same address. */
static void take_alias(const struct kernel_symbols *symbols, struct kernel_symbol *symbol)
{
	char alias[KALLSYMS_NAME_SIZE];
	uint64_t address;

	if (kernel_alias(symbol->name, alias, sizeof(alias)) &&
	    symbols->lookup.address_of(symbols->lookup.context, alias, &address) == 0 &&
	    address == symbol->start)
		strcpy(symbol->name, alias);
}

/*
 * BPF programs and their trampolines have no module in the kernel's answer, and are told from
 * functions of the kernel by name: bpf_prog_TAG_NAME with a tag of 16 digits,
 * bpf_trampoline_NUMBER. Dispatchers (bpf_dispatcher_NAME) are not.
 */
static bool is_program(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";
	const char *digits = "0123456789abcdef";

	if (strncmp(name, program, strlen(program)) == 0)
		return strspn(name + strlen(program), digits) == 16;
	return strncmp(name, trampoline, strlen(trampoline)) == 0 &&
	       strspn(name + strlen(trampoline), digits) > 0;
}

static bool is_core(const struct kernel_symbols *symbols, uint64_t address)
{
	return (address >= symbols->core_start && address < symbols->core_end) ||
	       (address >= symbols->init_start && address < symbols->init_end);
}

/* Where code is that the kernel names without a module. NULL: only /proc/kallsyms can tell. */
static const char *place_without_module(const struct kernel_symbols *symbols, const char *name,
					uint64_t address)
{
	if (is_core(symbols, address))
		return KALLSYMS_CORE;
	if (symbols->core_end == 0)
		return is_program(name) ? KALLSYMS_PROGRAM : KALLSYMS_CORE;
	return strncmp(name, "bpf_", strlen("bpf_")) == 0 ? KALLSYMS_PROGRAM : NULL;
}

/* Parses the kernel's answer for the address. */
static bool take_answer(struct kernel_symbols *symbols, const char *text, uint64_t address)
{
	const char *plus = strrchr(text, '+'), *rest;
	struct kernel_symbol symbol = { .start = 0 };
	uint64_t offset, size;
	bool is_end;

	if (!plus || plus == text || plus - text >= KALLSYMS_NAME_SIZE ||
	    !read_extent(plus, &offset, &size, &rest))
		return false;
	memcpy(symbol.name, text, (size_t)(plus - text));
	symbol.start = address - offset;
	if (rest[0] == ' ' && rest[1] == '[')
		symbol.module = module_named(symbols, rest + 1);
	else
		symbol.module = place_without_module(symbols, symbol.name, address);
	/* Which function is at a section's boundary, if any, only the whole list tells. */
	if (!symbol.module || kernel_alias_is_boundary(symbol.name, &is_end))
		return false;
	take_alias(symbols, &symbol);
	symbols->last = symbol;
	symbols->last_end = symbol.start + size;
	return true;
}

bool kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address,
			 struct kernel_symbol *ret_symbol)
{
	const char *text;

	if (address < symbols->last.start || address >= symbols->last_end) {
		if (symbols->lookup.symbol_at(symbols->lookup.context, address, &text) < 0 ||
		    !take_answer(symbols, text, address))
			return false;
	}
	*ret_symbol = symbols->last;
	return true;
}
