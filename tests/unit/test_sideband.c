// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The side-band: records as bytes, the story they tell, and the kernel's own records of real
 * processes, most of which are gone before anybody asks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/sideband.h"
#include "process/sideband_record.h"

#define PAGE 4096u
#define GONE 0x40000000 /* above the largest process id there can be */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- records as bytes */

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

/* The trailer, then the size of it all; parsed from memory of just that size. */
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
	uint8_t id[24] = { 3, 0, 0, 0, 0xaa, 0xbb, 0xcc };
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
	assert_int_equal(record.mapping.build_id_size, 0);

	bytes = mmap2(PERF_RECORD_MISC_MMAP_BUILD_ID, 0x1000, 0x2000, id);
	put(&bytes, "/lib/x\0", 8);
	assert_int_equal(parse(bytes, 9, &record), 0);
	assert_int_equal(record.mapping.build_id_size, 3);
	assert_int_equal(record.mapping.build_id[2], 0xcc);
	assert_int_equal(record.mapping.inode, 0);
	id[0] = 21;
	bytes = mmap2(PERF_RECORD_MISC_MMAP_BUILD_ID, 0x1000, 0x2000, id);
	put(&bytes, "/lib/x\0", 8);
	assert_int_equal(parse(bytes, 9, &record), -EPROTO);

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

/* ---- the story that records tell */

static int setup(void **state)
{
	struct images *images;

	assert_int_equal(images_new(NULL, &images), 0);
	*state = images;
	return 0;
}

static int teardown(void **state)
{
	images_free(*state);
	return 0;
}

/* An inode for each name, so that each name is a file of its own. */
static uint64_t inode_for(const char *name)
{
	uint64_t inode = 1;

	for (; *name; name++)
		inode = inode * 131 + (unsigned char)*name;
	return inode;
}

static void map(struct images *images, pid_t tgid, uint64_t time, uint64_t start, const char *name)
{
	struct mapping_record record = {
		.tgid = tgid,
		.time = time,
		.start = start,
		.end = start + PAGE,
		.device = makedev(8, 1),
		.inode = inode_for(name),
		.name = name,
		.name_size = strlen(name),
	};

	assert_int_equal(images_mmap(images, &record), 0);
}

static uint32_t at(struct images *images, pid_t tgid, uint64_t time)
{
	uint32_t image;

	assert_int_equal(images_at(images, tgid, 0, time, &image), 0);
	return image;
}

static void assert_mapped(struct images *images, uint32_t image, uint64_t address, const char *name)
{
	const struct mapping *mapping = images_find(images, image, address);

	if (!name) {
		assert_null(mapping);
		return;
	}
	assert_non_null(mapping);
	assert_string_equal(mapping->name, name);
}

static void test_exec_and_remap(void **state)
{
	struct images *images = *state;
	uint32_t first, second, third;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	map(images, GONE, 120, 0x20000, "/b");
	first = at(images, GONE, 130);
	assert_int_equal(at(images, GONE, 125), first);
	assert_mapped(images, first, 0x10010, "/a");
	assert_mapped(images, first, 0x20fff, "/b");
	assert_mapped(images, first, 0x21000, NULL);

	map(images, GONE, 200, 0x20000, "/c"); /* over /b */
	second = at(images, GONE, 210);
	assert_int_not_equal(first, second);
	assert_mapped(images, second, 0x10010, "/a");
	assert_mapped(images, second, 0x20010, "/c");
	assert_mapped(images, first, 0x20010, "/b");
	assert_int_equal(at(images, GONE, 150), first);

	assert_int_equal(images_exec(images, GONE, 300), 0);
	map(images, GONE, 310, 0x10000, "/d");
	images_exit(images, GONE, 400);
	third = at(images, GONE, 350);
	assert_mapped(images, third, 0x10010, "/d");
	assert_mapped(images, third, 0x20010, NULL);
	assert_int_equal(at(images, GONE, 130), first);
	assert_int_equal(at(images, GONE, 210), second);
	assert_int_equal(images_tgid(images, third), GONE);
}

static void test_partial_overlap(void **state)
{
	struct images *images = *state;
	struct mapping_record record = {
		.tgid = GONE,
		.time = 110,
		.start = 0x10000,
		.end = 0x18000,
		.offset = 0x5000,
		.inode = 1,
		.device = makedev(8, 1),
		.name = "/a",
		.name_size = 2,
	};
	const struct mapping *mapping;
	uint32_t image;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	assert_int_equal(images_mmap(images, &record), 0);
	map(images, GONE, 120, 0x12000, "/b");
	image = at(images, GONE, 130);
	assert_mapped(images, image, 0x11fff, "/a");
	assert_mapped(images, image, 0x12000, "/b");
	mapping = images_find(images, image, 0x13000);
	assert_string_equal(mapping->name, "/a");
	assert_int_equal(mapping->start, 0x13000);
	assert_int_equal(mapping->offset, 0x8000);
	assert_int_equal(mapping->end, 0x18000);
	/* The next part of the same file at the right offset is one with it. */
	record.start = 0x18000;
	record.end = 0x19000;
	record.offset = 0xd000;
	record.time = 140;
	assert_int_equal(images_mmap(images, &record), 0);
	assert_int_equal(at(images, GONE, 150), image);
	assert_int_equal(images_find(images, image, 0x18000)->start, 0x13000);
}

static void test_fork_shares_until_it_changes(void **state)
{
	struct images *images = *state;
	uint32_t child, parent;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	assert_int_equal(images_fork(images, GONE + 1, GONE, 200), 0);
	map(images, GONE, 210, 0x20000, "/parent");
	map(images, GONE + 1, 220, 0x30000, "/child");
	images_exit(images, GONE + 1, 300);
	child = at(images, GONE + 1, 250);
	parent = at(images, GONE, 250);
	assert_int_equal(images_tgid(images, child), GONE + 1);
	assert_mapped(images, child, 0x10000, "/a");
	assert_mapped(images, child, 0x20000, NULL);
	assert_mapped(images, child, 0x30000, "/child");
	assert_mapped(images, parent, 0x10000, "/a");
	assert_mapped(images, parent, 0x20000, "/parent");
	assert_mapped(images, parent, 0x30000, NULL);
}

static void test_reused_process_id(void **state)
{
	struct images *images = *state;
	uint32_t old, reused;

	assert_int_equal(images_exec(images, GONE + 2, 50), 0);
	map(images, GONE + 2, 60, 0x10000, "/shell");
	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/old");
	images_exit(images, GONE, 200);
	assert_int_equal(images_fork(images, GONE, GONE + 2, 300), 0);
	reused = at(images, GONE, 310);
	old = at(images, GONE, 150);
	assert_mapped(images, old, 0x10000, "/old");
	assert_mapped(images, reused, 0x10000, "/shell");
}

/* The same mark of another address space than the records tell of: not mixed up. */
static void test_cookie_against_records(void **state)
{
	struct images *images = *state;
	uint32_t image, other;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	assert_int_equal(images_at(images, GONE, 5, 120, &image), 0);
	assert_mapped(images, image, 0x10000, "/a");
	assert_int_equal(images_at(images, GONE, 6, 130, &other), 0); /* its exec was lost */
	assert_int_equal(other, IMAGE_NONE);
	assert_int_equal(images_losses(images)->processes_gone, 1);
	assert_int_equal(images_at(images, GONE, 5, 120, &other), 0);
	assert_int_equal(other, image);
}

/* What ended and was never asked for is forgotten; what was asked for stays. */
static void test_forgetting(void **state)
{
	struct images *images = *state;
	const uint64_t second = 1000000000u;
	uint32_t kept;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(images_exec(images, GONE + i, 100), 0);
		map(images, GONE + i, 110, 0x10000, "/a");
	}
	kept = at(images, GONE, 120);
	images_exit(images, GONE, 200);
	images_exit(images, GONE + 1, 200);
	images_set_drained(images, 3600 * second);
	assert_int_equal(at(images, GONE, 120), kept);
	assert_mapped(images, kept, 0x10000, "/a");
	assert_int_equal(at(images, GONE + 1, 120), IMAGE_NONE);
}

/* A process that replaces its code all the time: its past is bounded, its present right. */
static void test_endless_remapping(void **state)
{
	struct images *images = *state;
	uint32_t first;

	assert_int_equal(images_exec(images, GONE, 1), 0);
	map(images, GONE, 2, 0x10000, "/even");
	first = at(images, GONE, 2);
	for (uint64_t time = 3; time < 100000; time++)
		map(images, GONE, time, 0x10000, time % 2 ? "/odd" : "/even");
	assert_mapped(images, at(images, GONE, 99999), 0x10000, "/odd");
	assert_mapped(images, at(images, GONE, 99998), 0x10000, "/even");
	assert_mapped(images, first, 0x10000, "/even");
	for (uint64_t i = 0; i < 100000; i++)
		map(images, GONE, 200000 + i, 0x100000 + 2 * i * PAGE, "/many");
	assert_mapped(images, at(images, GONE, 300000), 0x100000, "/many");
}

/* ---- the kernel's own records */

struct run {
	struct images *images;
	struct sideband *sideband;
	char directory[64];
};

static int open_run(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	int r;

	assert_int_equal(images_new(NULL, &run->images), 0);
	strcpy(run->directory, "/tmp/test_sideband.XXXXXX");
	assert_non_null(mkdtemp(run->directory));
	r = sideband_open(run->images, &run->sideband);
	if (r == -EACCES || r == -EPERM || r == -ENOSYS)
		print_message("SKIP: no perf events here: %s\n", strerror(-r));
	else
		assert_int_equal(r, 0);
	*state = run;
	return 0;
}

static int close_run(void **state)
{
	struct run *run = *state;
	char command[128];

	sideband_close(run->sideband);
	images_free(run->images);
	snprintf(command, sizeof(command), "rm -rf '%s'", run->directory);
	assert_int_equal(system(command), 0);
	free(run);
	return 0;
}

/* What a program that this test runs tells through its stdout. */
struct told {
	uint64_t address, time;
};

static void tell(const void *address)
{
	struct told told = { .address = (uintptr_t)address, .time = now() };

	if (write(STDOUT_FILENO, &told, sizeof(told)) != sizeof(told))
		_exit(1);
}

static struct told listen_to(int from)
{
	struct told told;

	assert_int_equal(read(from, &told, sizeof(told)), sizeof(told));
	return told;
}

/* Runs a program as `exe what [argument]`, its stdout to a pipe, its stdin from one. */
static pid_t run_program(const char *exe, const char *what, const char *argument, int *ret_from,
			 int *ret_to)
{
	int up[2], down[2];
	pid_t pid;

	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(up[1], STDOUT_FILENO);
		dup2(down[0], STDIN_FILENO);
		execl(exe, exe, what, argument, (char *)NULL);
		_exit(127);
	}
	close(up[1]);
	close(down[0]);
	*ret_from = up[0];
	*ret_to = down[1];
	return pid;
}

static uint32_t inode_at(struct images *images, pid_t tgid, const struct told *told)
{
	const struct mapping *mapping;
	uint32_t image;

	assert_int_equal(images_learn(images, tgid, 0, told->time, &told->address, 1, &image), 0);
	assert_int_not_equal(image, IMAGE_NONE);
	mapping = images_find(images, image, told->address);
	assert_non_null(mapping);
	assert_int_equal(mapping->kind, MAPPING_FILE);
	return (uint32_t)images_file(images, mapping->file)->inode;
}

static uint32_t inode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (uint32_t)status.st_ino;
}

static void test_ended_before_anybody_asks(void **state)
{
	struct run *run = *state;
	int from, to, wait_status;
	struct told told;
	pid_t pid;

	if (!run->sideband)
		skip();
	pid = run_program("/proc/self/exe", "tell", NULL, &from, &to);
	told = listen_to(from);
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_int_equal(wait_status, 0);
	close(from);
	close(to);
	assert_int_equal(inode_at(run->images, pid, &told), inode_of("/proc/self/exe"));
	assert_int_equal(images_losses(run->images)->processes_gone, 0);
}

static void test_child_that_only_forked(void **state)
{
	struct run *run = *state;
	struct told told;
	int up[2];
	pid_t pid;

	if (!run->sideband)
		skip();
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(up[1], STDOUT_FILENO);
		tell((void *)(uintptr_t)tell);
		_exit(0);
	}
	told = listen_to(up[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(inode_at(run->images, pid, &told), inode_of("/proc/self/exe"));
	close(up[0]);
	close(up[1]);
}

static void write_page(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	static const char page[PAGE];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
}

/* Two files at one address, one after the other: right at the time of each. */
static void test_unmapped_and_mapped_anew(void **state)
{
	struct run *run = *state;
	char first[PATH_MAX], second[PATH_MAX];
	struct told a, b, again;
	int from, to;
	pid_t pid;

	if (!run->sideband)
		skip();
	snprintf(first, sizeof(first), "%s/1", run->directory);
	snprintf(second, sizeof(second), "%s/2", run->directory);
	write_page(first);
	write_page(second);
	pid = run_program("/proc/self/exe", "remap", run->directory, &from, &to);
	a = listen_to(from);
	b = listen_to(from);
	again = listen_to(from);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(from);
	close(to);
	assert_int_equal(a.address, b.address);
	assert_int_equal(inode_at(run->images, pid, &a), inode_of(first));
	assert_int_equal(inode_at(run->images, pid, &b), inode_of(second));
	assert_int_equal(inode_at(run->images, pid, &again), inode_of(first));
}

static void wait_until_readable(const struct sideband *sideband)
{
	struct pollfd ready = { .fd = sideband_fd(sideband), .events = POLLIN };

	assert_int_equal(poll(&ready, 1, 10000), 1);
}

/* A program that is deleted as soon as it runs, and gone: its file was taken hold of meanwhile. */
static void test_deleted_program(void **state)
{
	struct run *run = *state;
	char command[512], path[128];
	const struct mapping *mapping;
	struct told told;
	uint32_t image;
	int from, to, fd;
	pid_t pid;

	if (!run->sideband)
		skip();
	snprintf(path, sizeof(path), "%s/program", run->directory);
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", (int)getpid(), path);
	assert_int_equal(system(command), 0);
	pid = run_program(path, "wait", NULL, &from, &to);
	told = listen_to(from);
	assert_int_equal(unlink(path), 0);
	wait_until_readable(run->sideband);
	assert_int_equal(sideband_drain(run->sideband), 0);
	close(to);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(from);
	assert_int_equal(images_learn(run->images, pid, 0, told.time, &told.address, 1, &image), 0);
	mapping = images_find(run->images, image, told.address);
	assert_non_null(mapping);
	fd = images_open_file(run->images, mapping->file);
	assert_true(fd >= 0);
	close(fd);
}

/* What ran before is known too, and changes to it are followed. */
static void test_joined_late(void **state)
{
	struct run *run = *state;
	struct told before, after;
	char path[PATH_MAX];
	int from, to;
	pid_t pid;

	if (!run->sideband)
		skip();
	snprintf(path, sizeof(path), "%s/1", run->directory);
	write_page(path);
	sideband_close(run->sideband);
	run->sideband = NULL;
	pid = run_program("/proc/self/exe", "map", path, &from, &to);
	before = listen_to(from);
	assert_int_equal(sideband_open(run->images, &run->sideband), 0);
	assert_int_equal(inode_at(run->images, pid, &before), inode_of("/proc/self/exe"));
	assert_int_equal(write(to, "x", 1), 1);
	after = listen_to(from);
	close(to);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(from);
	assert_int_equal(inode_at(run->images, pid, &after), inode_of(path));
	assert_int_equal(inode_at(run->images, pid, &before), inode_of("/proc/self/exe"));
}

/* Many short processes: none lost, none mixed up. */
static void test_many(void **state)
{
	enum { N = 192, BATCH = 16 };
	struct run *run = *state;
	struct told told[N];
	pid_t pids[N];

	if (!run->sideband)
		skip();
	for (int i = 0; i < N; i++) {
		int from, to;

		pids[i] = run_program("/proc/self/exe", "tell", NULL, &from, &to);
		told[i] = listen_to(from);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		close(from);
		close(to);
		/* Long before they are forgotten, however slow the machine. */
		for (int j = i + 1 - BATCH; i % BATCH == BATCH - 1 && j <= i; j++)
			assert_int_equal(inode_at(run->images, pids[j], &told[j]),
					 inode_of("/proc/self/exe"));
	}
	assert_int_equal(images_losses(run->images)->side_band_lost, 0);
	assert_int_equal(sideband_traffic(run->sideband)->damaged, 0);
	assert_true(sideband_traffic(run->sideband)->records >= 3 * N);
}

/* ---- the programs that are run */

static void *map_file(void *where, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *address = mmap(where, PAGE, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | (where ? MAP_FIXED : 0), fd, 0);

	if (address == MAP_FAILED)
		_exit(2);
	close(fd);
	return address;
}

static int run_as_told(const char *what, const char *argument)
{
	char path[PATH_MAX], byte;
	void *address = NULL;

	if (strcmp(what, "remap") == 0) {
		for (int i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "%s/%d", argument, i % 2 + 1);
			if (address)
				munmap(address, PAGE);
			address = map_file(address, path);
			tell(address);
		}
		return 0;
	}
	tell((void *)(uintptr_t)run_as_told);
	if (strcmp(what, "tell") == 0)
		return 0;
	if (read(STDIN_FILENO, &byte, 1) == 1 && strcmp(what, "map") == 0) {
		tell(map_file(NULL, argument));
		return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
#define STORY(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
#define REAL(name)  cmocka_unit_test_setup_teardown(test_##name, open_run, close_run)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap_records),
		cmocka_unit_test(test_other_records),
		STORY(exec_and_remap),
		STORY(partial_overlap),
		STORY(fork_shares_until_it_changes),
		STORY(reused_process_id),
		STORY(cookie_against_records),
		STORY(forgetting),
		STORY(endless_remapping),
		REAL(ended_before_anybody_asks),
		REAL(child_that_only_forked),
		REAL(unmapped_and_mapped_anew),
		REAL(deleted_program),
		REAL(joined_late),
		REAL(many),
	};

	if (argc > 1)
		return run_as_told(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
