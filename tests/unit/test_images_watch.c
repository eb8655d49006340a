// SPDX-License-Identifier: GPL-2.0-or-later
/* The callbacks of struct images_watch, on records and on reads of /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/images_events.h"

#define NOBODY 0x3ffffff0 /* above the kernel's largest process id */

static struct {
	struct images *images;
	char heard[1000];
	pid_t listed;
	uint32_t n_listed;
} watched;

static void on_changed(void *context, pid_t tgid)
{
	assert_ptr_equal(context, &watched);
	sprintf(watched.heard + strlen(watched.heard), "changed %d, ", tgid - NOBODY);
}

static void on_forked(void *context, pid_t child, pid_t parent)
{
	assert_ptr_equal(context, &watched);
	sprintf(watched.heard + strlen(watched.heard), "forked %d %d, ", child - NOBODY,
		parent - NOBODY);
}

static void on_ended(void *context, pid_t tgid)
{
	assert_ptr_equal(context, &watched);
	sprintf(watched.heard + strlen(watched.heard), "ended %d, ", tgid - NOBODY);
}

static void assert_heard(const char *what)
{
	assert_string_equal(watched.heard, what);
	watched.heard[0] = '\0';
}

static int setup(void **state)
{
	const struct images_watch watch = {
		.changed = on_changed,
		.forked = on_forked,
		.ended = on_ended,
		.context = &watched,
	};

	(void)state;
	memset(&watched, 0, sizeof(watched));
	assert_int_equal(images_new(NULL, &watched.images), 0);
	images_set_watch(watched.images, &watch);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	images_free(watched.images);
	return 0;
}

static void map(pid_t tgid, uint64_t time, uint64_t start)
{
	const struct mapping_record record = {
		.tgid = tgid,
		.time = time,
		.start = start,
		.end = start + 4096,
		.name = "//anon",
		.name_size = 6,
	};

	assert_int_equal(images_mmap(watched.images, &record), 0);
}

static void test_records(void **state)
{
	const struct mapping *mappings;
	uint32_t n = 77;

	(void)state;
	map(NOBODY, 5, 0x10000); /* not known: no call */
	assert_heard("");
	assert_null(images_current(watched.images, NOBODY, &n));
	assert_int_equal(n, 77);
	assert_int_equal(images_exec(watched.images, NOBODY, 10), 0);
	assert_heard("changed 0, ");
	assert_non_null(images_current(watched.images, NOBODY, &n));
	assert_int_equal(n, 0);
	map(NOBODY, 11, 0x20000);
	map(NOBODY, 12, 0x40000);
	assert_heard("changed 0, changed 0, ");
	mappings = images_current(watched.images, NOBODY, &n);
	assert_int_equal(n, 2);
	assert_int_equal(mappings[1].start, 0x40000);

	assert_int_equal(images_fork(watched.images, NOBODY + 1, NOBODY, 20), 0);
	assert_heard("forked 1 0, ");
	images_current(watched.images, NOBODY + 1, &n);
	assert_int_equal(n, 2);
	map(NOBODY + 1, 21, 0x80000);
	assert_heard("changed 1, ");
	/* The record comes late: the child has its parent's mappings of that time. */
	map(NOBODY, 30, 0x20000);
	assert_heard("changed 0, ");

	assert_int_equal(images_exec(watched.images, NOBODY + 1, 40), 0);
	assert_heard("changed 1, ");
	images_exit(watched.images, NOBODY + 1, 50);
	assert_heard("ended 1, ");
	assert_null(images_current(watched.images, NOBODY + 1, &n));
	map(NOBODY + 1, 51, 0x10000);
	images_exit(watched.images, NOBODY + 1, 52);
	assert_heard("");

	/* The id is reused, and the record of the exit was lost. */
	assert_int_equal(images_fork(watched.images, NOBODY, NOBODY + 2, 60), 0);
	assert_heard("ended 0, ");
	images_set_watch(watched.images, NULL);
	assert_int_equal(images_exec(watched.images, NOBODY, 70), 0);
	assert_heard("");
}

static void on_listed(void *context, pid_t tgid)
{
	assert_ptr_equal(context, &watched);
	watched.n_listed++;
	watched.listed = tgid;
}

static void test_look(void **state)
{
	pid_t child = fork();
	char wanted[64];
	uint32_t image, n;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	images_each(watched.images, on_listed, &watched);
	assert_int_equal(watched.n_listed, 0);
	assert_int_equal(images_at(watched.images, child, 0, UINT64_MAX, &image), 0);
	snprintf(wanted, sizeof(wanted), "changed %d, ", child - NOBODY);
	assert_heard(wanted);
	assert_non_null(images_current(watched.images, child, &n));
	assert_true(n > 3);
	images_each(watched.images, on_listed, &watched);
	assert_int_equal(watched.n_listed, 1);
	assert_int_equal(watched.listed, child);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_look, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
