// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files that walks find by themselves: an entry has the inode and the mapping of a file, and
 * goes when the table of the file is evicted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/images.h"
#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/tables_internal.h"
#include "unwind/unwind.h"

static struct unwind *unwind;

#define NATIVE_BLOCK(block)  unwind_block(unwind, block)
#define NATIVE_PROCESS(tgid) unwind_process(unwind, tgid)
#include "unwind_native.h"

#define SECOND_NS 1000000000ull
#define MAX_FILES 64

struct entered {
	struct wire_file file;
	struct wire_file_table table;
};

static struct images *images;
static struct entered entered[MAX_FILES];
static uint32_t n_entered;

static struct entered *find(const struct wire_file *file)
{
	for (uint32_t i = 0; i < n_entered; i++) {
		if (memcmp(&entered[i].file, file, sizeof(*file)) == 0)
			return &entered[i];
	}
	return NULL;
}

static void set_file(struct unwind_maps *maps, const struct wire_file *file,
		     const struct wire_file_table *table)
{
	(void)maps;
	assert_true(n_entered < MAX_FILES);
	assert_null(find(file));
	entered[n_entered++] = (struct entered){ *file, *table };
}

static void remove_file(struct unwind_maps *maps, const struct wire_file *file)
{
	struct entered *gone = find(file);

	(void)maps;
	assert_non_null(gone);
	*gone = entered[--n_entered];
}

#define INTERPRETER 7

static bool each_is_another; /* each file contains another interpreter, not the same */
static struct wire_process process;

static uint32_t interpreter_of(void *context, uint32_t file)
{
	(void)context;
	return each_is_another ? file + 1 : INTERPRETER;
}

static int set_process(struct unwind_maps *maps, uint32_t tgid, const struct wire_process *is)
{
	(void)maps;
	(void)tgid;
	process = *is;
	return 0;
}

static int setup(void **state)
{
	const struct unwind_options options = { .interpreter = interpreter_of };
	struct unwind_maps *maps;

	(void)state;
	n_entered = 0;
	each_is_another = false;
	assert_int_equal(memory_maps_new(&maps), 0);
	maps->set_file = set_file;
	maps->set_process = set_process;
	maps->remove_file = remove_file;
	assert_int_equal(images_new(NULL, &images), 0);
	assert_int_equal(unwind_new(images, maps, &options, &unwind, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unwind_free(unwind);
	images_free(images);
	return 0;
}

static void learn(pid_t tgid)
{
	struct error err = { 0 };
	uint32_t image;

	assert_int_equal(images_at(images, tgid, 0, UINT64_MAX, &image), 0);
	assert_int_equal(unwind_wait(unwind, 60 * SECOND_NS, &err), 0);
}

/* A mapping of our own process, as the kernel describes it. */
static void own_mapping(uint64_t address, uint64_t *ret_start, uint64_t *ret_offset,
			struct wire_file *ret_key)
{
	unsigned long long start, end, offset, inode;
	unsigned int major_number, minor_number;
	char line[4300], path[4097];
	struct stat status;
	FILE *file = fopen("/proc/self/maps", "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx %*s %llx %x:%x %llu %4096s", &start, &end, &offset,
			   &major_number, &minor_number, &inode, path) != 7 ||
		    address < start || address >= end)
			continue;
		fclose(file);
		assert_int_equal(stat(path, &status), 0);
		*ret_start = start;
		*ret_offset = offset;
		*ret_key = (struct wire_file){
			.inode = inode,
			.size = (uint64_t)status.st_size,
			.changed = status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec,
			.device = major_number << 20 | minor_number,
		};
		return;
	}
	fail_msg("nothing is mapped at %llx", (unsigned long long)address);
}

/* A walk computes from the entry what the process's mappings have. */
static void check_code(const void *code)
{
	uint64_t address = (uint64_t)(uintptr_t)code, start = 0, offset = 0;
	struct unwind_walk walk = { .tgid = (uint32_t)getpid() };
	const struct entered *found;
	struct wire_file key = { 0 };
	int n = 0;

	own_mapping(address, &start, &offset, &key);
	found = find(&key);
	assert_non_null(found);
	assert_int_equal(unwind_find_mapping(&walk, address), WIRE_END_NONE);
	assert_int_equal(found->table.root, walk.root);
	assert_int_equal(found->table.interpreter, INTERPRETER);
	assert_int_equal(found->table.owner, walk.owner);
	for (int i = 0; i < WIRE_FILE_CODES; i++) {
		const struct wire_code *at = &found->table.codes[i];

		if (offset < at->from || offset >= at->to)
			continue;
		assert_true(start - offset + at->shift == walk.bias);
		n++;
	}
	assert_int_equal(n, 1);
}

static void test_entries(void **state)
{
	(void)state;
	usleep(50000); /* files that were changed just now are left out; this program may be one */
	learn(getpid());
	check_code((const void *)(uintptr_t)check_code);
	check_code((const void *)(uintptr_t)qsort);
}

/* A process has the interpreters of its files, each once, and four at most. */
static void test_interpreters(void **state)
{
	(void)state;
	learn(getpid());
	assert_int_equal(process.n_interpreters, 1);
	assert_int_equal(process.interpreters[0].number, INTERPRETER);
}

static void test_several_interpreters(void **state)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);

	(void)state;
	assert_non_null(library); /* the fifth, beside the program, cmocka, libc and the linker */
	each_is_another = true;
	learn(getpid());
	assert_int_equal(process.n_interpreters, WIRE_PROCESS_INTERPRETERS);
	for (uint32_t i = 0; i < WIRE_PROCESS_INTERPRETERS; i++) {
		assert_true(process.interpreters[i].number > 0);
		for (uint32_t j = 0; j < i; j++)
			assert_true(process.interpreters[i].number !=
				    process.interpreters[j].number);
	}
	dlclose(library);
}

/* A file that no process has mapped yet has the entry that it will need then. */
static void test_expected_file(void **state)
{
	char path[] = "/tmp/test_tables_files.XXXXXX", command[128];
	struct error err = { 0 };
	struct wire_file key = { 0 };
	uint64_t start, offset;
	uint32_t file, again;
	void *mapped;
	int fd, ends[2];

	(void)state;
	fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(command, sizeof(command), "cat /proc/%d/exe >%s", (int)getpid(), path);
	assert_int_equal(system(command), 0);
	usleep(50000);
	assert_int_equal(images_learn_file(images, fd, &file), 0);
	assert_string_equal(images_file(images, file)->path, path);
	assert_int_equal(unwind_expect_file(unwind, file), 0);
	assert_true(unwind_is_pending(unwind));
	assert_int_equal(unwind_wait(unwind, 60 * SECOND_NS, &err), 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(mapped != MAP_FAILED);
	own_mapping((uint64_t)(uintptr_t)mapped, &start, &offset, &key);
	assert_non_null(find(&key));
	munmap(mapped, 4096);

	assert_int_equal(images_learn_file(images, fd, &again), 0);
	assert_int_equal(again, file);
	assert_int_equal(pipe(ends), 0);
	assert_true(images_learn_file(images, ends[0], &again) < 0);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	unlink(path);
}

/* Why a file has no table. */
static void test_without_rows(void **state)
{
	(void)state;
	assert_int_equal(tables_state_without_rows(0), TABLE_NO_CFI);
	assert_int_equal(tables_state_without_rows(-ENOEXEC), TABLE_NO_CFI);
	assert_int_equal(tables_state_without_rows(-ETIMEDOUT), TABLE_TIME_USED_UP);
	assert_int_equal(tables_state_without_rows(-EDQUOT), TABLE_TIME_USED_UP);
	assert_int_equal(tables_state_without_rows(-EIO), TABLE_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interpreters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_interpreters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expected_file, setup, teardown),
		cmocka_unit_test(test_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
