// SPDX-License-Identifier: GPL-2.0-or-later
/* Kinds of mounts and of paths, from texts as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/mountinfo.h"

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

/* The kind of the mount `id` in the text, with our root directory on the mount `root`. */
static enum mount_kind kind_in(const char *text, uint64_t id, uint64_t root)
{
	struct mountinfo_own own = mountinfo_own_parse(text, root);
	enum mount_kind kind = mountinfo_kind(text, id, &own);

	mountinfo_own_clear(&own);
	return kind;
}

static enum mount_kind kind(uint64_t id, uint64_t root)
{
	return kind_in(OWN, id, root);
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
	assert_int_equal(kind(99, 0), MOUNT_UNKNOWN); /* absent */
	assert_int_equal(kind(40, 40), MOUNT_LOCAL);  /* our root */
}

static void test_overlays(void **state)
{
	(void)state;
	assert_int_equal(kind(50, 0), MOUNT_LOCAL);
	assert_int_equal(kind(51, 0), MOUNT_REMOTE);
	assert_int_equal(kind(52, 0), MOUNT_REMOTE); /* a layer of its layer is remote */
	assert_int_equal(kind(53, 0), MOUNT_REMOTE);
	assert_int_equal(kind(54, 0), MOUNT_REMOTE);
	assert_int_equal(kind(55, 0), MOUNT_REMOTE);
	assert_int_equal(kind(56, 0), MOUNT_LOCAL); /* /srv/share is another directory */
}

/* In another namespace the layers' paths may lead elsewhere, unless the overlay is ours, too. */
static void test_overlays_of_other_namespaces(void **state)
{
	static const char other[] =
		"7 1 0:60 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/a:/usr\n"
		"8 1 0:67 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/a:/usr\n"
		"9 1 0:6 / / rw - overlay overlay rw,lowerdir=/usr\n";
	struct mountinfo_own own = mountinfo_own_parse(OWN, 0);

	(void)state;
	assert_int_equal(mountinfo_kind(other, 7, &own), MOUNT_LOCAL);
	assert_int_equal(mountinfo_kind(other, 8, &own), MOUNT_REMOTE);
	assert_int_equal(mountinfo_kind(other, 9, &own), MOUNT_REMOTE);
	mountinfo_own_clear(&own);
}

/* An overlay whose layers are below itself, as when our root is one. */
static void test_overlay_of_itself(void **state)
{
	static const char text[] = "7 1 0:9 / / rw - overlay overlay rw,lowerdir=/x,upperdir=/y\n";

	(void)state;
	assert_int_equal(kind_in(text, 7, 7), MOUNT_LOCAL);
	assert_int_equal(kind_in(text, 7, 0), MOUNT_REMOTE);
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
		assert_int_equal(kind_in(texts[i], 7, 0), MOUNT_UNKNOWN);
	/* Cut at every byte. */
	for (size_t n = 0; n < sizeof(OWN); n++) {
		char *cut = strndup(OWN, n);

		kind_in(cut, 52, 0);
		free(cut);
	}
}

static void test_paths(void **state)
{
	static const char points[] = "/srv/share\n/home/me/\\040far\n/x\n";

	(void)state;
	assert_true(mountinfo_path_is_local("", "/usr/bin/cat"));
	assert_true(mountinfo_path_is_local(points, "/usr/bin/cat"));
	assert_true(mountinfo_path_is_local(points, "tmp"));
	assert_false(mountinfo_path_is_local(points, "/srv/share"));
	assert_false(mountinfo_path_is_local(points, "srv/share"));
	assert_false(mountinfo_path_is_local(points, "/srv/share/bin/program"));
	assert_true(mountinfo_path_is_local(points, "/srv/shared/program"));
	assert_true(mountinfo_path_is_local(points, "/srv"));
	assert_false(mountinfo_path_is_local(points, "/x/y"));
	assert_true(mountinfo_path_is_local(points, "/xy"));
	assert_false(mountinfo_path_is_local(points, "/home/me/ far/program"));
	assert_true(mountinfo_path_is_local(points, "/home/you"));
	assert_false(mountinfo_path_is_local("/\n", "/usr/bin/cat")); /* the root itself */
	assert_false(mountinfo_path_is_local(NULL, "/usr/bin/cat"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_overlays),
		cmocka_unit_test(test_overlays_of_other_namespaces),
		cmocka_unit_test(test_overlay_of_itself),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
