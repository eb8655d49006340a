// SPDX-License-Identifier: GPL-2.0-or-later
/* Records as in a perf ring, parsed and applied to process images. No file can be opened. */
#include <stdlib.h>
#include <string.h>

#include "process/sideband_record.h"

/* Ids above the kernel's largest one: no record of the input is about a process that runs here. */
#define NOBODY 0x40000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply(struct images *images, struct sideband_record *record)
{
	pid_t tgid = NOBODY + record->tgid % 8;

	switch (record->kind) {
	case SIDEBAND_MMAP:
		record->mapping.tgid = tgid;
		images_mmap(images, &record->mapping);
		break;
	case SIDEBAND_EXEC:
		images_exec(images, tgid, record->time);
		break;
	case SIDEBAND_FORK:
		images_fork(images, tgid, NOBODY + record->parent % 8, record->time);
		break;
	case SIDEBAND_EXIT:
		images_exit(images, tgid, record->time);
		break;
	default:
		break;
	}
}

static void check(struct images *images, pid_t tgid, uint64_t time, uint64_t address)
{
	const struct mapping *mapping;
	uint32_t image;

	if (images_learn(images, tgid, 0, time, &address, 1, &image) < 0)
		return;
	mapping = images_find(images, image, address);
	if (mapping && (address < mapping->start || address >= mapping->end || !mapping->name))
		abort();
	if (image != IMAGE_NONE && images_tgid(images, image) != tgid)
		abort();
}

/* The size of the record at the beginning of the bytes; 0: it is cut. */
static size_t record_size(const uint8_t *bytes, size_t size)
{
	struct perf_event_header header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	return header.size < sizeof(header) || header.size > size ? 0 : header.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct images *images;
	size_t length;

	if (images_new(NULL, &images) < 0)
		return 0;
	for (; (length = record_size(data, size)) > 0; data += length, size -= length) {
		struct sideband_record record;

		if (sideband_record_parse(data, length, &record) < 0)
			continue;
		apply(images, &record);
		check(images, NOBODY + record.tgid % 8, record.time, record.mapping.start);
		if (record.time % 16 == 0)
			images_set_drained(images, record.time);
	}
	images_free(images);
	return 0;
}
