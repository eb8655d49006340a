// SPDX-License-Identifier: GPL-2.0-or-later
/* Process images from side-band records only, of processes that do not exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/clock.h"
#include "process/images_events.h"

#define PAGE 4096u
#define GONE 0x40000000 /* above the kernel's largest process id */

static int setup(void **state)
{
	struct images *images;

	assert_int_equal(images_new(NULL, &images), 0);
	*state = images;
	return 0;
}

static int teardown(void **state)
{
	images_free(*state);
	return 0;
}

/* An inode for each name, so that each name is a file of its own. */
static uint64_t inode_for(const char *name)
{
	uint64_t inode = 1;

	for (; *name; name++)
		inode = inode * 131 + (unsigned char)*name;
	return inode;
}

static void map(struct images *images, pid_t tgid, uint64_t time, uint64_t start, const char *name)
{
	struct mapping_record record = {
		.tgid = tgid,
		.time = time,
		.start = start,
		.end = start + PAGE,
		.device = makedev(8, 1),
		.inode = inode_for(name),
		.name = name,
		.name_size = strlen(name),
	};

	assert_int_equal(images_mmap(images, &record), 0);
}

static uint32_t at(struct images *images, pid_t tgid, uint64_t time)
{
	uint32_t image;

	assert_int_equal(images_at(images, tgid, 0, time, &image), 0);
	return image;
}

static void assert_mapped(struct images *images, uint32_t image, uint64_t address, const char *name)
{
	const struct mapping *mapping = images_find(images, image, address);

	if (!name) {
		assert_null(mapping);
		return;
	}
	assert_non_null(mapping);
	assert_string_equal(mapping->name, name);
}

static void test_exec_and_remap(void **state)
{
	struct images *images = *state;
	uint32_t first, second, third;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	map(images, GONE, 120, 0x20000, "/b");
	first = at(images, GONE, 130);
	assert_int_equal(at(images, GONE, 125), first);
	assert_mapped(images, first, 0x10010, "/a");
	assert_mapped(images, first, 0x20fff, "/b");
	assert_mapped(images, first, 0x21000, NULL);

	map(images, GONE, 200, 0x20000, "/c"); /* over /b */
	second = at(images, GONE, 210);
	assert_int_not_equal(first, second);
	assert_mapped(images, second, 0x10010, "/a");
	assert_mapped(images, second, 0x20010, "/c");
	assert_mapped(images, first, 0x20010, "/b");
	assert_int_equal(at(images, GONE, 150), first);

	assert_false(images_has_ended(images, GONE, 210));
	assert_int_equal(images_exec(images, GONE, 300), 0);
	assert_true(images_has_ended(images, GONE, 210));
	assert_false(images_has_ended(images, GONE, 305));
	map(images, GONE, 310, 0x10000, "/d");
	images_exit(images, GONE, 400);
	assert_true(images_has_ended(images, GONE, 305));
	third = at(images, GONE, 350);
	assert_mapped(images, third, 0x10010, "/d");
	assert_mapped(images, third, 0x20010, NULL);
	assert_int_equal(at(images, GONE, 130), first);
	assert_int_equal(at(images, GONE, 210), second);
	assert_int_equal(images_tgid(images, third), GONE);
}

static void test_partial_overlap(void **state)
{
	struct images *images = *state;
	struct mapping_record record = {
		.tgid = GONE,
		.time = 110,
		.start = 0x10000,
		.end = 0x18000,
		.offset = 0x5000,
		.inode = 1,
		.device = makedev(8, 1),
		.name = "/a",
		.name_size = 2,
	};
	const struct mapping *mapping;
	uint32_t image;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	assert_int_equal(images_mmap(images, &record), 0);
	map(images, GONE, 120, 0x12000, "/b");
	image = at(images, GONE, 130);
	assert_mapped(images, image, 0x11fff, "/a");
	assert_mapped(images, image, 0x12000, "/b");
	mapping = images_find(images, image, 0x13000);
	assert_string_equal(mapping->name, "/a");
	assert_int_equal(mapping->start, 0x13000);
	assert_int_equal(mapping->offset, 0x8000);
	assert_int_equal(mapping->end, 0x18000);
	/* The next part of the same file, at the right offset, is merged with it. */
	record.start = 0x18000;
	record.end = 0x19000;
	record.offset = 0xd000;
	record.time = 140;
	assert_int_equal(images_mmap(images, &record), 0);
	assert_int_equal(at(images, GONE, 150), image);
	assert_int_equal(images_find(images, image, 0x18000)->start, 0x13000);
}

static void test_fork_shares_until_it_changes(void **state)
{
	struct images *images = *state;
	uint32_t child, parent;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	assert_int_equal(images_fork(images, GONE + 1, GONE, 200), 0);
	map(images, GONE, 210, 0x20000, "/parent");
	map(images, GONE + 1, 220, 0x30000, "/child");
	images_exit(images, GONE + 1, 300);
	child = at(images, GONE + 1, 250);
	parent = at(images, GONE, 250);
	assert_int_equal(images_tgid(images, child), GONE + 1);
	assert_mapped(images, child, 0x10000, "/a");
	assert_mapped(images, child, 0x20000, NULL);
	assert_mapped(images, child, 0x30000, "/child");
	assert_mapped(images, parent, 0x10000, "/a");
	assert_mapped(images, parent, 0x20000, "/parent");
	assert_mapped(images, parent, 0x30000, NULL);
}

static void test_reused_process_id(void **state)
{
	struct images *images = *state;
	uint32_t old, reused;

	assert_int_equal(images_exec(images, GONE + 2, 50), 0);
	map(images, GONE + 2, 60, 0x10000, "/shell");
	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/old");
	images_exit(images, GONE, 200);
	assert_int_equal(images_fork(images, GONE, GONE + 2, 300), 0);
	reused = at(images, GONE, 310);
	old = at(images, GONE, 150);
	assert_mapped(images, old, 0x10000, "/old");
	assert_mapped(images, reused, 0x10000, "/shell");
}

/* The cookie is of another address space than the records: the images stay apart. */
static void test_cookie_against_records(void **state)
{
	struct images *images = *state;
	uint32_t image, other;

	assert_int_equal(images_exec(images, GONE, 100), 0);
	map(images, GONE, 110, 0x10000, "/a");
	assert_int_equal(images_at(images, GONE, 5, 120, &image), 0);
	assert_mapped(images, image, 0x10000, "/a");
	assert_int_equal(images_at(images, GONE, 6, 130, &other), 0); /* its exec was lost */
	assert_int_equal(other, IMAGE_NONE);
	assert_int_equal(images_losses(images)->processes_gone, 1);
	assert_int_equal(images_at(images, GONE, 5, 120, &other), 0);
	assert_int_equal(other, image);
}

/* A process that has ended is forgotten, unless its image has an id. */
static void test_forgetting(void **state)
{
	struct images *images = *state;
	uint32_t kept;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(images_exec(images, GONE + i, 100), 0);
		map(images, GONE + i, 110, 0x10000, "/a");
	}
	kept = at(images, GONE, 120);
	images_exit(images, GONE, 200);
	images_exit(images, GONE + 1, 200);
	images_set_drained(images, 3600 * NS_PER_SECOND);
	assert_int_equal(at(images, GONE, 120), kept);
	assert_mapped(images, kept, 0x10000, "/a");
	assert_int_equal(at(images, GONE + 1, 120), IMAGE_NONE);
}

/* A process that replaces its code all the time: few images are kept, and the newest is right. */
static void test_endless_remapping(void **state)
{
	struct images *images = *state;
	uint32_t first;

	assert_int_equal(images_exec(images, GONE, 1), 0);
	map(images, GONE, 2, 0x10000, "/even");
	first = at(images, GONE, 2);
	for (uint64_t time = 3; time < 100000; time++)
		map(images, GONE, time, 0x10000, time % 2 ? "/odd" : "/even");
	assert_mapped(images, at(images, GONE, 99999), 0x10000, "/odd");
	assert_mapped(images, at(images, GONE, 99998), 0x10000, "/even");
	assert_mapped(images, first, 0x10000, "/even");
	for (uint64_t i = 0; i < 100000; i++)
		map(images, GONE, 200000 + i, 0x100000 + 2 * i * PAGE, "/many");
	assert_mapped(images, at(images, GONE, 300000), 0x100000, "/many");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(exec_and_remap),
		TEST(partial_overlap),
		TEST(fork_shares_until_it_changes),
		TEST(reused_process_id),
		TEST(cookie_against_records),
		TEST(forgetting),
		TEST(endless_remapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
