// SPDX-License-Identifier: GPL-2.0-or-later
/* Which mounts can stop answering, by texts as the kernel writes them, and by our own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/mounts.h"

static const char OWN[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
	"40 27 0:50 / /srv/share rw shared:7 master:3 - nfs4 host:/share rw,vers=4.2\n"
	"41 27 0:51 / /home/me/\\040far rw - fuse.sshfs me@host: rw,user_id=0\n"
	"42 27 0:52 / /var/lib/docker rw - xfs /dev/vdb rw\n"
	"50 27 0:60 / /near rw - overlay overlay "
	"rw,lowerdir=/var/lib/docker/a:/usr,upperdir=/tmp/u,"
	"workdir=/tmp/w\n"
	"51 27 0:61 / /far rw - overlay overlay rw,lowerdir=/usr:/srv/share/layer,upperdir=/tmp/u\n"
	"52 27 0:62 / /farther rw - overlay overlay rw,lowerdir=/near:/far\n"
	"53 27 0:63 / /odd rw - overlay overlay rw,lowerdir=a:b\n"
	"54 27 0:64 / /escaped rw - overlay overlay rw,lowerdir=/a\\:b\n"
	"55 27 0:65 / /none rw - overlay overlay rw\n"
	"56 27 0:66 / /shared rw - overlay overlay rw,lowerdir=/srv/sharea\n"
	"60 27 0:70 / /new rw - 9p share rw\n"
	"61 27 0:71 / /disk rw - fuseblk /dev/sdb1 rw\n";

static enum mount_kind kind(uint64_t id, uint64_t trusted)
{
	return mounts_kind_in(OWN, OWN, id, trusted);
}

static void test_types(void **state)
{
	(void)state;
	assert_int_equal(kind(22, 0), MOUNT_LOCAL);
	assert_int_equal(kind(27, 0), MOUNT_LOCAL);
	assert_int_equal(kind(40, 0), MOUNT_REMOTE);
	assert_int_equal(kind(41, 0), MOUNT_REMOTE);
	assert_int_equal(kind(61, 0), MOUNT_REMOTE);
	assert_int_equal(kind(60, 0), MOUNT_UNKNOWN);
	assert_int_equal(kind(99, 0), MOUNT_UNKNOWN); /* not there */
	assert_int_equal(kind(40, 40), MOUNT_LOCAL);  /* our root */
}

static void test_overlays(void **state)
{
	(void)state;
	assert_int_equal(kind(50, 0), MOUNT_LOCAL);
	assert_int_equal(kind(51, 0), MOUNT_REMOTE);
	assert_int_equal(kind(52, 0), MOUNT_REMOTE); /* one of its layers is over another mount */
	assert_int_equal(kind(53, 0), MOUNT_REMOTE);
	assert_int_equal(kind(54, 0), MOUNT_REMOTE);
	assert_int_equal(kind(55, 0), MOUNT_REMOTE);
	assert_int_equal(kind(56, 0), MOUNT_LOCAL); /* /srv/share is another directory */
}

/* An overlay over itself, as where our root is one. */
static void test_overlay_of_itself(void **state)
{
	static const char text[] = "7 1 0:9 / / rw - overlay overlay rw,lowerdir=/x,upperdir=/y\n";

	(void)state;
	assert_int_equal(mounts_kind_in(text, text, 7, 7), MOUNT_LOCAL);
	assert_int_equal(mounts_kind_in(text, text, 7, 0), MOUNT_REMOTE);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "7",
					     "7 1 0:9 / / rw -",
					     "7 1 0:9 / / rw - \n",
					     "x y z",
					     "7 1 0:9 / / rw shared:1" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(mounts_kind_in(texts[i], texts[i], 7, 0), MOUNT_UNKNOWN);
	/* Cut anywhere. */
	for (size_t n = 0; n < sizeof(OWN); n++) {
		char *cut = strndup(OWN, n);

		mounts_kind_in(cut, cut, 52, 0);
		free(cut);
	}
}

static void test_paths(void **state)
{
	static const char points[] = "/srv/share\n/home/me/\\040far\n/x\n";

	(void)state;
	assert_true(mounts_path_is_local("", "/usr/bin/cat"));
	assert_true(mounts_path_is_local(points, "/usr/bin/cat"));
	assert_true(mounts_path_is_local(points, "tmp"));
	assert_false(mounts_path_is_local(points, "/srv/share"));
	assert_false(mounts_path_is_local(points, "srv/share"));
	assert_false(mounts_path_is_local(points, "/srv/share/bin/program"));
	assert_true(mounts_path_is_local(points, "/srv/shared/program"));
	assert_true(mounts_path_is_local(points, "/srv"));
	assert_false(mounts_path_is_local(points, "/x/y"));
	assert_true(mounts_path_is_local(points, "/xy"));
	assert_false(mounts_path_is_local(points, "/home/me/ far/program"));
	assert_true(mounts_path_is_local(points, "/home/you"));
	assert_false(mounts_path_is_local("/\n", "/usr/bin/cat")); /* the root itself */
	assert_false(mounts_path_is_local(NULL, "/usr/bin/cat"));
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
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_overlays),
		cmocka_unit_test(test_overlay_of_itself),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
