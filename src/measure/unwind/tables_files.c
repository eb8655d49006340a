// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files that have tables, for walks in processes that user space has not heard of yet: the BPF
 * program finds the file of a mapping by itself (bpf/unwind_ask.bpf.h) and looks it up here.
 */
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "unwind/tables_internal.h"

#define PAGE 4096u

/*
 * A file may be changed twice within one tick of the clock that change times are taken from, and
 * then has the same time with two contents. So a file must have been unchanged for longer than a
 * tick when it was identified: 10 ms, or 2 s on file systems that store no fractions.
 */
static bool is_settled(const struct compile_job *job)
{
	uint64_t least =
		job->identity.changed_ns % NS_PER_SECOND ? 20 * NS_PER_MS : 2 * NS_PER_SECOND;

	return job->identified_ns > job->identity.changed_ns &&
	       (uint64_t)(job->identified_ns - job->identity.changed_ns) > least;
}

/* The file's code by its executable segments. False when there are too many. */
static bool list_code(const struct load_segments *segments, struct wire_code *codes)
{
	uint32_t n = 0;

	/* The last first: where two share a page, it decides as in load_segments_bias(). */
	for (uint32_t i = segments->n; i-- > 0;) {
		const struct load_segment *segment = &segments->at[i];
		uint64_t from = segment->offset / PAGE * PAGE;

		if (!segment->executable || !segment->size)
			continue;
		if (n == WIRE_FILE_CODES)
			return false;
		codes[n++] = (struct wire_code){
			.from = from,
			.to = segment->offset + segment->size,
			.shift = segment->offset - segment->address,
		};
	}
	return true;
}

void tables_identify(const struct tables *tables, struct table *table,
		     const struct compile_job *job)
{
	const struct mapped_file *file;

	table->identity = (struct wire_file){ 0 };
	if (!job->cacheable || !is_settled(job))
		return;
	/* Where the kernel and stat() disagree about these two, the kernel's are those to find. */
	file = images_file(tables->images, table->file);
	table->identity = (struct wire_file){
		.inode = file->inode,
		.size = job->identity.size,
		.changed = job->identity.changed_ns,
		.device = WIRE_DEVICE(major(file->device), minor(file->device)),
	};
}

static void enter(struct tables *tables, struct table *table)
{
	struct table_reference reference = tables_reference_of(table);
	struct wire_file_table entry = { .root = reference.root, .owner = reference.owner };

	if (!list_code(&table->segments, entry.codes))
		return;
	if (!table->lowered)
		entry.interpreter = tables_interpreter(tables, table->file);
	tables->maps->set_file(tables->maps, &table->identity, &entry);
	table->entered = true;
}

void tables_enter_files(struct tables *tables)
{
	for (uint32_t i = 0; i < tables->n; i++) {
		struct table *table = tables->tables[i];

		if (table->state == TABLE_READY && table->identity.inode && !table->entered)
			enter(tables, table);
	}
}

void tables_leave_file(struct tables *tables, struct table *table)
{
	if (table->entered)
		tables->maps->remove_file(tables->maps, &table->identity);
	table->entered = false;
}
