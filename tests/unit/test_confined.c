// SPDX-License-Identifier: GPL-2.0-or-later
/* Confined children: their work, their limits, and how we survive their failures. */
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "confined/confined.h"
#include "confined/rights.h"

/* A sanitized process takes long to fork and to exit. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#define N_CHILDREN 5
#else
#define N_CHILDREN 50
#endif

#define SOMEBODY 1001		     /* a uid */
#define RENEW_NS (8 * NS_PER_SECOND) /* longer than a busy machine delays a test */

static int a_file(void)
{
	int fd = memfd_create("confined", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "what is in it", 13), 13);
	return fd;
}

static struct confined *some_children(const struct confined_limits *limits)
{
	struct confined *confined;

	assert_int_equal(confined_new(limits, &confined), 0);
	return confined;
}

/* Starts a call with a file and a request; returns the result of confined_begin(). */
static int begin(struct confined *confined, confined_work *work, uid_t owner, const void *request,
		 size_t size, struct confined_child **ret_child)
{
	own(own_fd) int fd = a_file();
	const struct iovec part = { (void *)request, size };
	const struct confined_call call = {
		.work = work, .owner = owner, .fds = &fd, .n_fds = 1, .request = &part, .n_parts = 1
	};

	return confined_begin(confined, &call, ret_child);
}

/* ---- work */

static int copy(const struct confined_job *job)
{
	char bytes[64];
	ssize_t n = pread(job->fds[0], bytes, sizeof(bytes), 0);

	for (int i = 0; i < 10000; i++) {
		char *block = malloc((size_t)(i % 512) * 16 + 1);

		if (!block)
			return -ENOMEM;
		confined_send(job, bytes, (size_t)n);
		free(block);
	}
	confined_send(job, job->request, job->size);
	return job->fds[1] == -1 ? 0 : -EBADF;
}

static void expect_copies(struct confined_child *child)
{
	char bytes[14] = "";

	for (int i = 0; i < 10000; i++) {
		assert_int_equal(confined_read(child, bytes, 13), 0);
		assert_string_equal(bytes, "what is in it");
	}
}

static void test_answers(void **state)
{
	own(own_confined_free) struct confined *confined = some_children(&confined_limits_default);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct confined_child *child;
		char bytes[8] = "";

		assert_int_equal(begin(confined, copy, 0, "the end", 7, &child), 0);
		expect_copies(child);
		assert_int_equal(confined_read(child, bytes, 7), 0);
		assert_string_equal(bytes, "the end");
		if (i == 0)
			assert_int_equal(confined_read(child, bytes, 1), -ENODATA);
		assert_int_equal(confined_finish(child), 0);
	}
	assert_int_equal(confined_losses(confined).crashed, 0);
}

static int sum(const struct confined_job *job)
{
	const uint8_t *bytes = job->request;
	uint64_t all = 0;

	for (size_t i = 0; i < job->size; i++)
		all += bytes[i];
	confined_send(job, &all, sizeof(all));
	return -EDOM;
}

/* Requests larger than a socket's buffer; and an error of the work behind its answer. */
static void test_large_requests(void **state)
{
	own(own_confined_free) struct confined *confined = some_children(&confined_limits_default);
	const size_t size = 20 << 20;
	own(own_free) uint8_t *bytes = malloc(size);
	struct confined_child *child;
	uint64_t all;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 3, size);
	assert_int_equal(begin(confined, sum, 0, bytes, size, &child), 0);
	assert_int_equal(confined_read(child, &all, sizeof(all)), 0);
	assert_int_equal(all, 3 * size);
	assert_int_equal(confined_finish(child), -EDOM);
}

/* getpid() is refused. The child must be allowed to open files. */
static int send_pid(const struct confined_job *job)
{
	own(own_fd) int fd = open("/proc/self/stat", O_RDONLY);
	char text[16] = "";
	pid_t pid;

	if (read(fd, text, sizeof(text) - 1) <= 0)
		return -errno;
	pid = atoi(text);
	confined_send(job, &pid, sizeof(pid));
	return 0;
}

static pid_t pid_of(struct confined *confined, uid_t owner)
{
	struct confined_child *child;
	pid_t pid;

	assert_int_equal(begin(confined, send_pid, owner, "", 0, &child), 0);
	assert_int_equal(confined_read(child, &pid, sizeof(pid)), 0);
	assert_int_equal(confined_finish(child), 0);
	return pid;
}

static void test_owners(void **state)
{
	const struct confined_limits limits = { .call_ns = NS_PER_SECOND,
						.owner_ns = NS_PER_SECOND,
						.others_ns = NS_PER_SECOND,
						.renew_ns = RENEW_NS,
						.answers = 1 << 20,
						.bytes = 1 << 30,
						.may_open = true };
	own(own_confined_free) struct confined *confined = some_children(&limits);
	pid_t of_root = pid_of(confined, 0);

	(void)state;
	assert_int_not_equal(pid_of(confined, SOMEBODY), of_root);
	assert_int_equal(pid_of(confined, 0), of_root);
	/* A child that ended between two calls is replaced. */
	kill(of_root, SIGKILL);
	while (kill(of_root, 0) == 0 && waitpid(of_root, NULL, WNOHANG) == 0)
		sched_yield();
	assert_int_not_equal(pid_of(confined, 0), of_root);
}

static void test_owner_of_files(void **state)
{
	char path[] = "/tmp/stacktally-unit-XXXXXX";
	own(own_fd) int fd = mkstemp(path);
	own(own_fd) int memory = a_file();

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_int_equal(confined_owner(fd), geteuid());
	assert_int_equal(fchmod(fd, 0664), 0);
	assert_int_equal(confined_owner(fd), CONFINED_ANYBODY);
	assert_int_equal(fchmod(fd, 0602), 0);
	assert_int_equal(confined_owner(fd), CONFINED_ANYBODY);
	assert_int_equal(confined_owner(memory), CONFINED_ANYBODY);
}

/* ---- refusals */

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

static int try_all(const struct confined_job *job)
{
	const struct places *places = job->request;
	char *const none[] = { NULL };
	char worked[N_ATTEMPTS], byte;

	for (int i = 0; i < N_ATTEMPTS; i++)
		worked[i] = 0;
	worked[WRITE_FILE] = open(places->plain, O_RDWR) >= 0 ||
			     open("/tmp/stacktally-confined", O_CREAT | O_WRONLY, 0600) >= 0;
	worked[WRITE_INPUT] = write(job->fds[0], "x", 1) == 1;
	for (int each = 1; each < 256; each++) {
		if (each == job->fds[0])
			continue;
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
	confined_send(job, worked, sizeof(worked));
	return 0;
}

static void make_file(const char *path, mode_t mode)
{
	own(own_fd) int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

/* Sets worked[] for the attempts that succeed in a child with these limits. */
static void try_in_child(const struct confined_limits *limits, const struct places *places,
			 char worked[N_ATTEMPTS])
{
	own(own_confined_free) struct confined *confined = some_children(limits);
	struct confined_child *child;

	assert_int_equal(begin(confined, try_all, 0, places, sizeof(*places), &child), 0);
	assert_int_equal(confined_read(child, worked, N_ATTEMPTS), 0);
	assert_int_equal(confined_finish(child), 0);
	for (int i = 0; i < OPEN_SECRET; i++) {
		if (worked[i])
			fail_msg("attempt %d worked", i);
	}
}

static void test_refusals(void **state)
{
	struct places places = { "/tmp/stacktally-unit-XXXXXX", "", "" };
	struct confined_limits limits = confined_limits_default;
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
	try_in_child(&limits, &places, worked);
	assert_int_equal(worked[OPEN_SECRET], 0);
	assert_int_equal(worked[OPEN_PLAIN], 0);
	limits.may_open = true;
	try_in_child(&limits, &places, worked);
	/* Only the children of root change their user. */
	assert_int_equal(worked[OPEN_SECRET], geteuid() != 0);
	assert_int_equal(worked[OPEN_PLAIN], 1);
	unlink(places.secret);
	unlink(places.plain);
	rmdir(places.directory);
}

/* ---- ends */

static int crash(const struct confined_job *job)
{
	char piece[70000] = "some"; /* more than one piece, so that the first one is sent */

	confined_send(job, piece, sizeof(piece));
	abort();
}

/* What a child that copies a file can still do: the results, each 0 or an errno. */
struct copying {
	int kept, read, written, beyond, elsewhere, opened, asked;
};

static int error_of(long r)
{
	return r < 0 ? errno : 0;
}

static _Noreturn void copy_and_try(int from, int copy, int reply)
{
	struct copying can;
	char bytes[4];

	signal(SIGXFSZ, SIG_IGN);
	can.kept = rights_keep_copying(copy, sizeof(bytes), reply);
	can.read = error_of(pread(from, bytes, sizeof(bytes), 0));
	can.written = error_of(pwrite(copy, bytes, sizeof(bytes), 0));
	can.beyond = error_of(pwrite(copy, bytes, 1, sizeof(bytes)));
	can.elsewhere = error_of(pwrite(from, bytes, 1, 0));
	can.opened = error_of(open("/dev/null", O_RDONLY | O_CLOEXEC));
	can.asked = error_of(syscall(SYS_getuid));
	if (write(reply, &can, sizeof(can)) < 0)
		_exit(1);
	_exit(0);
}

static void test_copying(void **state)
{
	int from = a_file(), copy = memfd_create("copy", MFD_CLOEXEC), ends[2];
	struct copying can;
	char bytes[8];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		copy_and_try(from, copy, ends[1]);
	assert_int_equal(read(ends[0], &can, sizeof(can)), (ssize_t)sizeof(can));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(can.kept, 0);
	assert_int_equal(can.read, 0);
	assert_int_equal(can.written, 0);
	assert_int_equal(can.beyond, EFBIG);
	assert_int_equal(can.elsewhere, EPERM);
	assert_int_equal(can.opened, EPERM);
	assert_int_equal(can.asked, EPERM);
	assert_int_equal(pread(copy, bytes, sizeof(bytes), 0), 4);
	assert_memory_equal(bytes, "what", 4);
	close(from);
	close(copy);
	close(ends[0]);
	close(ends[1]);
}

static void test_crash(void **state)
{
	own(own_confined_free) struct confined *confined = some_children(&confined_limits_default);
	struct confined_child *child;
	char bytes[4], more[70000];

	(void)state;
	assert_int_equal(begin(confined, crash, SOMEBODY, "", 0, &child), 0);
	assert_int_equal(confined_read(child, bytes, 4), 0);
	assert_memory_equal(bytes, "some", 4);
	assert_int_equal(confined_read(child, more, sizeof(more)), -EIO);
	assert_int_equal(confined_finish(child), -EIO);
	assert_int_equal(confined_losses(confined).crashed, 1);
	assert_int_equal(confined_losses(confined).owner, SOMEBODY);
	/* Another child makes the next call. */
	assert_int_equal(begin(confined, copy, SOMEBODY, "", 0, &child), 0);
	expect_copies(child);
	assert_int_equal(confined_finish(child), 0);
}

/* Ends as a child does that could not give up its rights, of which a file has made it lie. */
static int lie(const struct confined_job *job)
{
	char piece[70000] = "some";

	confined_send(job, piece, sizeof(piece));
	_exit(128 + EPERM);
}

static void test_lie(void **state)
{
	own(own_confined_free) struct confined *confined = some_children(&confined_limits_default);
	struct confined_child *child;
	char bytes[80000];

	(void)state;
	assert_int_equal(begin(confined, lie, SOMEBODY, "", 0, &child), 0);
	assert_int_equal(confined_read(child, bytes, sizeof(bytes)), -EIO);
	assert_int_equal(confined_finish(child), -EIO);
	assert_int_equal(begin(confined, copy, SOMEBODY, "", 0, &child), 0);
	expect_copies(child);
	assert_int_equal(confined_finish(child), 0);
	assert_int_equal(confined_losses(confined).unconfined, 0);
	assert_int_equal(confined_losses(confined).crashed, 1);
}

static int loop(const struct confined_job *job)
{
	volatile uint64_t i = 0;

	while (job)
		i++;
	return 0;
}

/* One owner runs out of time, the others do not; after a while it has time again. */
static void test_loop(void **state)
{
	const struct confined_limits limits = { .call_ns = NS_PER_SECOND,
						.owner_ns = NS_PER_SECOND / 2,
						.others_ns = NS_PER_SECOND,
						.renew_ns = RENEW_NS,
						.answers = 1 << 20,
						.bytes = 1 << 30,
						.may_open = true };
	own(own_confined_free) struct confined *confined = some_children(&limits);
	pid_t pid = pid_of(confined, SOMEBODY);
	uint64_t start = monotonic_ns();
	struct confined_child *child;
	char byte;

	(void)state;
	assert_int_equal(begin(confined, loop, SOMEBODY, "", 0, &child), 0);
	assert_int_equal(confined_read(child, &byte, 1), -ETIMEDOUT);
	assert_int_equal(confined_finish(child), -ETIMEDOUT);
	assert_true(monotonic_ns() - start >= limits.owner_ns);
	assert_true(confined_cpu_ns(confined) > 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(begin(confined, copy, SOMEBODY, "", 0, &child), -EDQUOT);
	assert_int_equal(confined_losses(confined).refused, 2);
	assert_int_equal(confined_losses(confined).owner, SOMEBODY);
	pid_of(confined, SOMEBODY + 1);
	pid_of(confined, 0);
	while (monotonic_ns() - start < limits.renew_ns)
		usleep(10000);
	pid_of(confined, SOMEBODY);
}

/* All owners together have a limit, too. */
static void test_many_owners(void **state)
{
	const struct confined_limits limits = { .call_ns = NS_PER_SECOND / 4,
						.owner_ns = NS_PER_SECOND,
						.others_ns = NS_PER_SECOND / 2,
						.renew_ns = RENEW_NS,
						.answers = 1 << 20,
						.bytes = 1 << 30,
						.may_open = true };
	own(own_confined_free) struct confined *confined = some_children(&limits);
	struct confined_child *child;
	int n = 0;

	(void)state;
	while (begin(confined, loop, SOMEBODY + (uid_t)n, "", 0, &child) == 0) {
		assert_int_equal(confined_finish(child), -ETIMEDOUT);
		assert_true(++n < 10);
	}
	assert_in_range(n, 1, 2);
	pid_of(confined, 0);
}

/* Allocates until an allocation fails. */
static int eat(const struct confined_job *job)
{
	uint64_t taken = 0;

	while (taken < 64ull << 30 && mmap(NULL, 1 << 26, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		taken += 1 << 26;
	confined_send(job, &taken, sizeof(taken));
	return 0;
}

static void test_memory(void **state)
{
	own(own_confined_free) struct confined *confined = some_children(&confined_limits_default);
	struct confined_child *child;
	uint64_t taken;

	(void)state;
	assert_int_equal(begin(confined, eat, 0, "", 0, &child), 0);
	assert_int_equal(confined_read(child, &taken, sizeof(taken)), 0);
	assert_in_range(taken, confined_limits_default.bytes / 2, confined_limits_default.bytes);
	assert_int_equal(confined_finish(child), 0);
}

/* Answers how many calls this child has had. */
static int count_calls(const struct confined_job *job)
{
	static uint32_t calls;

	calls++;
	confined_send(job, &calls, sizeof(calls));
	return 0;
}

static uint32_t calls_of_child(struct confined *confined)
{
	struct confined_child *child;
	uint32_t calls = 0;

	assert_int_equal(begin(confined, count_calls, 0, "", 0, &child), 0);
	assert_int_equal(confined_read(child, &calls, sizeof(calls)), 0);
	assert_int_equal(confined_finish(child), 0);
	return calls;
}

/* Children that share much memory end, others stay. For a sanitizer's sake, all stay there. */
static void test_rest(void **state)
{
	own(own_confined_free) struct confined *small = some_children(&confined_limits_default);
	own(own_confined_free) struct confined *large = some_children(&confined_limits_default);
	const size_t size = 32 << 20;
	own(own_free) char *memory = NULL;
	uint32_t first = 1;

	(void)state;
	assert_int_equal(calls_of_child(small), 1);
	confined_retire(small);
	assert_int_equal(calls_of_child(small), 2);
	memory = malloc(size);
	assert_non_null(memory);
	for (size_t i = 0; i < size; i += 1024)
		*(volatile char *)&memory[i] = 1;
	assert_int_equal(calls_of_child(large), 1);
	assert_int_equal(calls_of_child(large), 2);
	confined_retire(large);
	confined_retire(large);
	confined_retire(small);
#ifdef SANITIZED
	first = 3;
#endif
	assert_int_equal(calls_of_child(large), first);
	assert_int_equal(calls_of_child(small), 3);
	assert_int_equal(confined_losses(large).crashed, 0);
}

/* Sends an endless answer. */
static int flood(const struct confined_job *job)
{
	while (job)
		confined_send(job, "flood", 5);
	return 0;
}

static void test_unread(void **state)
{
	struct confined *confined = some_children(&confined_limits_default);
	struct confined_child *child;
	char bytes[5];

	(void)state;
	assert_int_equal(begin(confined, flood, 0, "", 0, &child), 0);
	assert_int_equal(confined_read(child, bytes, 5), 0);
	assert_int_equal(confined_finish(child), -EPROTO);
	assert_int_equal(begin(confined, flood, 0, "", 0, &child), 0);
	assert_int_equal(confined_read(child, bytes, 5), 0);
	confined_free(confined);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_flood_ends(void **state)
{
	const struct confined_limits limits = { .call_ns = NS_PER_SECOND / 5, .bytes = 1 << 30 };
	own(own_confined_free) struct confined *confined = some_children(&limits);
	struct confined_child *child;
	char bytes[5];
	int r;

	(void)state;
	assert_int_equal(begin(confined, flood, 0, "", 0, &child), 0);
	do {
		r = confined_read(child, bytes, 5);
	} while (r == 0);
	assert_int_equal(r, -ETIMEDOUT);
	assert_int_equal(confined_finish(child), -ETIMEDOUT);
}

/* ---- forks while other threads hold locks */

#define N_THREADS 4

static atomic_bool stop;
static atomic_int n_started;

/*
 * libc's fork() waits until no other thread is in malloc() or stdio, but not for the malloc() of a
 * sanitizer: a child may find its locks taken for ever. Therefore a sanitized test allocates
 * streams and threads before the first child.
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
		struct confined *confined = some_children(&confined_limits_default);
		struct confined_child *child;

		assert_int_equal(begin(confined, copy, 0, "", 0, &child), 0);
		expect_copies(child);
		assert_int_equal(confined_finish(child), 0);
		confined_free(confined);
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
		cmocka_unit_test(test_rest), /* first: while this process is small */
		cmocka_unit_test(test_answers),	   cmocka_unit_test(test_large_requests),
		cmocka_unit_test(test_owners),	   cmocka_unit_test(test_owner_of_files),
		cmocka_unit_test(test_refusals),   cmocka_unit_test(test_copying),
		cmocka_unit_test(test_crash),	   cmocka_unit_test(test_lie),
		cmocka_unit_test(test_loop),	   cmocka_unit_test(test_many_owners),
		cmocka_unit_test(test_memory),	   cmocka_unit_test(test_unread),
		cmocka_unit_test(test_flood_ends), cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
