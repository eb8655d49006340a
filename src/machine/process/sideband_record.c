// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/sideband_record.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

/* The layouts of <linux/perf_event.h>. SIDEBAND_SAMPLE_TYPE ends every record with this. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major_number, minor_number;
	uint64_t inode, generation;
	uint32_t protection, flags;
	/* then the name, NUL-terminated and padded */
};

struct task {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

_Static_assert(sizeof(struct trailer) == 24, "as the kernel has it");
_Static_assert(sizeof(struct mmap2) == 72, "as the kernel has it");
_Static_assert(sizeof(struct task) == 32, "as the kernel has it");

static int parse_mmap2(const char *bytes, size_t size, struct sideband_record *record)
{
	struct mapping_record *mapping = &record->mapping;
	struct mmap2 raw;
	const char *terminator;

	if (size <= sizeof(raw))
		return -EPROTO;
	memcpy(&raw, bytes, sizeof(raw));
	mapping->name = bytes + sizeof(raw);
	terminator = memchr(mapping->name, '\0', size - sizeof(raw));
	if (!terminator || raw.length == 0 || raw.address + raw.length < raw.address)
		return -EPROTO;
	mapping->name_size = (size_t)(terminator - mapping->name);
	mapping->start = raw.address;
	mapping->end = raw.address + raw.length;
	mapping->offset = raw.offset;
	mapping->device = makedev(raw.major_number, raw.minor_number);
	mapping->inode = raw.inode;
	mapping->generation = raw.generation;
	record->tgid = mapping->tgid = (pid_t)raw.pid;
	mapping->time = record->time;
	record->kind = SIDEBAND_MMAP;
	return 0;
}

static int parse_task(const char *bytes, size_t size, struct sideband_record *record)
{
	struct task raw;

	if (size < sizeof(raw))
		return -EPROTO;
	memcpy(&raw, bytes, sizeof(raw));
	record->tgid = (pid_t)raw.pid;
	record->parent = (pid_t)raw.parent_pid;
	if (raw.header.type == PERF_RECORD_FORK && raw.pid != raw.parent_pid)
		record->kind = SIDEBAND_FORK;
	else if (raw.header.type == PERF_RECORD_EXIT && raw.pid == raw.tid)
		record->kind = SIDEBAND_EXIT;
	return 0;
}

static int parse_comm(const char *bytes, size_t size, struct sideband_record *record)
{
	struct comm raw;

	if (size < sizeof(raw))
		return -EPROTO;
	memcpy(&raw, bytes, sizeof(raw));
	record->tgid = (pid_t)raw.pid;
	if (raw.header.misc & PERF_RECORD_MISC_COMM_EXEC)
		record->kind = SIDEBAND_EXEC;
	return 0;
}

static int parse_lost(const char *bytes, size_t size, struct sideband_record *record)
{
	struct lost raw;

	if (size < sizeof(raw))
		return -EPROTO;
	memcpy(&raw, bytes, sizeof(raw));
	record->lost = raw.lost;
	record->kind = SIDEBAND_LOST;
	return 0;
}

int sideband_record_parse(const void *bytes, size_t size, struct sideband_record *ret_record)
{
	struct sideband_record record = { .kind = SIDEBAND_OTHER };
	struct perf_event_header header;
	struct trailer trailer;
	int r = 0;

	if (size < sizeof(header) + sizeof(trailer))
		return -EPROTO;
	memcpy(&header, bytes, sizeof(header));
	size -= sizeof(trailer);
	memcpy(&trailer, (const char *)bytes + size, sizeof(trailer));
	record.time = trailer.time;
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		r = parse_mmap2(bytes, size, &record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		r = parse_task(bytes, size, &record);
		break;
	case PERF_RECORD_COMM:
		r = parse_comm(bytes, size, &record);
		break;
	case PERF_RECORD_LOST:
		r = parse_lost(bytes, size, &record);
		break;
	default:
		break;
	}
	if (r < 0)
		return r;
	/* The ids of processes outside of our pid namespace are 0 or -1. */
	if (record.kind != SIDEBAND_LOST && record.tgid <= 0)
		record.kind = SIDEBAND_OTHER;
	*ret_record = record;
	return 0;
}
