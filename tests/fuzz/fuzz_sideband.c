// SPDX-License-Identifier: GPL-2.0-or-later
/* Records as from a ring, told to worlds that believe them. No file is there to be opened. */
#include <stdlib.h>

#include "process/sideband_record.h"

/* Ids above the kernel's largest one: no record of the input is about a process that runs here. */
#define NOBODY 0x40000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tell(struct worlds *worlds, struct sideband_record *record)
{
	pid_t tgid = NOBODY + record->tgid % 8;

	switch (record->kind) {
	case SIDEBAND_MMAP:
		record->mapping.tgid = tgid;
		worlds_mmap(worlds, &record->mapping);
		break;
	case SIDEBAND_EXEC:
		worlds_exec(worlds, tgid, record->time);
		break;
	case SIDEBAND_FORK:
		worlds_fork(worlds, tgid, NOBODY + record->parent % 8, record->time);
		break;
	case SIDEBAND_EXIT:
		worlds_exit(worlds, tgid, record->time);
		break;
	default:
		break;
	}
}

static void check(struct worlds *worlds, pid_t tgid, uint64_t time, uint64_t address)
{
	const struct mapping *mapping;
	uint32_t world;

	if (worlds_learn(worlds, tgid, 0, time, &address, 1, &world) < 0)
		return;
	mapping = worlds_find(worlds, world, address);
	if (mapping && (address < mapping->start || address >= mapping->end || !mapping->name))
		abort();
	if (world != WORLD_NONE && worlds_tgid(worlds, world) != tgid)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct worlds *worlds;
	size_t length;

	if (worlds_new(NULL, &worlds) < 0)
		return 0;
	for (; (length = sideband_record_size(data, size)) > 0; data += length, size -= length) {
		struct sideband_record record;

		if (sideband_record_parse(data, length, &record) < 0)
			continue;
		tell(worlds, &record);
		check(worlds, NOBODY + record.tgid % 8, record.time, record.mapping.start);
		if (record.time % 16 == 0)
			worlds_settle(worlds, record.time);
	}
	worlds_free(worlds);
	return 0;
}
