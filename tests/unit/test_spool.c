// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "push/spool.h"

#define KB 1024

static char directory[64];

static int make(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/spool-test.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int clean(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static struct spool *open_spool(const char *where, uint64_t bytes)
{
	struct spool *spool = NULL;

	assert_int_equal(spool_open(where, bytes, "pprof", &spool, NULL), 0);
	return spool;
}

static void add(struct spool *spool, uint64_t start, size_t size)
{
	char *body = calloc(1, size);

	snprintf(body, size, "%llu", (unsigned long long)start);
	assert_int_equal(spool_add(spool, start, body, size), 0);
	free(body);
}

/* Takes the oldest, which must be this one. */
static void expect(struct spool *spool, uint64_t start)
{
	uint64_t size = 0;
	char text[32] = "";
	int fd = spool_take(spool, &size);

	assert_true(fd >= 0);
	assert_true(size >= sizeof(text));
	assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), sizeof(text) - 1);
	assert_int_equal(strtoull(text, NULL, 10), start);
}

static void oldest_first(void **state)
{
	own(own_spool_close) struct spool *spool = open_spool(NULL, 0);
	uint64_t size;

	(void)state;
	assert_int_equal(spool_take(spool, &size), -1);
	add(spool, 20, KB);
	add(spool, 10, KB);
	add(spool, 30, KB);
	expect(spool, 10);
	add(spool, 5, KB); /* older, but one is being sent */
	spool_return(spool);
	expect(spool, 10);
	spool_done(spool);
	expect(spool, 5);
	spool_done(spool);
	expect(spool, 20);
	spool_done(spool);
	assert_int_equal(spool_n(spool), 1);
	assert_int_equal(spool_bytes(spool), KB);
}

static void memory_is_bounded(void **state)
{
	own(own_spool_close) struct spool *spool = open_spool(NULL, 0);

	(void)state;
	for (uint64_t i = 1; i <= 40; i++)
		add(spool, i, 1 << 20);
	assert_int_equal(spool_bytes(spool), SPOOL_MEMORY_MAX);
	assert_int_equal(spool_losses(spool)->dropped, 24);
	assert_int_equal(spool_losses(spool)->dropped_bytes, 24 << 20);
	expect(spool, 25);
	/* What is being sent is not dropped. */
	for (uint64_t i = 41; i <= 80; i++)
		add(spool, i, 1 << 20);
	spool_return(spool);
	assert_true(spool_bytes(spool) <= SPOOL_MEMORY_MAX);
}

static void files_are_bounded(void **state)
{
	struct spool *spool = open_spool(directory, 10 * KB);

	(void)state;
	for (uint64_t i = 1; i <= 30; i++) {
		add(spool, i, KB);
		spool_store(spool);
	}
	assert_int_equal(spool_n(spool), 10);
	assert_int_equal(spool_n_in_memory(spool), 0);
	assert_int_equal(spool_losses(spool)->dropped, 20);
	spool_close(spool);
	/* A smaller bound holds for what is found, too. */
	spool = open_spool(directory, 4 * KB);
	assert_int_equal(spool_n(spool), 4);
	expect(spool, 27);
	spool_close(spool);
}

static void what_is_sent_is_gone(void **state)
{
	struct spool *spool = open_spool(directory, 1 << 20);

	(void)state;
	add(spool, 1, KB);
	add(spool, 2, KB);
	add(spool, 3, KB);
	spool_store(spool);
	expect(spool, 1);
	spool_done(spool);
	expect(spool, 2);
	spool_return(spool);
	spool_close(spool);
	spool = open_spool(directory, 1 << 20);
	assert_int_equal(spool_n(spool), 2);
	expect(spool, 2);
	spool_close(spool);
}

/* Killed while it was sending, or writing. */
static void what_may_have_been_sent(void **state)
{
	char path[128], sent[140];
	struct spool *spool = open_spool(directory, 1 << 20);

	(void)state;
	add(spool, 1, KB);
	spool_store(spool);
	spool_close(spool);
	snprintf(path, sizeof(path), "%s/%020d.pprof", directory, 1);
	snprintf(sent, sizeof(sent), "%s.sent", path);
	assert_int_equal(rename(path, sent), 0);
	snprintf(path, sizeof(path), "%s/new", directory);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/%020d.pprof", directory, 2);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/%020d.otlp", directory, 3);
	assert_int_equal(mkdir(path, 0700), 0);
	spool = open_spool(directory, 1 << 20);
	assert_int_equal(spool_n(spool), 0);
	assert_int_equal(spool_losses(spool)->unanswered, 1);
	assert_int_equal(spool_losses(spool)->foreign, 2);
	assert_int_equal(access(sent, F_OK), -1);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	spool_close(spool);
}

static void unsafe_directories(void **state)
{
	struct spool *spool = NULL, *first;
	struct error err = { 0 };

	(void)state;
	first = open_spool(directory, 1 << 20);
	assert_true(spool_open(directory, 1 << 20, "pprof", &spool, &err) < 0);
	assert_non_null(strstr(err.text, "in use"));
	spool_close(first);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(spool_open(directory, 1 << 20, "pprof", &spool, &err), -EPERM);
	assert_true(spool_open("/proc/version", 1, "pprof", &spool, &err) < 0);
}

/* A file is removed from outside: the next one is taken, and the loss is counted. */
static void removed_file(void **state)
{
	struct spool *spool = open_spool(directory, 1 << 20);
	char path[128];

	(void)state;
	add(spool, 1, KB);
	add(spool, 2, KB);
	spool_store(spool);
	snprintf(path, sizeof(path), "%s/%020d.pprof", directory, 1);
	assert_int_equal(unlink(path), 0);
	expect(spool, 2);
	assert_int_equal(spool_losses(spool)->dropped, 1);
	spool_close(spool);
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, make, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_first),
		cmocka_unit_test(memory_is_bounded),
		in_directory(files_are_bounded),
		in_directory(what_is_sent_is_gone),
		in_directory(what_may_have_been_sent),
		in_directory(unsafe_directories),
		in_directory(removed_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
