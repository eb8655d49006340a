// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of real processes: children that map, replace and delete files, load libraries,
 * run other programs, live in other roots and namespaces, and end too early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/images.h"
#include "process/images_events.h"

#define PAGE 4096u

/* A child that does what it is told step by step: each byte we write is a step. */
struct child {
	pid_t pid;
	int to, from;
};

struct place {
	char directory[64];
	struct images *images;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/test_images.XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	assert_int_equal(chmod(place->directory, 0755), 0);
	assert_int_equal(images_new(&(struct images_options){ 0 }, &place->images), 0);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[128];

	images_free(place->images);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->directory);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

/* Runs `steps` in a child; it tells an address after each step it takes. */
static struct child start(void (*steps)(int from, int to, void *context), void *context)
{
	struct child child;
	int down[2], up[2];

	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	fflush(NULL);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(down[1]);
		close(up[0]);
		steps(down[0], up[1], context);
		_exit(0);
	}
	close(down[0]);
	close(up[1]);
	child.to = down[1];
	child.from = up[0];
	return child;
}

static uint64_t step(struct child *child)
{
	uint64_t address = 0;

	assert_int_equal(write(child->to, "x", 1), 1);
	assert_int_equal(read(child->from, &address, sizeof(address)), sizeof(address));
	return address;
}

static void finish(struct child *child)
{
	close(child->to);
	close(child->from);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

/* In the child: waits for the next step. */
static void await(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		_exit(0);
}

static void tell(int to, const void *address)
{
	uint64_t value = (uintptr_t)address;

	if (write(to, &value, sizeof(value)) != sizeof(value))
		_exit(1);
}

static void *map_code(void *at, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *address =
		mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	if (address == MAP_FAILED)
		_exit(2);
	close(fd);
	return address;
}

/* A page of a file that is told apart by one character. */
static char *write_page(const struct place *place, const char *name, char character)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];
	char page[PAGE];
	int fd;

	snprintf(path, PATH_MAX, "%s/%s", place->directory, name);
	memset(page, character, sizeof(page));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	return path;
}

static void assert_content(struct images *images, uint32_t file, char character)
{
	char byte = 0;
	int fd = images_open_file(images, file);

	if (fd < 0)
		fail_msg("%s: %s", images_file(images, file)->path, strerror(-fd));
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, character);
	close(fd);
}

static const struct mapping *find_file(struct images *images, uint32_t image, uint64_t address)
{
	const struct mapping *mapping = images_find(images, image, address);

	assert_non_null(mapping);
	assert_true(mapping->start <= address && address < mapping->end);
	assert_int_equal(mapping->kind, MAPPING_FILE);
	return mapping;
}

static void test_self(void **state)
{
	struct place *place = *state;
	struct images *images = place->images;
	const struct mapped_file *file;
	const struct mapping *mapping;
	uint32_t image, again;
	char exe[PATH_MAX] = "";
	struct stat status;

	assert_int_equal(images_at(images, getpid(), 7, now(), &image), 0);
	assert_int_not_equal(image, IMAGE_NONE);
	assert_int_equal(images_at(images, getpid(), 7, now(), &again), 0);
	assert_int_equal(image, again);
	assert_int_equal(images_tgid(images, image), getpid());
	assert_int_equal(images_tgid(images, IMAGE_NONE), 0);
	assert_null(images_find(images, IMAGE_NONE, (uintptr_t)test_self));
	assert_null(images_find(images, image, 1));
	assert_null(images_find(images, image, UINT64_MAX));

	mapping = find_file(images, image, (uintptr_t)test_self);
	file = images_file(images, mapping->file);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(stat(exe, &status), 0);
	assert_string_equal(file->path, exe);
	assert_int_equal(file->inode, status.st_ino);
	assert_int_equal(file->size, status.st_size);
	assert_false(file->deleted);

	mapping = images_find(images, image, getauxval(AT_SYSINFO_EHDR));
	assert_non_null(mapping);
	assert_int_equal(mapping->kind, MAPPING_VDSO);
	mapping = find_file(images, image, (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
	file = images_file(images, mapping->file);
	assert_non_null(strstr(file->path, "libc.so"));
	assert_int_equal(file->build_id_size, 20);
	assert_null(images_file(images, UINT32_MAX));
	assert_int_equal(images_open_file(images, UINT32_MAX), -EINVAL);
}

static void map_and_wait(int from, int to, void *context)
{
	await(from);
	tell(to, map_code(NULL, context));
	await(from);
}

/* A deleted file can be reached through its mapping only, and that takes a capability. */
static bool can_open_mappings(pid_t pid, uint64_t address)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)address, (unsigned long long)address + PAGE);
	fd = open(name, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	print_message("SKIP: map_files: %s\n", strerror(errno));
	return false;
}

static void test_deleted_and_ended(void **state)
{
	struct place *place = *state;
	char *path = write_page(place, "code", 'd');
	struct child child = start(map_and_wait, path);
	uint64_t address = step(&child);
	const struct mapping *mapping;
	uint32_t image;
	bool permitted = can_open_mappings(child.pid, address);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
	finish(&child);
	if (!permitted)
		skip();
	mapping = find_file(place->images, image, address);
	assert_true(images_file(place->images, mapping->file)->deleted);
	assert_string_equal(images_file(place->images, mapping->file)->path, path);
	assert_non_null(strstr(mapping->name, "/code (deleted)"));
	assert_content(place->images, mapping->file, 'd');
}

static void test_replaced_while_held(void **state)
{
	struct place *place = *state;
	char *path = write_page(place, "code", 'o'), *other = write_page(place, "new", 'n');
	struct child child = start(map_and_wait, path);
	uint64_t address = step(&child);
	const struct mapping *mapping;
	uint32_t image;

	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
	assert_int_equal(rename(other, path), 0);
	finish(&child);
	mapping = find_file(place->images, image, address);
	assert_content(place->images, mapping->file, 'o');
}

/* Without a descriptor to hold on to, what took the path is refused, and a FIFO does not block. */
static void test_replaced_while_not_held(void **state)
{
	struct place *place = *state;
	char *path = write_page(place, "code", 'o'), *other = write_page(place, "new", 'n');
	struct child child = start(map_and_wait, path);
	uint64_t address = step(&child);
	const struct mapping *mapping;
	struct images *images;
	uint32_t image;
	int fd;

	assert_int_equal(images_new(&(struct images_options){ .hold_files = 1 }, &images), 0);
	assert_int_equal(images_at(images, child.pid, 1, now(), &image), 0);
	/* The place is given to this one's file, which is asked for later. */
	assert_int_equal(images_at(images, getpid(), 1, now(), &image), 0);
	assert_int_equal(images_at(images, child.pid, 1, now(), &image), 0);
	finish(&child);
	mapping = find_file(images, image, address);
	assert_content(images, mapping->file, 'o');

	assert_int_equal(rename(other, path), 0);
	fd = images_open_file(images, mapping->file);
	assert_int_equal(fd, -ESTALE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(images_open_file(images, mapping->file), -ENOENT);
	assert_int_equal(mkfifo(path, 0644), 0);
	alarm(10);
	fd = images_open_file(images, mapping->file);
	alarm(0);
	assert_true(fd < 0);
	images_free(images);
}

/* Overwritten in place, with a look in between: two files, one of them lost, never mixed up. */
static void test_overwritten(void **state)
{
	struct place *place = *state;
	char *path = write_page(place, "code", '1');
	struct child first = start(map_and_wait, path), second;
	uint64_t address = step(&first);
	const struct mapping *mapping;
	uint32_t image, old;
	char page[2 * PAGE];
	int fd;

	assert_int_equal(images_at(place->images, first.pid, 1, now(), &image), 0);
	old = find_file(place->images, image, address)->file;
	finish(&first);
	memset(page, '2', sizeof(page));
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	second = start(map_and_wait, path);
	address = step(&second);
	assert_int_equal(images_at(place->images, second.pid, 1, now(), &image), 0);
	finish(&second);
	mapping = find_file(place->images, image, address);
	assert_int_not_equal(mapping->file, old);
	assert_content(place->images, mapping->file, '2');
	assert_int_equal(images_open_file(place->images, old), -ESTALE);
}

static void map_two(int from, int to, void *context)
{
	char **paths = context;
	void *at;

	await(from);
	tell(to, at = map_code(NULL, paths[0]));
	await(from);
	tell(to, map_code((char *)at - 4 * PAGE, paths[1])); /* behind it may be a library */
	await(from);
	tell(to, map_code(at, paths[1]));
	await(from);
}

static void test_mapped_later(void **state)
{
	struct place *place = *state;
	char *paths[] = { write_page(place, "a", 'a'), write_page(place, "b", 'b') };
	struct child child = start(map_two, paths);
	uint64_t first = step(&child), second;
	uint32_t image, again, third;

	assert_int_equal(images_learn(place->images, child.pid, 1, now(), &first, 1, &image), 0);
	second = step(&child);
	assert_null(images_find(place->images, image, second));
	/* A look is due after a while only: ask as a session does, again and again. */
	do {
		assert_int_equal(images_learn(place->images, child.pid, 1, now(), &second, 1,
					      &again),
				 0);
	} while (!images_find(place->images, again, second));
	assert_int_equal(again, image); /* in a free place: the same image */
	assert_content(place->images, find_file(place->images, image, second)->file, 'b');

	/* Over other code: another image, while the first stays what it was. */
	assert_int_equal(step(&child), first);
	do {
		uint64_t unknown[] = { first, 16 };

		assert_int_equal(images_learn(place->images, child.pid, 1, now(), unknown, 2,
					      &third),
				 0);
	} while (third == image);
	finish(&child);
	assert_content(place->images, find_file(place->images, image, first)->file, 'a');
	assert_content(place->images, find_file(place->images, third, first)->file, 'b');
}

static void load_library(int from, int to, void *context)
{
	void *library;

	await(from);
	tell(to, NULL);
	await(from);
	library = dlopen(context, RTLD_NOW);
	tell(to, library ? dlsym(library, "lgamma") : NULL);
	await(from);
}

static void test_library_loaded_later(void **state)
{
	struct place *place = *state;
	struct child child = start(load_library, (void *)"libm.so.6");
	const struct mapping *mapping;
	uint32_t image;
	uint64_t address;

	step(&child);
	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
	address = step(&child);
	assert_int_not_equal(address, 0);
	assert_int_equal(images_learn(place->images, child.pid, 1, now(), &address, 1, &image), 0);
	while (!images_find(place->images, image, address))
		assert_int_equal(images_learn(place->images, child.pid, 1, now(), &address, 1,
					      &image),
				 0);
	mapping = find_file(place->images, image, address);
	assert_non_null(strstr(images_file(place->images, mapping->file)->path, "libm.so"));
	finish(&child);
}

static void run_sleep(int from, int to, void *context)
{
	(void)context;
	await(from);
	tell(to, run_sleep);
	await(from);
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static void test_exec(void **state)
{
	struct place *place = *state;
	struct child child = start(run_sleep, NULL);
	uint64_t address = step(&child);
	char link[64], exe[PATH_MAX] = "", byte;
	uint32_t before, after, again;
	bool found = false;

	assert_int_equal(images_at(place->images, child.pid, 100, now(), &before), 0);
	find_file(place->images, before, address);
	assert_int_equal(write(child.to, "x", 1), 1);
	/* The pipe closes on exec. */
	assert_int_equal(read(child.from, &byte, 1), 0);
	assert_int_equal(images_at(place->images, child.pid, 101, now(), &after), 0);
	assert_int_not_equal(before, after);
	assert_int_equal(images_at(place->images, child.pid, 101, now(), &again), 0);
	assert_int_equal(after, again);
	assert_int_equal(images_at(place->images, child.pid, 100, 0, &again), 0);
	assert_int_equal(before, again);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)child.pid);
	assert_true(readlink(link, exe, sizeof(exe) - 1) > 0);
	finish(&child);
	for (uint32_t i = 0; i < images_n_files(place->images); i++)
		found |= strcmp(images_file(place->images, i)->path, exe) == 0;
	assert_true(found);
	find_file(place->images, before, address);
}

/* What is forgotten is learned again; what is kept has another id, and its mappings. */
static void test_forget(void **state)
{
	struct place *place = *state;
	struct child child = start(run_sleep, NULL);
	uint64_t address = step(&child);
	uint32_t ids[8] = { 0 }, own, before, after, again;
	struct images_size size;
	uint8_t byte;

	assert_int_equal(images_at(place->images, getpid(), 0, now(), &own), 0);
	assert_int_equal(images_at(place->images, child.pid, 100, now(), &before), 0);
	assert_int_equal(write(child.to, "x", 1), 1);
	assert_int_equal(read(child.from, &byte, 1), 0);
	assert_int_equal(images_at(place->images, child.pid, 101, now(), &after), 0);
	images_size(place->images, &size);
	assert_int_equal(size.asked, 3);
	assert_int_equal(size.spaces, 3);
	/* The child's first image ended long ago. */
	images_set_drained(place->images, now() + 1000000000000ull);
	assert_int_equal(images_n(place->images), 4);
	ids[before] = 1;
	images_forget(place->images, ids);
	assert_int_equal(ids[before], 1);
	assert_int_equal(ids[own], IMAGE_NONE);
	assert_int_equal(ids[after], IMAGE_NONE);
	assert_int_equal(images_tgid(place->images, ids[before]), child.pid);
	find_file(place->images, ids[before], address);
	images_size(place->images, &size);
	assert_int_equal(size.asked, 1);
	assert_int_equal(size.spaces, 3);
	assert_int_equal(images_at(place->images, getpid(), 0, now(), &again), 0);
	assert_int_equal(again, 2);
	memset(ids, 0, sizeof(ids));
	ids[again] = 1;
	images_forget(place->images, ids);
	assert_int_equal(ids[again], 1);
	assert_int_equal(images_tgid(place->images, 1), getpid());
	images_size(place->images, &size);
	assert_int_equal(size.asked, 1);
	assert_int_equal(size.spaces, 2); /* and nobody refers to that image any more */
	finish(&child);
}

static void test_gone(void **state)
{
	struct place *place = *state;
	pid_t pid = fork();
	uint32_t image = 99;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(images_at(place->images, pid, 1, now(), &image), 0);
	assert_int_equal(image, IMAGE_NONE);
	assert_int_equal(images_at(place->images, pid, 1, now(), &image), 0);
	assert_int_equal(images_losses(place->images)->processes_gone, 1);
}

static void map_anonymous(int from, int to, void *context)
{
	int memory = memfd_create("generated", MFD_CLOEXEC);
	int rwx = PROT_READ | PROT_EXEC;

	(void)context;
	await(from);
	tell(to, mmap(NULL, PAGE, rwx, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (ftruncate(memory, PAGE) < 0)
		_exit(1);
	await(from);
	tell(to, mmap(NULL, PAGE, rwx, MAP_SHARED, memory, 0));
	await(from);
}

static void test_generated_code(void **state)
{
	struct place *place = *state;
	struct child child = start(map_anonymous, NULL);
	uint64_t anonymous = step(&child), memory = step(&child);
	uint32_t image;

	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
	finish(&child);
	assert_int_equal(images_find(place->images, image, anonymous)->kind, MAPPING_ANONYMOUS);
	assert_int_equal(images_find(place->images, image, memory)->kind, MAPPING_ANONYMOUS);
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("SKIP: needs root to change users and roots\n");
	return false;
}

static void write_map(const char *path, uid_t owner)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

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

/* A map of names is believed if the process's user wrote it, or root, and nobody else. */
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
	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
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
	write_map(path, 65534); /* its user is remembered after its end */
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

/* In the child: a root of its own on a new file system, with code, a way out and a perf map. */
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
	assert_int_equal(images_at(place->images, (pid_t)inner, 1, now(), &image), 0);
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
		/* Its end takes the namespaces and the file system with it, but not what we hold.
		 */
		kill((pid_t)inner, SIGKILL);
		close(child.to);
		assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
		close(child.from);
	}
	assert_content(place->images, mapping->file, 'c');
}

static void test_all_that_run(void **state)
{
	struct place *place = *state;
	char *path = write_page(place, "code", 'r');
	struct child child = start(map_and_wait, path);
	uint64_t address = step(&child);
	uint32_t image;

	assert_int_equal(images_learn_running(place->images, 10000000000u), 0);
	assert_int_equal(unlink(path), 0);
	finish(&child);
	assert_int_equal(images_at(place->images, child.pid, 1, now(), &image), 0);
	assert_content(place->images, find_file(place->images, image, address)->file, 'r');
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(self),
		TEST(deleted_and_ended),
		TEST(replaced_while_held),
		TEST(replaced_while_not_held),
		TEST(overwritten),
		TEST(mapped_later),
		TEST(library_loaded_later),
		TEST(exec),
		TEST(gone),
		TEST(forget),
		TEST(generated_code),
		TEST(owner_of_perf_map),
		TEST(container),
		TEST(all_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
