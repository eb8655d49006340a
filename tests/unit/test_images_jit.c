// SPDX-License-Identifier: GPL-2.0-or-later
/* Perf maps of real processes: of other users, and in other roots and namespaces. */
#include "image_children.h"

#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("SKIP: needs root to change users and roots\n");
	return false;
}

/* A new file: fs.protected_regular lets not even root write to another user's in /tmp. */
static void write_map(const char *path, uid_t owner)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1000 10 f\n", 10), 10);
	assert_int_equal(fchown(fd, owner, owner), 0);
	close(fd);
}

static void become_nobody(int from, int to, void *context)
{
	(void)context;
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		_exit(1);
	await(from);
	tell(to, become_nobody);
	await(from);
}

/* A perf map is trusted if the process's user or root owns it. */
static void test_owner_of_perf_map(void **state)
{
	struct place *place = *state;
	struct child child;
	char path[64];
	uint32_t image;
	int fd;

	if (!is_root())
		skip();
	child = start(become_nobody, NULL);
	step(&child);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)child.pid);
	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
	assert_int_equal(images_open_jit(place->images, image, JIT_FILE_PERF_MAP), -ENOENT);
	write_map(path, 65534);
	fd = images_open_jit(place->images, image, JIT_FILE_PERF_MAP);
	assert_true(fd >= 0);
	close(fd);
	write_map(path, 0);
	fd = images_open_jit(place->images, image, JIT_FILE_PERF_MAP);
	assert_true(fd >= 0);
	close(fd);
	write_map(path, 1234);
	assert_int_equal(images_open_jit(place->images, image, JIT_FILE_PERF_MAP), -EPERM);
	finish(&child);
	assert_int_equal(images_open_jit(place->images, image, JIT_FILE_PERF_MAP), -EPERM);
	write_map(path, 65534); /* the user is known after its end */
	fd = images_open_jit(place->images, image, JIT_FILE_PERF_MAP);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_true(images_open_jit(place->images, image, JIT_FILE_PERF_MAP) < 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_true(images_open_jit(place->images, image, JIT_FILE_PERF_MAP) < 0);
	alarm(0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(images_open_jit(place->images, IMAGE_NONE, JIT_FILE_PERF_MAP), -ESRCH);
}

/* Asking for a status opens nothing that a copy would have to be made of. */
static void test_status_of_perf_map(void **state)
{
	struct place *place = *state;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[64], event[512];
	struct stat status;
	struct child child;
	uint32_t image;
	int fd;

	if (!is_root())
		skip();
	child = start(become_nobody, NULL);
	step(&child);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)child.pid);
	write_map(path, 1234);
	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
	assert_int_equal(images_stat_jit(place->images, image, JIT_FILE_PERF_MAP, &status), -EPERM);
	assert_int_equal(status.st_uid, 1234);
	write_map(path, 0);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(images_stat_jit(place->images, image, JIT_FILE_PERF_MAP, &status), 0);
	assert_int_equal(status.st_size, 10);
	assert_int_equal(images_stat_jit(place->images, image, JIT_FILE_JITDUMP, &status), -ENOENT);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	fd = images_open_jit(place->images, image, JIT_FILE_PERF_MAP);
	assert_true(fd >= 0);
	assert_true(read(watch, event, sizeof(event)) > 0);
	close(fd);
	close(watch);
	finish(&child);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(images_stat_jit(place->images, image, JIT_FILE_PERF_MAP, &status),
			 -EINVAL);
	assert_int_equal(unlink(path), 0);
}

/* In the child: a new file system as root directory, with code and a perf map. */
static void live_in_container(int from, int to, void *context)
{
	const char *root = context;
	char page[PAGE];
	int fd;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", root, "tmpfs", 0, NULL) < 0 || chroot(root) < 0 || chdir("/") < 0 ||
	    mkdir("/tmp", 0777) < 0 || mkdir("/opt", 0777) < 0)
		_exit(1);
	memset(page, 'c', sizeof(page));
	fd = open("/opt/code", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (write(fd, page, sizeof(page)) != sizeof(page))
		_exit(1);
	close(fd);
	fd = open("/tmp/perf-1.map", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (write(fd, "inside", 6) != 6)
		_exit(1);
	close(fd);
	await(from);
	tell(to, map_code(NULL, "/opt/code"));
	await(from);
}

static void enter_container(int from, int to, void *context)
{
	pid_t inner;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		_exit(1);
	inner = fork();
	if (inner == 0) {
		live_in_container(from, to, context);
		_exit(0);
	}
	tell(to, (void *)(intptr_t)inner);
	waitpid(inner, NULL, 0);
}

static void test_container(void **state)
{
	struct place *place = *state;
	const struct mapping *mapping;
	struct child child;
	uint64_t inner, address;
	char content[6];
	uint32_t image;
	int fd;

	if (!is_root())
		skip();
	child = start(enter_container, place->directory);
	assert_int_equal(read(child.from, &inner, sizeof(inner)), sizeof(inner));
	address = step(&child);
	assert_int_equal(images_at(place->images, (pid_t)inner, 1, monotonic_ns(), &image), 0);
	mapping = find_file(place->images, image, address);
	assert_content(place->images, mapping->file, 'c');
	for (int ended = 0; ended < 2; ended++) {
		fd = images_open_jit(place->images, image, JIT_FILE_PERF_MAP);
		assert_true(fd >= 0);
		assert_int_equal(read(fd, content, sizeof(content)), sizeof(content));
		assert_memory_equal(content, "inside", sizeof(content));
		close(fd);
		if (ended)
			break;
		/* Its end destroys the namespaces and the file system, but not our descriptors. */
		kill((pid_t)inner, SIGKILL);
		close(child.to);
		assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
		close(child.from);
	}
	assert_content(place->images, mapping->file, 'c');
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(owner_of_perf_map),
		TEST(status_of_perf_map),
		TEST(container),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
