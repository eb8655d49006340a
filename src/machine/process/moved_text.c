// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/moved_text.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/own.h"

#define PAGE 4096u

/* Pieces of the code that are compared. A program may have patched some of its code. */
#define PIECES	   16u
#define PIECE_SIZE 64u
#define LEAST_SAME 12u

/* Where a part of a file is loaded. */
struct place {
	uint64_t from, to; /* addresses in the process: of what the file has bytes for */
	uint64_t end;	   /* of the memory */
	uint64_t offset;   /* of `from` in the file */
	bool executable;
};

static bool read_process(pid_t tgid, uint64_t address, void *bytes, size_t size)
{
	struct iovec to = { bytes, size };
	struct iovec from = { (void *)(uintptr_t)address, size }; // NOLINT: another process's

	return process_vm_readv(tgid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static bool is_uniform(const uint8_t *bytes, size_t size)
{
	return memcmp(bytes, bytes + 1, size - 1) == 0;
}

/*
 * Whether the process has the file's bytes in what both have of the place. Bytes that were not
 * written yet may become the file's: while a program copies its text, its callers are there.
 */
static bool is_copy(pid_t tgid, int fd, const struct place *place, const struct mapping *mapping)
{
	uint64_t from = place->from > mapping->start ? place->from : mapping->start;
	uint64_t to = place->to < mapping->end ? place->to : mapping->end, step;
	uint32_t same = 0, distinct = 0;

	if (to <= from || to - from < PIECE_SIZE)
		return false;
	step = (to - from - PIECE_SIZE) / (PIECES - 1);
	for (uint32_t i = 0; i < PIECES; i++) {
		uint64_t at = from + i * step;
		uint8_t here[PIECE_SIZE], there[PIECE_SIZE];

		if (!read_process(tgid, at, here, sizeof(here)) ||
		    pread(fd, there, sizeof(there), (off_t)(place->offset + (at - place->from))) !=
			    (ssize_t)sizeof(there))
			return false;
		same += memcmp(here, there, sizeof(here)) == 0 ||
			(place->executable && !here[0] && is_uniform(here, sizeof(here)));
		distinct += !is_uniform(there, sizeof(there));
	}
	return same >= LEAST_SAME && distinct > 0;
}

/* Where the mapping lies in what is loaded of the file that `near` maps. False: nowhere. */
static bool find_place(const struct load_segments *segments, const struct mapping *near,
		       const struct mapping *mapping, struct place *ret_place)
{
	uint64_t bias;

	if (!load_segments_bias(segments, near->start, near->offset, &bias))
		return false;
	for (uint32_t i = 0; i < segments->n; i++) {
		const struct load_segment *segment = &segments->at[i];
		uint64_t start = bias + segment->address;
		struct place place = { .from = start,
				       .to = start + segment->size,
				       .end = start + segment->memory,
				       .offset = segment->offset,
				       .executable = segment->executable };

		if (mapping->start < start / PAGE * PAGE || mapping->start >= place.end)
			continue;
		*ret_place = place;
		return true;
	}
	return false;
}

bool moved_text_find(const struct snapshot_context *context, pid_t tgid, const struct mapping *near,
		     struct mapping *mapping)
{
	struct load_segments segments;
	own(own_fd) int fd = -1;
	struct place place;

	if (near->kind != MAPPING_FILE || mapping->kind != MAPPING_ANONYMOUS ||
	    files_segments(context->files, near->file, &segments) < 0 ||
	    !find_place(&segments, near, mapping, &place))
		return false;
	fd = files_open(context->files, near->file);
	if (fd < 0)
		return false;
	if (is_copy(tgid, fd, &place, mapping)) {
		mapping->kind = MAPPING_FILE;
		mapping->file = near->file;
		mapping->name = near->name;
		mapping->offset = place.offset + (mapping->start - place.from);
		return true;
	}
	/* Memory of the file that the file has no bytes for. */
	if (mapping->start < place.to)
		return false;
	mapping->kind = MAPPING_SPECIAL;
	mapping->name = MOVED_TEXT_PACKED;
	return true;
}
