/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cfi/rows.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "cfi/call_frames.h"
#include "cfi/code_flow.h"
#include "cfi/code_ranges.h"
#include "cfi/code_stubs.h"
#include "cfi/code_view.h"
#include "cfi/crt_code.h"
#include "cfi/frame_sections.h"
#include "cfi/framed_code.h"
#include "cfi/go_rows.h"
#include "cfi/row_writer.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#endif

/* All that a compilation holds. */
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

/* What a section says of code that no section before it speaks of. */
static int read_frames(struct compilation *all, enum unwind_source source)
{
	struct frame_bytes section = { 0 };
	struct code_ranges more = { 0 };
	int r = source == UNWIND_EH_FRAME ? frame_sections_eh(all->elf, &section)
					  : frame_sections_debug(all->elf, &section);

	/* A damaged section is like none: the code it was about is a gap. */
	if (r == -EIO)
		all->counts.malformed++;
	if (r)
		return r == -ENODATA || r == -EIO ? 0 : r;
	r = call_frames_read(&all->frames[source], source == UNWIND_EH_FRAME, section.bytes,
			     section.size, section.address, &all->code, &more, &all->counts);
	if (!r)
		r = code_ranges_merge(&all->ranges, &more, &all->counts.overlaps);
	code_ranges_free(&more);
	return r;
}

static int read_go(struct compilation *all)
{
	struct code_ranges more = { 0 };
	int r = go_table_open(all->elf, &all->go);

	if (r == 0)
		r = go_table_load(&all->go);
	if (r == -EBADMSG)
		all->counts.malformed++;
	if (r)
		return r == -ENODATA || r == -EBADMSG ? 0 : r;
	r = go_rows_ranges(&all->go, &all->code, &more, &all->counts);
	if (!r)
		r = code_ranges_merge(&all->ranges, &more, &all->counts.overlaps);
	code_ranges_free(&more);
	return r;
}

static int read_stubs(struct compilation *all, struct rule_table *book)
{
	struct code_ranges more = { 0 };
	int r = code_stubs_find(&all->code, &all->ranges, book, &more);

	if (!r)
		r = crt_code_find(&all->code, &all->ranges, book, &more);
	if (!r)
		r = code_ranges_merge(&all->ranges, &more, &all->counts.overlaps);
	if (!r)
		r = framed_code_find(&all->code, &all->ranges, book, &more);
	if (!r)
		r = code_ranges_merge(&all->ranges, &more, &all->counts.overlaps);
	if (!r)
		r = code_flow_find(&all->code, &all->ranges, book, &more);
	if (!r)
		r = code_ranges_merge(&all->ranges, &more, &all->counts.overlaps);
	code_ranges_free(&more);
	return r;
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
		if (r)
			return r;
		if (range->begin != covered)
			row_writer_put(&all->writer, covered, RULE_GAP);
		r = put_range(all, range);
		if (r)
			return r;
		covered = range->end;
	}
	r = row_writer_reserve(&all->writer, 1);
	if (!r && covered)
		row_writer_put(&all->writer, covered, RULE_GAP);
	return r;
}

static int compile(struct compilation *all, struct rule_table *book, struct unwind_rows *ret_rows)
{
	int r;

	if (!all->elf->is_64 || all->elf->machine != OUR_MACHINE ||
	    (all->elf->type != ET_EXEC && all->elf->type != ET_DYN))
		return -ENOEXEC;
	code_view_open(&all->code, all->elf);
	r = row_writer_open(&all->writer, book);
	if (!r)
		r = read_frames(all, UNWIND_EH_FRAME);
	/* Go's own .debug_frame knows nothing of the frame pointer. */
	if (!r)
		r = read_go(all);
	if (!r)
		r = read_frames(all, UNWIND_DEBUG_FRAME);
	if (!r)
		r = read_stubs(all, book);
	if (!r)
		r = put_rows(all);
	if (r)
		return r;
	all->counts.unsupported = all->writer.unsupported;
	*ret_rows = (struct unwind_rows){ .rows = take_ptr(all->writer.rows),
					  .n = all->writer.n,
					  .counts = all->counts };
	return 0;
}

static int finish(struct compilation *all, int r, struct error *err)
{
	compilation_free(all);
	if (r == -ENOEXEC)
		return error_set(err, r, "not an ELF file with code of this machine");
	if (r == -EFBIG)
		return error_set(err, r, "more call frame information than can be compiled");
	return r ? error_set(err, r, "cannot read call frame information: %s", strerror(-r)) : 0;
}

int unwind_rows_compile(int fd, struct rule_table *book, struct unwind_rows *ret_rows,
			struct error *err)
{
	struct compilation all = { 0 };
	int r = elf_file_open(fd, &all.elf);

	return finish(&all, r ? r : compile(&all, book, ret_rows), err);
}

int unwind_rows_compile_memory(const void *bytes, size_t size, struct rule_table *book,
			       struct unwind_rows *ret_rows, struct error *err)
{
	struct compilation all = { 0 };
	int r = elf_file_open_memory(bytes, size, &all.elf);

	return finish(&all, r ? r : compile(&all, book, ret_rows), err);
}

void unwind_rows_free(struct unwind_rows *rows)
{
	free(rows->rows);
	*rows = (struct unwind_rows){ 0 };
}

uint16_t unwind_rows_find(const struct unwind_rows *rows, uint32_t address)
{
	uint32_t low = 0, high = rows->n;

	/* The first row above the address. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? rows->rows[low - 1].rule : RULE_GAP;
}
