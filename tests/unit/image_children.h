/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of process images: children that map files step by step, and files that are told apart.
 */
#ifndef TESTS_UNIT_IMAGE_CHILDREN_H
#define TESTS_UNIT_IMAGE_CHILDREN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "process/images.h"

#define PAGE 4096u

/* A child that makes one step for each byte it reads. */
struct child {
	pid_t pid;
	int to, from;
};

struct place {
	char directory[64];
	struct images *images;
};

static inline int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/test_images.XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	assert_int_equal(chmod(place->directory, 0755), 0);
	assert_int_equal(images_new(&(struct images_options){ 0 }, &place->images), 0);
	*state = place;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *place = *state;
	char command[128];

	images_free(place->images);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->directory);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

/* Runs `steps` in a child, which writes an address after each step. */
static inline struct child start(void (*steps)(int from, int to, void *context), void *context)
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

static inline uint64_t step(struct child *child)
{
	uint64_t address = 0;

	assert_int_equal(write(child->to, "x", 1), 1);
	assert_int_equal(read(child->from, &address, sizeof(address)), sizeof(address));
	return address;
}

static inline void finish(struct child *child)
{
	close(child->to);
	close(child->from);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

/* In the child: waits for the next step. */
static inline void await(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		_exit(0);
}

static inline void tell(int to, const void *address)
{
	uint64_t value = (uintptr_t)address;

	if (write(to, &value, sizeof(value)) != sizeof(value))
		_exit(1);
}

static inline void *map_code(void *at, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *address =
		mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	if (address == MAP_FAILED)
		_exit(2);
	close(fd);
	return address;
}

/* Makes a file of one page that is filled with one character. */
static inline char *write_page(const struct place *place, const char *name, char character)
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

static inline void assert_content(struct images *images, uint32_t file, char character)
{
	char byte = 0;
	int fd = images_open_file(images, file);

	if (fd < 0)
		fail_msg("%s: %s", images_file(images, file)->path, strerror(-fd));
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, character);
	close(fd);
}

static inline const struct mapping *find_file(struct images *images, uint32_t image,
					      uint64_t address)
{
	const struct mapping *mapping = images_find(images, image, address);

	assert_non_null(mapping);
	assert_true(mapping->start <= address && address < mapping->end);
	assert_int_equal(mapping->kind, MAPPING_FILE);
	return mapping;
}

#endif
