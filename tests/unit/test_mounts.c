// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of our own mounts, by descriptors. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/mounts.h"

static uint64_t id_in_proc(int fd)
{
	char path[64], line[256];
	unsigned long long id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "mnt_id: %llu", &id) != 1)
		;
	if (file)
		fclose(file);
	return id;
}

/* Of file systems with handles for files, and without: as /proc has them. */
static void test_ids(void **state)
{
	static const char *const paths[] = { "/",	 "/proc/self", "/sys", "/dev",
					     "/dev/shm", "/tmp",       "/run" };
	int pipes[2];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_PATH | O_CLOEXEC);

		if (fd < 0)
			continue;
		assert_int_equal(mounts_id(fd), id_in_proc(fd));
		close(fd);
	}
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(mounts_id(pipes[0]), id_in_proc(pipes[0]));
	close(pipes[0]);
	close(pipes[1]);
}

static void test_ours(void **state)
{
	int fds[] = { open("/", O_PATH), memfd_create("test", 0), open("/proc/self/maps", O_PATH) };
	struct mounts *mounts;

	(void)state;
	assert_int_equal(mounts_new(&mounts), 0);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		assert_true(fds[i] >= 0);
		assert_int_not_equal(mounts_id(fds[i]), MOUNT_ID_NONE);
		assert_int_equal(mounts_kind(mounts, fds[i], -1), MOUNT_LOCAL);
		assert_int_equal(mounts_kind(mounts, fds[i], -1), MOUNT_LOCAL);
		close(fds[i]);
	}
	assert_int_equal(mounts_id(-1), MOUNT_ID_NONE);
	assert_non_null(mounts_own_remote_points(mounts));
	mounts_free(mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
