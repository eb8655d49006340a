// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of our own mounts, by descriptors. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/mounts.h"

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
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
