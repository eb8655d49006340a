// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare_flow FILE ...: compares the rules that follow from instructions alone with those of the
 * call frame information, in code that has it. For each address that both cover: the CFA, where
 * both derive it from the stack pointer, and where the caller's frame pointer is.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cfi/code_flow.h"
#include "cfi/unwind_rows.h"

static struct totals {
	unsigned long files, bytes, compared, other_form, cfa, fp;
} totals;

static void compare(const char *path, uint32_t at, const struct wire_rule *flow,
		    const struct wire_rule *cfi)
{
	int flow_fp = flow->fp == WIRE_FP_CFA ? flow->fp_offset : 0;
	int cfi_fp = cfi->fp == WIRE_FP_CFA ? cfi->fp_offset : 0;
	int wrong = 0;

	if (cfi->cfa == WIRE_CFA_NONE || cfi->cfa == WIRE_CFA_PLT ||
	    WIRE_RULE_RA(cfi) != WIRE_RA_CFA)
		return;
	if (cfi->cfa != WIRE_CFA_SP || flow->cfa != WIRE_CFA_SP) {
		totals.other_form++;
	} else {
		totals.compared++;
		if (cfi->cfa_offset != flow->cfa_offset)
			totals.cfa++, wrong = 1;
	}
	/* CFI may tell late, or never, that a register was restored. */
	if (flow_fp && cfi_fp && flow_fp != cfi_fp)
		totals.fp++, wrong = 1;
	if (wrong && totals.cfa + totals.fp < 20)
		printf("%s differs: %x: cfa %d/%d, CFI %d/%d; fp at %d, CFI %d\n", path, at,
		       flow->cfa, flow->cfa_offset, cfi->cfa, cfi->cfa_offset, flow_fp, cfi_fp);
}

static void compare_range(const char *path, const struct unwind_rows *rows,
			  const struct wire_rule *rules, const struct code_range *range)
{
	totals.bytes += range->end - range->begin;
	for (uint32_t at = range->begin; at < range->end; at++) {
		uint16_t cfi = unwind_rows_find(rows, at);

		compare(path, at, &rules[range->context], &rules[cfi]);
	}
}

static int compare_file(const char *path)
{
	struct code_ranges none = { 0 }, ranges = { 0 };
	struct unwind_rows rows = { 0 };
	struct error err = { 0 };
	struct rule_table *rule_table = NULL;
	struct elf_file *elf = NULL;
	struct code_view code;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -1 : rule_table_new(&rule_table);
	uint32_t n;

	if (!r)
		r = unwind_rows_compile(fd, rule_table, &rows, &err);
	if (!r)
		r = elf_file_open(fd, &elf);
	if (!r) {
		code_view_open(&code, elf, UINT32_MAX);
		r = code_flow_find(&code, &none, rule_table, &ranges);
	}
	for (uint32_t i = 0; !r && i < ranges.n; i++)
		compare_range(path, &rows, rule_table_rules(rule_table, &n), &ranges.ranges[i]);
	if (!r)
		totals.files++;
	elf_file_close(elf);
	code_ranges_free(&ranges);
	unwind_rows_free(&rows);
	rule_table_free(rule_table);
	if (fd >= 0)
		close(fd);
	return r;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (compare_file(argv[i]))
			printf("%s: cannot be read\n", argv[i]);
	}
	printf("%lu files, %lu bytes of code followed, %lu compared by the stack pointer: %lu "
	       "differ; "
	       "%lu in other forms; saved frame pointers: %lu differ\n",
	       totals.files, totals.bytes, totals.compared, totals.cfa, totals.other_form,
	       totals.fp);
	return totals.cfa + totals.fp || totals.compared < 1000;
}
