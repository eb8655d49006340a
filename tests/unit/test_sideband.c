// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's side-band records of real processes, most of which end before they are looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "process/sideband.h"

#define PAGE 4096u

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

/* The programs that this test runs write to stdout when and where their code was mapped. */
struct report {
	uint64_t address, time;
};

static void write_report(const void *address)
{
	struct report report = { .address = (uintptr_t)address, .time = monotonic_ns() };

	if (write(STDOUT_FILENO, &report, sizeof(report)) != sizeof(report))
		_exit(1);
}

static struct report read_report(int from)
{
	struct report report;

	assert_int_equal(read(from, &report, sizeof(report)), sizeof(report));
	return report;
}

/* Runs `exe what [argument]` with pipes as its stdin and stdout. */
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

static uint32_t inode_at(struct images *images, pid_t tgid, const struct report *report)
{
	const struct mapping *mapping;
	uint32_t image;

	assert_int_equal(images_learn(images, tgid, 0, report->time, &report->address, 1, &image),
			 0);
	assert_int_not_equal(image, IMAGE_NONE);
	mapping = images_find(images, image, report->address);
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
	struct report report;
	pid_t pid;

	if (!run->sideband)
		skip();
	pid = run_program("/proc/self/exe", "report", NULL, &from, &to);
	report = read_report(from);
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_int_equal(wait_status, 0);
	close(from);
	close(to);
	assert_int_equal(inode_at(run->images, pid, &report), inode_of("/proc/self/exe"));
	assert_int_equal(images_losses(run->images)->processes_gone, 0);
}

static void test_child_that_only_forked(void **state)
{
	struct run *run = *state;
	struct report report;
	int up[2];
	pid_t pid;

	if (!run->sideband)
		skip();
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(up[1], STDOUT_FILENO);
		write_report((void *)(uintptr_t)write_report);
		_exit(0);
	}
	report = read_report(up[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(inode_at(run->images, pid, &report), inode_of("/proc/self/exe"));
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

/* Two files at one address, one after the other: each time has its file. */
static void test_unmapped_and_mapped_anew(void **state)
{
	struct run *run = *state;
	char first[PATH_MAX], second[PATH_MAX];
	struct report a, b, again;
	int from, to;
	pid_t pid;

	if (!run->sideband)
		skip();
	snprintf(first, sizeof(first), "%s/1", run->directory);
	snprintf(second, sizeof(second), "%s/2", run->directory);
	write_page(first);
	write_page(second);
	pid = run_program("/proc/self/exe", "remap", run->directory, &from, &to);
	a = read_report(from);
	b = read_report(from);
	again = read_report(from);
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

/* A program that is deleted as soon as it runs, and then ends: its file was held meanwhile. */
static void test_deleted_program(void **state)
{
	struct run *run = *state;
	char command[512], path[128];
	const struct mapping *mapping;
	struct report report;
	uint32_t image;
	int from, to, fd;
	pid_t pid;

	if (!run->sideband)
		skip();
	snprintf(path, sizeof(path), "%s/program", run->directory);
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", (int)getpid(), path);
	assert_int_equal(system(command), 0);
	pid = run_program(path, "wait", NULL, &from, &to);
	report = read_report(from);
	assert_int_equal(unlink(path), 0);
	wait_until_readable(run->sideband);
	assert_int_equal(sideband_drain(run->sideband), 0);
	close(to);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(from);
	assert_int_equal(images_learn(run->images, pid, 0, report.time, &report.address, 1, &image),
			 0);
	mapping = images_find(run->images, image, report.address);
	assert_non_null(mapping);
	fd = images_open_file(run->images, mapping->file);
	assert_true(fd >= 0);
	close(fd);
}

/* A process that ran before is known, too, and so are its later mappings. */
static void test_joined_late(void **state)
{
	struct run *run = *state;
	struct report before, after;
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
	before = read_report(from);
	assert_int_equal(sideband_open(run->images, &run->sideband), 0);
	assert_int_equal(inode_at(run->images, pid, &before), inode_of("/proc/self/exe"));
	assert_int_equal(write(to, "x", 1), 1);
	after = read_report(from);
	close(to);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(from);
	assert_int_equal(inode_at(run->images, pid, &after), inode_of(path));
	assert_int_equal(inode_at(run->images, pid, &before), inode_of("/proc/self/exe"));
}

/* Of many short processes none is lost or confused with another. */
static void test_many(void **state)
{
	enum { N = 192, GROUP = 16 };
	struct run *run = *state;
	struct report report[N];
	pid_t pids[N];

	if (!run->sideband)
		skip();
	for (int i = 0; i < N; i++) {
		int from, to;

		pids[i] = run_program("/proc/self/exe", "report", NULL, &from, &to);
		report[i] = read_report(from);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		close(from);
		close(to);
		/* Looked up in groups, before the images of ended processes are forgotten. */
		for (int j = i + 1 - GROUP; i % GROUP == GROUP - 1 && j <= i; j++)
			assert_int_equal(inode_at(run->images, pids[j], &report[j]),
					 inode_of("/proc/self/exe"));
	}
	assert_int_equal(images_losses(run->images)->side_band_lost, 0);
	assert_int_equal(sideband_traffic(run->sideband)->damaged, 0);
	assert_true(sideband_traffic(run->sideband)->records >= 3 * N);
}

/* A ring that is not drained in time: each record was read, or is counted as lost. */
static void test_overflow(void **state)
{
	enum { N = 40000 }; /* records of some 100 bytes; a ring has 1 MB at most */
	struct run *run = *state;
	cpu_set_t all, one;
	uint64_t before, read, lost;
	char path[PATH_MAX];
	int fd;

	if (!run->sideband)
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	snprintf(path, sizeof(path), "%s/1", run->directory);
	write_page(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(sideband_drain(run->sideband), 0);
	before = sideband_traffic(run->sideband)->records;
	/* The kernel tells losses before the next record that has room. */
	for (int i = 0; i <= N; i++) {
		void *address = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		assert_ptr_not_equal(address, MAP_FAILED);
		assert_int_equal(munmap(address, PAGE), 0);
		if (i + 1 >= N)
			assert_int_equal(sideband_drain(run->sideband), 0);
	}
	close(fd);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	read = sideband_traffic(run->sideband)->records - before;
	lost = images_losses(run->images)->side_band_lost;
	assert_true(lost > 0 && read > 100 && read < N);
	assert_true(read + lost >= N);
	assert_int_equal(sideband_traffic(run->sideband)->damaged, 0);
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

static int run_as_asked(const char *what, const char *argument)
{
	char path[PATH_MAX], byte;
	void *address = NULL;

	if (strcmp(what, "remap") == 0) {
		for (int i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "%s/%d", argument, i % 2 + 1);
			if (address)
				munmap(address, PAGE);
			address = map_file(address, path);
			write_report(address);
		}
		return 0;
	}
	write_report((void *)(uintptr_t)run_as_asked);
	if (strcmp(what, "report") == 0)
		return 0;
	if (read(STDIN_FILENO, &byte, 1) == 1 && strcmp(what, "map") == 0) {
		write_report(map_file(NULL, argument));
		return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_run, close_run)
	const struct CMUnitTest tests[] = {
		TEST(ended_before_anybody_asks),
		TEST(child_that_only_forked),
		TEST(unmapped_and_mapped_anew),
		TEST(deleted_program),
		TEST(joined_late),
		TEST(many),
		TEST(overflow),
	};

	if (argc > 1)
		return run_as_asked(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
