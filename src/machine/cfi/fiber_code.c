// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/fiber_code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/code_bytes.h"
#include "cfi/unwind_rows.h"

/* Bytes. */
#define MAX_GAP	    65536u
#define MAX_STRINGS (256u << 10)
#define MAX_SYMBOLS (1u << 20)

/*
 * The end of Boost's make_fcontext(), which PHP has a copy of: push %rbp, the return address, which
 * is that of the third instruction; jmp *%rbx; xor %rdi,%rdi; call _exit; hlt.
 */
#define FCONTEXT      "55 ff e3 48 31 ff e8 ?? ?? ?? ?? f4"
#define FCONTEXT_SIZE 12

/* The first function of a greenlet, which shares its stack's addresses with all others. */
#define GREENLET "8greenlet12UserGreenlet15inner_bootstrap"

static uint16_t fiber_rule(struct rule_table *rules)
{
	const struct wire_rule rule = { .cfa = WIRE_CFA_SP, .ra = WIRE_RA_FIBER };

	return rule_table_add(rules, &rule);
}

static int find_in_gap(const struct code_view *code, uint64_t begin, size_t size,
		       struct rule_table *rules, struct code_ranges *ranges)
{
	own(own_free) uint8_t *bytes = malloc(size);
	const uint8_t *at, *end;

	if (!bytes)
		return -ENOMEM;
	end = bytes + code_view_read(code, begin, bytes, size);
	for (at = bytes; (at = memmem(at, (size_t)(end - at), "\x55\xff\xe3", 3)); at++) {
		uint32_t from = (uint32_t)(begin + (uint64_t)(at - bytes));
		const struct code_range range = { .begin = from,
						  .end = from + FCONTEXT_SIZE,
						  .context = fiber_rule(rules),
						  .source = UNWIND_CODE };
		int r;

		if (!code_matches(at, (size_t)(end - at), FCONTEXT))
			continue;
		r = code_ranges_add(ranges, &range);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_fcontexts(const struct code_view *code, const struct code_ranges *known,
			  struct rule_table *rules, struct code_ranges *ranges)
{
	int r = 0;

	for (uint32_t i = 0; i < code->n && !r; i++) {
		struct code_gaps gaps =
			code_gaps_of(known, code->segments[i].begin, code->segments[i].end);
		uint64_t begin, end;

		while (!r && code_gaps_next(&gaps, FCONTEXT_SIZE, &begin, &end)) {
			if (end - begin <= MAX_GAP)
				r = find_in_gap(code, begin, end - begin, rules, ranges);
		}
	}
	return r;
}

/* The ranges of the function at the address, which end where it does, begin stacks. */
static void begin_stacks(struct code_ranges *known, const Elf64_Sym *symbol,
			 struct rule_table *rules)
{
	uint64_t end = symbol->st_value + symbol->st_size;
	uint32_t i;

	if (symbol->st_value > UINT32_MAX)
		return;
	i = code_ranges_above(known, (uint32_t)symbol->st_value);
	for (; i < known->n && known->ranges[i].begin < end; i++) {
		struct code_range *range = &known->ranges[i];

		if (range->begin < symbol->st_value)
			continue;
		range->source = UNWIND_CODE;
		range->context = fiber_rule(rules);
	}
}

static int find_greenlets(const struct elf_file *elf, struct code_ranges *known,
			  struct rule_table *rules)
{
	const struct elf_section *table = elf_file_section_of_type(elf, SHT_DYNSYM), *strings;
	own(own_free) void *symbols = NULL;
	own(own_free) void *names = NULL;
	const char *at;
	int r;

	if (!elf->is_64 || !table || table->link >= elf->n_sections)
		return 0;
	strings = &elf->sections[table->link];
	r = elf_file_load(elf, strings, MAX_STRINGS, &names);
	if (r == 0 && !memmem(names, strings->size, GREENLET, sizeof(GREENLET) - 1))
		return 0;
	if (r == 0)
		r = elf_file_load(elf, table, MAX_SYMBOLS, &symbols);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	at = names;
	for (uint64_t i = 0; i < table->size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)symbols + i;

		if (symbol->st_name < strings->size && symbol->st_shndx != SHN_UNDEF &&
		    memmem(at + symbol->st_name,
			   strnlen(at + symbol->st_name, strings->size - symbol->st_name), GREENLET,
			   sizeof(GREENLET) - 1))
			begin_stacks(known, symbol, rules);
	}
	return 0;
}

int fiber_code_find(const struct code_view *code, struct code_ranges *known,
		    struct rule_table *rules, struct code_ranges *ranges)
{
	int r = find_greenlets(code->elf, known, rules);

	return r < 0 ? r : find_fcontexts(code, known, rules, ranges);
}
