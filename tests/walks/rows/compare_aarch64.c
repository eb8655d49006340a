// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare_aarch64 FILE ...: compares the rules that follow from the instructions of a function of
 * aarch64 with those of its call frame information, as if each function with CFI were a gap.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cfi/aarch64_code.h"
#include "cfi/call_frames.h"
#include "cfi/unwind_rows.h"

static struct totals {
	unsigned long files, functions, followed, compared, differ;
} totals;

struct file {
	const char *path;
	struct code_view code;
	struct rule_table *rule_table;
	struct unwind_rows rows;
};

static void differs(const struct file *file, uint32_t at, const struct wire_rule *flow,
		    const struct wire_rule *cfi)
{
	if (totals.differ++ < 20)
		printf("%s differs: %x: sp%+d fp %u%+d ra %u%+d, CFI: %u%+d fp %u%+d ra %u%+d\n",
		       file->path, at, flow->cfa_offset, flow->fp, flow->fp_offset, flow->ra,
		       flow->extra, cfi->cfa, cfi->cfa_offset, cfi->fp, cfi->fp_offset, cfi->ra,
		       cfi->extra);
}

static void compare_range(const struct file *file, const struct wire_rule *rules,
			  const struct code_range *range)
{
	const struct wire_rule *flow = &rules[range->context];

	for (uint32_t at = range->begin; at < range->end; at += 4) {
		const struct wire_rule *cfi = &rules[unwind_rows_find(&file->rows, at)];

		if (cfi->cfa != WIRE_CFA_SP || WIRE_RULE_RA(cfi) == WIRE_RA_END)
			continue;
		totals.compared++;
		/* CFI may tell late, or never, that registers were saved or restored. */
		if (flow->cfa_offset != cfi->cfa_offset ||
		    (flow->ra == WIRE_RA_CFA && cfi->ra == WIRE_RA_CFA &&
		     flow->extra != cfi->extra) ||
		    (flow->fp == WIRE_FP_CFA && cfi->fp == WIRE_FP_CFA &&
		     flow->fp_offset != cfi->fp_offset))
			differs(file, at, flow, cfi);
	}
}

static int compare_function(const struct file *file, const struct code_range *function)
{
	struct code_range around[] = { { .end = function->begin },
				       { .begin = function->end, .end = UINT32_MAX } };
	const struct code_ranges known = { .ranges = around, .n = 2 };
	struct code_ranges found = { 0 };
	uint32_t n;
	int r = aarch64_code_find(&file->code, &known, file->rule_table, &found);

	totals.functions++;
	totals.followed += found.n > 0;
	for (uint32_t i = 0; i < found.n; i++)
		compare_range(file, rule_table_rules(file->rule_table, &n), &found.ranges[i]);
	code_ranges_free(&found);
	return r;
}

static int compare_file(const char *path)
{
	struct file file = { .path = path };
	struct code_ranges functions = { 0 };
	struct frame_bytes section = { 0 };
	struct call_frames frames = { 0 };
	struct unwind_counts counts = { 0 };
	struct elf_file *elf = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -1 : rule_table_new(&file.rule_table);

	if (!r)
		r = unwind_rows_compile_machine(fd, EM_AARCH64, file.rule_table, &file.rows, NULL);
	if (!r)
		r = elf_file_open(fd, &elf);
	if (!r)
		r = frame_sections_eh(elf, &section);
	if (!r) {
		code_view_open(&file.code, elf, UINT32_MAX);
		r = call_frames_read(&frames, true, &section, &file.code, &functions, &counts);
	}
	for (uint32_t i = 0; !r && i < functions.n; i++)
		r = compare_function(&file, &functions.ranges[i]);
	totals.files += !r;
	call_frames_free(&frames);
	code_ranges_free(&functions);
	elf_file_close(elf);
	unwind_rows_free(&file.rows);
	rule_table_free(file.rule_table);
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
	printf("%lu files, %lu functions, %lu followed, %lu instructions compared, %lu differ\n",
	       totals.files, totals.functions, totals.followed, totals.compared, totals.differ);
	return totals.differ || totals.compared < 1000;
}
