// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/unwind_rows.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "arch/machine.h"
#include "base/partition.h"
#include "cfi/aarch64_code.h"
#include "cfi/call_frames.h"
#include "cfi/code_flow.h"
#include "cfi/code_ranges.h"
#include "cfi/code_stubs.h"
#include "cfi/code_view.h"
#include "cfi/constant_frames.h"
#include "cfi/crt_code.h"
#include "cfi/fiber_code.h"
#include "cfi/frame_pointer_code.h"
#include "cfi/frame_sections.h"
#include "cfi/go_rows.h"
#include "cfi/row_writer.h"
#include "elf/load_segments.h"

struct compilation {
	struct elf_file *elf;
	struct code_view code;
	struct call_frames frames[2]; /* of UNWIND_EH_FRAME, UNWIND_DEBUG_FRAME */
	struct go_table go;
	struct code_ranges ranges;
	struct row_writer writer;
	struct unwind_counts counts;
};

static void compilation_free(struct compilation *all)
{
	elf_file_close(all->elf);
	call_frames_free(&all->frames[0]);
	call_frames_free(&all->frames[1]);
	go_table_close(&all->go);
	code_ranges_free(&all->ranges);
	row_writer_close(&all->writer);
}

/* Adds what `more` has for code that no source before it covers. */
static int merge(struct compilation *all, struct code_ranges *more)
{
	return code_ranges_merge(&all->ranges, more, &all->counts.overlaps);
}

static int read_frames(struct compilation *all, enum unwind_source source, struct rule_table *rules)
{
	own(code_ranges_free) struct code_ranges more = { 0 };
	bool is_eh = source == UNWIND_EH_FRAME;
	struct frame_bytes section = { 0 };
	int r = is_eh ? frame_sections_eh(all->elf, &section)
		      : frame_sections_debug(all->elf, &section);

	/* A damaged section counts as none. */
	if (r == -EIO)
		all->counts.malformed++;
	if (r < 0)
		return r == -ENODATA || r == -EIO ? 0 : r;
	r = call_frames_read(&all->frames[source], is_eh, &section, &all->code, &more,
			     &all->counts);
	if (r == 0)
		r = constant_frames_correct(&all->code, &all->frames[source], rules, &more);
	return r < 0 ? r : merge(all, &more);
}

static int read_go(struct compilation *all)
{
	own(code_ranges_free) struct code_ranges more = { 0 };
	int r = all->elf->machine == EM_X86_64 ? go_table_open(all->elf, &all->go) : -ENODATA;

	if (r == 0)
		r = go_table_load(&all->go);
	if (r == -EBADMSG)
		all->counts.malformed++;
	if (r < 0)
		return r == -ENODATA || r == -EBADMSG ? 0 : r;
	r = go_rows_ranges(&all->go, &all->code, &more, &all->counts);
	return r < 0 ? r : merge(all, &more);
}

static int read_aarch64_code(struct compilation *all, struct rule_table *rules)
{
	own(code_ranges_free) struct code_ranges more = { 0 };
	int r = aarch64_code_find(&all->code, &all->ranges, rules, &more);

	return r < 0 ? r : merge(all, &more);
}

static int read_x86_code(struct compilation *all, struct rule_table *rules)
{
	own(code_ranges_free) struct code_ranges more = { 0 };
	int r = code_stubs_find(&all->code, &all->ranges, rules, &more);

	if (r < 0)
		return r;
	r = crt_code_find(&all->code, &all->ranges, rules, &more);
	if (r < 0)
		return r;
	r = fiber_code_find(&all->code, &all->ranges, rules, &more);
	if (r < 0)
		return r;
	r = merge(all, &more);
	if (r < 0)
		return r;
	r = frame_pointer_code_find(&all->code, &all->ranges, rules, &more);
	if (r < 0)
		return r;
	r = merge(all, &more);
	if (r < 0)
		return r;
	r = code_flow_find(&all->code, &all->ranges, rules, &more);
	return r < 0 ? r : merge(all, &more);
}

static int put_range(struct compilation *all, const struct code_range *range)
{
	int r = 0;

	if (range->source == UNWIND_CODE)
		row_writer_put(&all->writer, range->begin, (uint16_t)range->context);
	else if (range->source == UNWIND_GO)
		r = go_rows_put(&all->go, &all->code, range, &all->writer);
	else
		r = call_frames_rows(&all->frames[range->source], range, &all->writer);
	if (r == -EBADMSG) {
		all->counts.malformed++;
		r = 0;
	}
	all->counts.ranges[range->source]++;
	return r;
}

static int put_rows(struct compilation *all)
{
	uint32_t covered = 0;
	int r;

	for (uint32_t i = 0; i < all->ranges.n; i++) {
		const struct code_range *range = &all->ranges.ranges[i];

		r = row_writer_reserve(&all->writer, 2);
		if (r < 0)
			return r;
		if (range->begin != covered)
			row_writer_put(&all->writer, covered, RULE_GAP);
		r = put_range(all, range);
		if (r < 0)
			return r;
		covered = range->end;
	}
	r = row_writer_reserve(&all->writer, 1);
	if (r < 0)
		return r;
	if (covered)
		row_writer_put(&all->writer, covered, RULE_GAP);
	return 0;
}

static int compile(struct compilation *all, uint16_t machine, struct rule_table *rules,
		   struct unwind_rows *ret_rows)
{
	int r;

	if (!all->elf->is_64 || all->elf->machine != machine ||
	    (all->elf->type != ET_EXEC && all->elf->type != ET_DYN))
		return -ENOEXEC;
	load_segments_lower_file(all->elf);
	code_view_open(&all->code, all->elf, UINT32_MAX);
	r = row_writer_open(&all->writer, rules);
	if (r < 0)
		return r;
	r = read_frames(all, UNWIND_EH_FRAME, rules);
	if (r < 0)
		return r;
	/* Before .debug_frame: Go's own says nothing of the frame pointer. */
	r = read_go(all);
	if (r < 0)
		return r;
	r = read_frames(all, UNWIND_DEBUG_FRAME, rules);
	if (r < 0)
		return r;
	r = all->elf->machine == EM_X86_64 ? read_x86_code(all, rules)
					   : read_aarch64_code(all, rules);
	if (r < 0)
		return r;
	r = put_rows(all);
	if (r < 0)
		return r;
	all->counts.unsupported = all->writer.unsupported;
	*ret_rows = (struct unwind_rows){ .rows = take_ptr(all->writer.rows),
					  .n = all->writer.n,
					  .counts = all->counts };
	return 0;
}

static int explain(int r, struct error *err)
{
	if (r == -ENOEXEC)
		return error_set(err, r, "not an ELF file with code of this machine");
	if (r == -EFBIG)
		return error_set(err, r, "more call frame information than can be compiled");
	return r < 0 ? error_set(err, r, "cannot read call frame information: %s", strerror(-r))
		     : 0;
}

int unwind_rows_compile_machine(int fd, uint16_t machine, struct rule_table *rules,
				struct unwind_rows *ret_rows, struct error *err)
{
	own(compilation_free) struct compilation all = { 0 };
	int r = elf_file_open(fd, &all.elf);

	return explain(r < 0 ? r : compile(&all, machine, rules, ret_rows), err);
}

int unwind_rows_compile(int fd, struct rule_table *rules, struct unwind_rows *ret_rows,
			struct error *err)
{
	return unwind_rows_compile_machine(fd, ARCH_ELF, rules, ret_rows, err);
}

int unwind_rows_compile_memory(const void *bytes, size_t size, struct rule_table *rules,
			       struct unwind_rows *ret_rows, struct error *err)
{
	own(compilation_free) struct compilation all = { 0 };
	int r = elf_file_open_memory(bytes, size, &all.elf);

	return explain(r < 0 ? r : compile(&all, ARCH_ELF, rules, ret_rows), err);
}

void unwind_rows_free(struct unwind_rows *rows)
{
	free(rows->rows);
	*rows = (struct unwind_rows){ 0 };
}

uint16_t unwind_rows_find(const struct unwind_rows *rows, uint32_t address)
{
	size_t above = partition_point(i, rows->n, rows->rows[i].address <= address);

	return above ? rows->rows[above - 1].rule : RULE_GAP;
}
