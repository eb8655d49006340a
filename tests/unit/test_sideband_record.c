// SPDX-License-Identifier: GPL-2.0-or-later
/* Side-band records, parsed from bytes as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "process/sideband_record.h"

struct bytes {
	char at[512];
	size_t size;
};

static void put(struct bytes *bytes, const void *value, size_t size)
{
	memcpy(bytes->at + bytes->size, value, size);
	bytes->size += size;
}

static void put32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, sizeof(value));
}

static struct bytes begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };
	struct bytes bytes = { .size = 0 };

	put(&bytes, &header, sizeof(header));
	return bytes;
}

/* Adds the trailer, sets the size, and parses the record in memory of exactly that size. */
static int parse(struct bytes bytes, uint64_t time, struct sideband_record *ret_record)
{
	uint16_t size;
	char *exact;
	int r;

	put32(&bytes, 1);
	put32(&bytes, 1);
	put64(&bytes, time);
	put64(&bytes, 0);
	size = (uint16_t)bytes.size;
	memcpy(bytes.at + 6, &size, sizeof(size));
	exact = malloc(size);
	assert_non_null(exact);
	memcpy(exact, bytes.at, size);
	r = sideband_record_parse(exact, size, ret_record);
	if (r == 0 && ret_record->kind == SIDEBAND_MMAP)
		assert_true(ret_record->mapping.name + ret_record->mapping.name_size <
			    exact + size);
	free(exact);
	return r;
}

static struct bytes mmap2(uint16_t misc, uint64_t start, uint64_t length, const void *by)
{
	struct bytes bytes = begin(PERF_RECORD_MMAP2, misc);

	put32(&bytes, 10);
	put32(&bytes, 11);
	put64(&bytes, start);
	put64(&bytes, length);
	put64(&bytes, 0x3000);
	put(&bytes, by, 24);
	put32(&bytes, 5);
	put32(&bytes, 2);
	return bytes;
}

static void test_mmap_records(void **state)
{
	uint32_t file[6] = { 8, 1, 77, 0, 5, 0 };
	struct sideband_record record;
	struct bytes bytes = mmap2(0, 0x1000, 0x2000, file);

	(void)state;
	assert_int_equal(parse(bytes, 9, &record), -EPROTO); /* no name at all */
	put(&bytes, "/lib/x\0", 8);
	assert_int_equal(parse(bytes, 9, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_MMAP);
	assert_int_equal(record.time, 9);
	assert_int_equal(record.mapping.time, 9);
	assert_int_equal(record.mapping.tgid, 10);
	assert_int_equal(record.mapping.start, 0x1000);
	assert_int_equal(record.mapping.end, 0x3000);
	assert_int_equal(record.mapping.offset, 0x3000);
	assert_int_equal(record.mapping.device, makedev(8, 1));
	assert_int_equal(record.mapping.inode, 77);
	assert_int_equal(record.mapping.generation, 5);
	assert_int_equal(record.mapping.name_size, 6);

	bytes = mmap2(0, 0x1000, 0x2000, file);
	put(&bytes, "no end!!", 8);
	assert_int_equal(parse(bytes, 9, &record), -EPROTO);
	bytes = mmap2(0, UINT64_MAX - 1, 0x2000, file);
	put(&bytes, "/lib/x\0", 8);
	assert_int_equal(parse(bytes, 9, &record), -EPROTO);
	bytes = mmap2(0, 0x1000, 0, file);
	put(&bytes, "/lib/x\0", 8);
	assert_int_equal(parse(bytes, 9, &record), -EPROTO);
}

static int parse_task(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid,
		      struct sideband_record *ret_record)
{
	struct bytes bytes = begin(type, 0);

	put32(&bytes, pid);
	put32(&bytes, parent);
	put32(&bytes, tid);
	put32(&bytes, parent);
	put64(&bytes, 1);
	return parse(bytes, 5, ret_record);
}

static void test_other_records(void **state)
{
	struct sideband_record record;
	struct bytes bytes;

	(void)state;
	assert_int_equal(parse_task(PERF_RECORD_FORK, 20, 10, 20, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_FORK);
	assert_int_equal(record.tgid, 20);
	assert_int_equal(record.parent, 10);
	assert_int_equal(parse_task(PERF_RECORD_FORK, 20, 20, 21, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_OTHER); /* a thread */
	assert_int_equal(parse_task(PERF_RECORD_EXIT, 20, 10, 20, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_EXIT);
	assert_int_equal(parse_task(PERF_RECORD_EXIT, 20, 10, 21, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_OTHER);
	assert_int_equal(parse_task(PERF_RECORD_FORK, UINT32_MAX, 10, 20, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_OTHER); /* of another pid namespace */

	bytes = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(parse(bytes, 5, &record), -EPROTO);
	put32(&bytes, 30);
	put32(&bytes, 30);
	put(&bytes, "cc1\0\0\0\0", 8);
	assert_int_equal(parse(bytes, 5, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_EXEC);
	assert_int_equal(record.tgid, 30);
	bytes = begin(PERF_RECORD_COMM, 0);
	put32(&bytes, 30);
	put32(&bytes, 30);
	assert_int_equal(parse(bytes, 5, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_OTHER);

	bytes = begin(PERF_RECORD_LOST, 0);
	put64(&bytes, 1);
	put64(&bytes, 12);
	assert_int_equal(parse(bytes, 5, &record), 0);
	assert_int_equal(record.kind, SIDEBAND_LOST);
	assert_int_equal(record.lost, 12);
	assert_int_equal(sideband_record_parse(bytes.at, 8, &record), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap_records),
		cmocka_unit_test(test_other_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
