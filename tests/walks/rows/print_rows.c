/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the unwinding rows of an ELF file: all, or those for the addresses given (in hex).
 *	print_rows FILE [ADDRESS ...]
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfi/unwind_rows.h"

static void print(uint32_t address, const struct wire_rule *rule)
{
	static const char *const cfas[] = { "gap",	"sp",	    "fp",	"reg",
					    "plt",	"sp-deref", "fp-deref", "reg-deref",
					    "sp-index", "luajit",   "?" };
	static const char *const fps[] = { "same", "cfa", "fp", "undefined", "reg", "?" };
	static const char *const ras[] = { "cfa",    "cfa+",  "reg",   "END", "ENTRY",
					   "SIGNAL", "CLONE", "FIBER", "?" };

	printf("%x cfa=%s%+d fp=%s%+d ra=%s%s%s reg=%u extra=%d\n", address, cfas[rule->cfa],
	       rule->cfa_offset, fps[WIRE_RULE_FP(rule)], rule->fp_offset, ras[WIRE_RULE_RA(rule)],
	       rule->ra & WIRE_RULE_NEW_STACK ? " new-stack" : "",
	       rule->fp & WIRE_RULE_EXACT ? " exact" : "", rule->reg, rule->extra);
}

int main(int argc, char **argv)
{
	struct unwind_rows rows = { 0 };
	struct rule_table *rule_table = NULL;
	struct error err = { 0 };
	const struct wire_rule *rules;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	uint32_t n;

	if (fd < 0 || rule_table_new(&rule_table))
		return 2;
	if (unwind_rows_compile_machine(fd, EM_X86_64, rule_table, &rows, &err) &&
	    unwind_rows_compile_machine(fd, EM_AARCH64, rule_table, &rows, &err)) {
		puts(err.text);
		return 1;
	}
	rules = rule_table_rules(rule_table, &n);
	for (int i = 2; i < argc; i++) {
		uint32_t address = (uint32_t)strtoul(argv[i], NULL, 16);

		print(address, &rules[unwind_rows_find(&rows, address)]);
	}
	for (uint32_t i = 0; argc == 2 && i < rows.n; i++)
		print(rows.rows[i].address, &rules[rows.rows[i].rule]);
	unwind_rows_free(&rows);
	rule_table_free(rule_table);
	return 0;
}
