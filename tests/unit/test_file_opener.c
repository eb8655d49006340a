// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths that may lead to mounts that do not answer. Reports of this kind: a measurement of seconds
 * whose names take ten times as long, where a container runs thousands of short programs.
 */
#include "files/file_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct data {
	char path[32];
	int directory;
	struct file_opener *opener;
};

/* The only child; 0: none. */
static pid_t only_child(void)
{
	char path[64];
	int one = 0, other, n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	if (!file)
		skip();
	n = fscanf(file, "%d %d", &one, &other);
	fclose(file);
	assert_true(n < 2);
	return n == 1 ? one : 0;
}

static int set_up(void **state)
{
	static struct data data;
	int fd;

	snprintf(data.path, sizeof(data.path), "/tmp/opener.XXXXXX");
	if (!mkdtemp(data.path))
		return 1;
	data.directory = open(data.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(data.directory, "there", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	*state = &data;
	return file_opener_new(&data.opener);
}

static int tear_down(void **state)
{
	struct data *data = *state;

	unlinkat(data->directory, "there", 0);
	rmdir(data->path);
	close(data->directory);
	file_opener_free(data->opener);
	return only_child() ? 1 : 0;
}

static int resolve(const struct data *data, const char *name)
{
	const struct file_way way = { .directory = data->directory,
				      .path = name,
				      .links = LINKS_REFUSED,
				      .process_dir = -1 };

	return file_opener_find(data->opener, &way);
}

static void many_paths_take_one_child(void **state)
{
	const struct data *data = *state;
	pid_t first = 0;

	for (int i = 0; i < 100; i++) {
		int fd = resolve(data, i % 2 ? "there" : "perf-1.map");

		if (i % 2) {
			assert_true(fd >= 0);
			assert_int_equal(faccessat(fd, "", F_OK, AT_EMPTY_PATH), 0);
			close(fd);
		} else {
			assert_int_equal(fd, -ENOENT);
		}
		first = first ? first : only_child();
		assert_true(first > 0);
		assert_int_equal(only_child(), first);
	}
	file_opener_rest(data->opener);
	assert_int_equal(only_child(), 0);
	file_opener_rest(data->opener);
}

static void a_child_that_was_killed_is_replaced(void **state)
{
	const struct data *data = *state;
	int fd = resolve(data, "there");
	pid_t child = only_child();

	assert_true(fd >= 0);
	close(fd);
	kill(child, SIGKILL);
	fd = resolve(data, "there");
	assert_true(fd < 0);
	fd = resolve(data, "there");
	assert_true(fd >= 0);
	close(fd);
	assert_int_not_equal(only_child(), child);
}

static void paths_of_any_length_are_bounded(void **state)
{
	const struct data *data = *state;
	char *path = malloc(10000);

	memset(path, 'a', 9999);
	path[9999] = '\0';
	assert_int_equal(resolve(data, path), -ENAMETOOLONG);
	path[4000] = '\0';
	assert_true(resolve(data, path) < 0);
	assert_int_equal(resolve(data, ""), -ENOENT);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(many_paths_take_one_child, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_that_was_killed_is_replaced, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(paths_of_any_length_are_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
