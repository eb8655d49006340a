// SPDX-License-Identifier: GPL-2.0-or-later
/* Work in a confined child: what it can do, what it cannot, and how we survive its failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "symbolize/confined.h"

#define SECOND 1000000000ull

/* Copying a sanitized process and ending it takes longer than all that it does. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#define N_CHILDREN 5
#else
#define N_CHILDREN 50
#endif

static uint64_t soon(uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec + ns;
}

static int a_file(void)
{
	int fd = memfd_create("confined", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "what is in it", 13), 13);
	return fd;
}

static struct confined start(void (*work)(void *context, int fd, FILE *output), void *context)
{
	struct confined child = CONFINED_NONE;
	own(own_fd) int fd = a_file();

	assert_int_equal(confined_start(work, context, fd, &child), 0);
	return child;
}

/* ---- what it can do */

static void copy(void *context, int fd, FILE *output)
{
	char bytes[64];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	for (int i = 0; i < 10000; i++) {
		char *block = malloc((size_t)(i % 512) * 16 + 1);

		if (!block)
			return;
		fwrite(bytes, (size_t)n, 1, output);
		free(block);
	}
	fwrite(context, strlen(context), 1, output);
}

static void test_result(void **state)
{
	own(confined_end) struct confined child = start(copy, "the end");
	char bytes[14];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		memset(bytes, 0, sizeof(bytes));
		assert_int_equal(confined_read(&child, bytes, 13, soon(60 * SECOND)), 0);
		assert_string_equal(bytes, "what is in it");
	}
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(confined_read(&child, bytes, 7, soon(60 * SECOND)), 0);
	assert_string_equal(bytes, "the end");
	assert_int_equal(confined_read(&child, bytes, 1, soon(60 * SECOND)), -ENODATA);
}

/* ---- what it cannot do */

enum attempt {
	WRITE_FILE,
	WRITE_INPUT,
	WRITE_OTHERS,
	READ_OTHERS,
	SOCKET,
	KILL,
	FORK,
	EXECUTE,
	UNCONFINED_ID,
	OPEN_SECRET,
	OPEN_PLAIN,
	N_ATTEMPTS,
};

struct places {
	char directory[32], secret[64], plain[64];
};

static void try_all(void *context, int fd, FILE *output)
{
	const struct places *places = context;
	char *const none[] = { NULL };
	char worked[N_ATTEMPTS], byte;

	for (int i = 0; i < N_ATTEMPTS; i++)
		worked[i] = 0;
	worked[WRITE_FILE] = open(places->plain, O_RDWR) >= 0 ||
			     open("/tmp/stacktally-confined", O_CREAT | O_WRONLY, 0600) >= 0;
	worked[WRITE_INPUT] = write(fd, "x", 1) == 1;
	for (int each = 2; each < 256; each++) {
		worked[WRITE_OTHERS] |= write(each, "x", 1) == 1;
		worked[READ_OTHERS] |= read(each, &byte, 1) >= 0;
	}
	worked[SOCKET] = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
	worked[KILL] = syscall(SYS_kill, 0, 0) == 0;
	worked[FORK] = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
	worked[EXECUTE] = syscall(SYS_execve, "/bin/true", none, none) == 0;
	worked[UNCONFINED_ID] = syscall(SYS_setresuid, 0, 0, 0) == 0;
	worked[OPEN_SECRET] = open(places->secret, O_RDONLY) >= 0;
	worked[OPEN_PLAIN] = open(places->plain, O_RDONLY) >= 0;
	fwrite(worked, sizeof(worked), 1, output);
}

static void make_file(const char *path, mode_t mode)
{
	own(own_fd) int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void test_refusals(void **state)
{
	own(confined_end) struct confined child = CONFINED_NONE;
	struct places places = { "/tmp/stacktally-unit-XXXXXX", "", "" };
	own(own_fd) int more = -1;
	char worked[N_ATTEMPTS];

	(void)state;
	assert_non_null(mkdtemp(places.directory));
	assert_int_equal(chmod(places.directory, 0755), 0);
	snprintf(places.secret, sizeof(places.secret), "%s/secret", places.directory);
	snprintf(places.plain, sizeof(places.plain), "%s/plain", places.directory);
	make_file(places.secret, 0600);
	make_file(places.plain, 0666);
	more = dup(2);
	assert_true(more >= 0);
	child = start(try_all, &places);
	assert_int_equal(confined_read(&child, worked, sizeof(worked), soon(60 * SECOND)), 0);
	for (int i = 0; i < OPEN_SECRET; i++) {
		if (worked[i])
			fail_msg("attempt %d worked", i);
	}
	/* Only root becomes nobody. */
	assert_int_equal(worked[OPEN_SECRET], geteuid() != 0);
	assert_int_equal(worked[OPEN_PLAIN], 1);
	unlink(places.secret);
	unlink(places.plain);
	rmdir(places.directory);
}

/* ---- how it ends */

static void crash(void *context, int fd, FILE *output)
{
	(void)fd;
	fwrite("some", 4, 1, output);
	fflush(output);
	*(volatile int *)context = 1;
}

static void test_crash(void **state)
{
	own(confined_end) struct confined child = start(crash, (void *)16);
	char bytes[8];

	(void)state;
	assert_int_equal(confined_read(&child, bytes, 4, soon(60 * SECOND)), 0);
	assert_memory_equal(bytes, "some", 4);
	assert_int_equal(confined_read(&child, bytes, 4, soon(60 * SECOND)), -ENODATA);
}

static void loop(void *context, int fd, FILE *output)
{
	(void)context;
	(void)fd;
	(void)output;
	for (volatile uint64_t i = 0;; i++)
		;
}

static void test_loop(void **state)
{
	struct confined child = start(loop, NULL);
	pid_t pid = child.child;
	char byte;

	(void)state;
	assert_int_equal(confined_read(&child, &byte, 1, soon(SECOND / 10)), -ETIMEDOUT);
	assert_int_equal(kill(pid, 0), 0);
	confined_end(&child);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	confined_end(&child);
}

/* Allocates until that fails. */
static void eat(void *context, int fd, FILE *output)
{
	uint64_t taken = 0;

	(void)context;
	(void)fd;
	while (taken < 64ull << 30 && mmap(NULL, 1 << 26, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		taken += 1 << 26;
	fwrite(&taken, sizeof(taken), 1, output);
}

static void test_memory(void **state)
{
	own(confined_end) struct confined child = start(eat, NULL);
	uint64_t taken;

	(void)state;
	assert_int_equal(confined_read(&child, &taken, sizeof(taken), soon(60 * SECOND)), 0);
	assert_in_range(taken, 1ull << 30, 3ull << 30);
}

/* Fills a pipe that is not read. */
static void flood(void *context, int fd, FILE *output)
{
	(void)context;
	(void)fd;
	for (;;)
		fwrite("flood", 5, 1, output);
}

static void test_unread(void **state)
{
	struct confined child = start(flood, NULL);
	char bytes[5];

	(void)state;
	assert_int_equal(confined_read(&child, bytes, 5, soon(60 * SECOND)), 0);
	confined_end(&child);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- beside threads that hold locks at the fork */

#define N_THREADS 4

static atomic_bool stop;
static atomic_int n_started;

/*
 * libc's fork() waits until no other thread is in malloc() or stdio. It cannot do so for the
 * malloc() of a sanitizer, whose locks a child may find taken for ever. So under one, all that a
 * stream and a thread allocate is allocated before the first child.
 */
static void *disturb(void *unused)
{
	FILE *sink = fopen("/dev/null", "w");

	(void)unused;
	if (sink && (fputc('\n', sink) == EOF || fflush(sink) == EOF)) {
		fclose(sink);
		sink = NULL;
	}
	n_started++;
	while (sink && !stop) {
		fprintf(sink, "%s %d", "something", 42);
#ifndef SANITIZED
		char *text = NULL;

		if (asprintf(&text, "%s %d", "something", 42) > 0)
			free(text);
#endif
	}
	if (sink)
		fclose(sink);
	return sink;
}

static void test_threads(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, disturb, NULL), 0);
	while (n_started < N_THREADS)
		sched_yield();
	for (int i = 0; i < N_CHILDREN; i++) {
		struct confined child = start(copy, "");
		char bytes[13];

		for (int part = 0; part < 10000; part++)
			assert_int_equal(confined_read(&child, bytes, 13, soon(60 * SECOND)), 0);
		confined_end(&child);
	}
	stop = true;
	for (int i = 0; i < N_THREADS; i++) {
		void *worked = NULL;

		pthread_join(threads[i], &worked);
		assert_non_null(worked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),	cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_crash),	cmocka_unit_test(test_loop),
		cmocka_unit_test(test_memory),	cmocka_unit_test(test_unread),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
