// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of real processes: children that map, replace and delete files, load libraries, run other
 * programs, and end too early.
 */
#include "image_children.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "process/images_events.h"

static void test_self(void **state)
{
	struct place *place = *state;
	struct images *images = place->images;
	const struct mapped_file *file;
	const struct mapping *mapping;
	uint32_t image, again;
	char exe[PATH_MAX] = "";
	struct stat status;

	assert_int_equal(images_at(images, getpid(), 7, monotonic_ns(), &image), 0);
	assert_int_not_equal(image, IMAGE_NONE);
	assert_int_equal(images_at(images, getpid(), 7, monotonic_ns(), &again), 0);
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

/* Only map_files leads to a deleted file, and that takes a capability. */
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
	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
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

	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
	assert_int_equal(rename(other, path), 0);
	finish(&child);
	mapping = find_file(place->images, image, address);
	assert_content(place->images, mapping->file, 'o');
}

/* A file without a descriptor: another file at its path is refused, and a FIFO does not block. */
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
	assert_int_equal(images_at(images, child.pid, 1, monotonic_ns(), &image), 0);
	/* This file takes the one descriptor. */
	assert_int_equal(images_at(images, getpid(), 1, monotonic_ns(), &image), 0);
	assert_int_equal(images_at(images, child.pid, 1, monotonic_ns(), &image), 0);
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

/* A file that is overwritten in place between two reads of /proc counts as two files. */
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

	assert_int_equal(images_at(place->images, first.pid, 1, monotonic_ns(), &image), 0);
	old = find_file(place->images, image, address)->file;
	finish(&first);
	memset(page, '2', sizeof(page));
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	second = start(map_and_wait, path);
	address = step(&second);
	assert_int_equal(images_at(place->images, second.pid, 1, monotonic_ns(), &image), 0);
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
	tell(to, map_code((char *)at - 4 * PAGE,
			  paths[1])); /* in free space: a library may be mapped behind it */
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

	assert_int_equal(images_learn(place->images, child.pid, 1, monotonic_ns(), &first, 1,
				      &image),
			 0);
	second = step(&child);
	assert_null(images_find(place->images, image, second));
	/* /proc is read again only after a while: try repeatedly, as a session does. */
	do {
		assert_int_equal(images_learn(place->images, child.pid, 1, monotonic_ns(), &second,
					      1, &again),
				 0);
	} while (!images_find(place->images, again, second));
	assert_int_equal(again, image); /* no mapping was replaced: the same image */
	assert_content(place->images, find_file(place->images, image, second)->file, 'b');

	/* Over other code: another image; the first one does not change. */
	assert_int_equal(step(&child), first);
	do {
		uint64_t unknown[] = { first, 16 };

		assert_int_equal(images_learn(place->images, child.pid, 1, monotonic_ns(), unknown,
					      2, &third),
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
	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
	address = step(&child);
	assert_int_not_equal(address, 0);
	assert_int_equal(images_learn(place->images, child.pid, 1, monotonic_ns(), &address, 1,
				      &image),
			 0);
	while (!images_find(place->images, image, address))
		assert_int_equal(images_learn(place->images, child.pid, 1, monotonic_ns(), &address,
					      1, &image),
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

	assert_int_equal(images_at(place->images, child.pid, 100, monotonic_ns(), &before), 0);
	find_file(place->images, before, address);
	assert_int_equal(write(child.to, "x", 1), 1);
	/* The pipe closes on exec. */
	assert_int_equal(read(child.from, &byte, 1), 0);
	assert_int_equal(images_at(place->images, child.pid, 101, monotonic_ns(), &after), 0);
	assert_int_not_equal(before, after);
	assert_int_equal(images_at(place->images, child.pid, 101, monotonic_ns(), &again), 0);
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

/* A forgotten image is learned again; a kept one has another id and the same mappings. */
static void test_forget(void **state)
{
	struct place *place = *state;
	struct child child = start(run_sleep, NULL);
	uint64_t address = step(&child);
	uint32_t ids[8] = { 0 }, own, before, after, again;
	struct images_size size;
	uint8_t byte;

	assert_int_equal(images_at(place->images, getpid(), 0, monotonic_ns(), &own), 0);
	assert_int_equal(images_at(place->images, child.pid, 100, monotonic_ns(), &before), 0);
	assert_int_equal(write(child.to, "x", 1), 1);
	assert_int_equal(read(child.from, &byte, 1), 0);
	assert_int_equal(images_at(place->images, child.pid, 101, monotonic_ns(), &after), 0);
	images_size(place->images, &size);
	assert_int_equal(size.sampled, 3);
	assert_int_equal(size.spaces, 3);
	/* The child's first image ended long ago. */
	images_set_drained(place->images, monotonic_ns() + 1000000000000ull);
	assert_int_equal(images_n(place->images), 4);
	ids[before] = 1;
	images_forget(place->images, ids);
	assert_int_equal(ids[before], 1);
	assert_int_equal(ids[own], IMAGE_NONE);
	assert_int_equal(ids[after], IMAGE_NONE);
	assert_int_equal(images_tgid(place->images, ids[before]), child.pid);
	find_file(place->images, ids[before], address);
	images_size(place->images, &size);
	assert_int_equal(size.sampled, 1);
	assert_int_equal(size.spaces, 3);
	assert_int_equal(images_at(place->images, getpid(), 0, monotonic_ns(), &again), 0);
	assert_int_equal(again, 2);
	memset(ids, 0, sizeof(ids));
	ids[again] = 1;
	images_forget(place->images, ids);
	assert_int_equal(ids[again], 1);
	assert_int_equal(images_tgid(place->images, 1), getpid());
	images_size(place->images, &size);
	assert_int_equal(size.sampled, 1);
	assert_int_equal(size.spaces, 2); /* the one that has ended is freed */
	finish(&child);
}

/* Descriptors of deleted files are given up once no process maps them; others stay. */
static void test_release(void **state)
{
	enum { N = 64, RUN = 8 };
	struct place *place = *state;
	uint64_t address[N], now = monotonic_ns();
	uint32_t image[N], before;
	struct child children[N];
	struct images_size size;

	for (uint32_t i = 0; i < N; i++) {
		char *path = write_page(place, "code", (char)('A' + i % 26));

		children[i] = start(map_and_wait, path);
		address[i] = step(&children[i]);
		if (!can_open_mappings(children[i].pid, address[i]))
			skip();
		assert_int_equal(unlink(path), 0);
		assert_int_equal(images_at(place->images, children[i].pid, i + 1, now, &image[i]),
				 0);
	}
	images_size(place->images, &size);
	before = size.files_held;
	assert_true(before >= N);
	/* They have ended, but a sample of theirs may still be on its way. */
	for (uint32_t i = RUN; i < N; i++) {
		finish(&children[i]);
		images_exit(place->images, children[i].pid, now);
	}
	images_release_files(place->images);
	images_size(place->images, &size);
	assert_int_equal(size.files_held, before);
	/* Much later. */
	images_set_drained(place->images, now + 1000000000000ull);
	images_release_files(place->images);
	images_size(place->images, &size);
	assert_int_equal(size.files_held, before - (N - RUN));
	for (uint32_t i = 0; i < RUN; i++)
		assert_content(place->images, find_file(place->images, image[i], address[i])->file,
			       (char)('A' + i));
	for (uint32_t i = 0; i < RUN; i++)
		finish(&children[i]);
}

static void test_gone(void **state)
{
	struct place *place = *state;
	pid_t pid = fork();
	uint32_t image = 99;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(images_at(place->images, pid, 1, monotonic_ns(), &image), 0);
	assert_int_equal(image, IMAGE_NONE);
	assert_int_equal(images_at(place->images, pid, 1, monotonic_ns(), &image), 0);
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

	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
	finish(&child);
	assert_int_equal(images_find(place->images, image, anonymous)->kind, MAPPING_ANONYMOUS);
	assert_int_equal(images_find(place->images, image, memory)->kind, MAPPING_ANONYMOUS);
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
	assert_int_equal(images_at(place->images, child.pid, 1, monotonic_ns(), &image), 0);
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
		TEST(release),
		TEST(generated_code),
		TEST(all_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
