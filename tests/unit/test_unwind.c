// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of live processes, in plain memory: children that fork, exec, load and unload, generate
 * code and exit, as /proc and side-band records report them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/images_events.h"
#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/unwind.h"

static struct unwind *unwind;

#define NATIVE_BLOCK(block)  unwind_block(unwind, block)
#define NATIVE_PROCESS(tgid) unwind_process(unwind, tgid)
#include "unwind_native.h"

#define SECOND_NS 1000000000ull
#define NOBODY	  0x3ffffff0 /* above any pid */

static struct images *images;
static struct unwind_maps *maps;
static int n_set, n_removed, n_files_left;

static int count_set(struct unwind_maps *at, uint32_t tgid, const struct wire_process *process)
{
	(void)at;
	(void)tgid;
	assert_true(process->n_chunks <= WIRE_MAX_CHUNKS);
	n_set++;
	return 0;
}

static void count_removed(struct unwind_maps *at, uint32_t tgid)
{
	(void)at;
	(void)tgid;
	n_removed++;
}

static void count_left(struct unwind_maps *at, const struct wire_file *file)
{
	(void)at;
	assert_true(file->inode > 0);
	n_files_left++;
}

static void open_unwind(uint64_t memory, const char *cache)
{
	const struct unwind_options options = { .memory = memory, .cache = cache };

	assert_int_equal(memory_maps_new(&maps), 0);
	maps->set_process = count_set;
	maps->remove_process = count_removed;
	maps->remove_file = count_left;
	n_set = n_removed = n_files_left = 0;
	assert_int_equal(images_new(NULL, &images), 0);
	assert_int_equal(unwind_new(images, maps, &options, &unwind, NULL), 0);
}

static void close_unwind(void)
{
	unwind_free(unwind);
	images_free(images);
}

static int setup(void **state)
{
	(void)state;
	open_unwind(0, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_unwind();
	return 0;
}

static void update(void)
{
	struct error err = { 0 };

	assert_int_equal(unwind_update(unwind, &err), 0);
}

static void learn(pid_t tgid)
{
	struct error err = { 0 };
	uint32_t image;

	assert_int_equal(images_at(images, tgid, 0, UINT64_MAX, &image), 0);
	assert_int_equal(unwind_wait(unwind, 60 * SECOND_NS, &err), 0);
}

static struct unwind_stats stats(void)
{
	struct unwind_stats now;

	unwind_stats(unwind, &now);
	return now;
}

/* The kind of the mapping that a walk finds at an address, or 1000 + the end of the walk. */
static uint32_t kind_at(pid_t tgid, const void *address, struct unwind_walk *ret_walk)
{
	struct unwind_walk walk = { .tgid = (uint32_t)tgid };
	uint32_t end = unwind_find_mapping(&walk, (uint64_t)(uintptr_t)address);

	if (ret_walk)
		*ret_walk = walk;
	return end ? 1000 + end : WIRE_MAPPING_KIND(walk.root);
}

/* The address has a rule that is not a gap. */
static void assert_rule_at(pid_t tgid, const void *address)
{
	struct unwind_walk walk;
	const struct wire_rule *rule;
	struct unwind_found_row row;

	assert_int_equal(kind_at(tgid, address, &walk), WIRE_MAPPING_TABLE);
	assert_int_equal(unwind_find_row(WIRE_MAPPING_ROOT(walk.root), walk.owner,
					 (uint32_t)((uint64_t)(uintptr_t)address - walk.bias),
					 &row),
			 WIRE_END_NONE);
	rule = unwind_rule(unwind, row.rule);
	assert_non_null(rule);
	assert_int_not_equal(rule->cfa, WIRE_CFA_NONE);
}

/* A failed test leaves no children behind. */
static void end_with_us(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static pid_t start_child(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		end_with_us();
		for (;;)
			pause();
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Code of this program, of libc, of the vDSO, generated code, [vsyscall]. */
static void test_live(void **state)
{
	void *jit = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child = start_child();
	struct unwind_stats now;
	uint64_t clock = getauxval(AT_SYSINFO_EHDR);
	const uint64_t frames[] = { (uint64_t)(uintptr_t)compare | WIRE_FRAME_EXACT };

	(void)state;
	assert_true(jit != MAP_FAILED && clock);
	assert_int_equal(kind_at(child, compare, NULL), 1000 + WIRE_END_NO_PROCESS);
	learn(child);
	assert_rule_at(child, (const char *)compare + 4);
	assert_rule_at(child, (const char *)qsort + 4);
	assert_rule_at(child, (const char *)dlsym(RTLD_DEFAULT, "getenv") + 4);
	assert_int_equal(kind_at(child, (void *)clock, NULL), WIRE_MAPPING_TABLE);
	assert_int_equal(kind_at(child, jit, NULL), WIRE_MAPPING_JIT);
	assert_int_equal(kind_at(child, (const char *)jit + 8191, NULL), WIRE_MAPPING_JIT);
	assert_int_equal(kind_at(child, (void *)0xffffffffff600000, NULL), WIRE_MAPPING_SPECIAL);
	assert_int_equal(kind_at(child, (void *)4096, NULL), 1000 + WIRE_END_NO_MAPPING);
	unwind_count_hits(unwind, child, frames, 1);
	now = stats();
	assert_int_equal(now.processes, 1);
	assert_int_equal(now.pending, 0);
	assert_int_equal(now.broken, 0);
	assert_true(now.ready >= 3 && now.rows > 20000 && now.rules > 50);
	assert_true(now.bytes > now.rows * 4 && now.bytes < now.rows * 6);
	assert_int_equal(now.compiled, now.ready + now.no_cfi);
	assert_true(now.compile_ns > 0);
	munmap(jit, 8192);
	end_child(child);
}

static void map_record(pid_t tgid, uint64_t time, uint64_t start, uint64_t size, const char *name)
{
	const struct mapping_record record = {
		.tgid = tgid,
		.time = time,
		.start = start,
		.end = start + size,
		.name = name,
		.name_size = strlen(name),
	};

	assert_int_equal(images_mmap(images, &record), 0);
}

/* fork shares a layout, exec replaces it, exit gives it back. */
static void test_life(void **state)
{
	pid_t child = start_child();
	uint64_t bytes;

	(void)state;
	learn(child);
	assert_int_equal(n_set, 1);
	assert_int_equal(images_fork(images, NOBODY, child, UINT64_MAX - 100), 0);
	assert_int_equal(images_fork(images, NOBODY + 1, NOBODY, UINT64_MAX - 99), 0);
	bytes = stats().bytes;
	update();
	assert_int_equal(n_set, 3);
	assert_int_equal(stats().bytes, bytes);
	assert_int_equal(unwind_process(unwind, NOBODY + 1)->owner,
			 unwind_process(unwind, (uint32_t)child)->owner);
	assert_rule_at(NOBODY, (const char *)qsort + 4);
	assert_rule_at(NOBODY + 1, (const char *)qsort + 4);

	/* A mapping of one process is not in the layouts of the others. */
	map_record(NOBODY, UINT64_MAX - 98, 0x10000, 4096, "//anon");
	update();
	assert_int_equal(kind_at(NOBODY, (void *)0x10000, NULL), WIRE_MAPPING_JIT);
	assert_int_equal(kind_at(NOBODY + 1, (void *)0x10000, NULL), 1000 + WIRE_END_NO_MAPPING);
	assert_int_equal(kind_at(child, (void *)0x10000, NULL), 1000 + WIRE_END_NO_MAPPING);

	assert_int_equal(images_exec(images, NOBODY + 1, UINT64_MAX - 97), 0);
	map_record(NOBODY + 1, UINT64_MAX - 96, 0x20000, 4096, "//anon");
	update();
	assert_int_equal(kind_at(NOBODY + 1, (const void *)qsort, NULL),
			 1000 + WIRE_END_NO_MAPPING);
	assert_int_equal(kind_at(NOBODY + 1, (void *)0x20000, NULL), WIRE_MAPPING_JIT);

	images_exit(images, NOBODY + 1, UINT64_MAX - 95);
	images_exit(images, NOBODY, UINT64_MAX - 94);
	update();
	assert_int_equal(n_removed, 2);
	assert_null(unwind_process(unwind, NOBODY));
	assert_int_equal(stats().processes, 1);
	assert_rule_at(child, (const char *)qsort + 4);

	/* A process that starts and ends between two updates is not written. */
	n_set = n_removed = 0;
	assert_int_equal(images_fork(images, NOBODY + 2, child, UINT64_MAX - 93), 0);
	assert_int_equal(images_exec(images, NOBODY + 2, UINT64_MAX - 92), 0);
	images_exit(images, NOBODY + 2, UINT64_MAX - 91);
	update();
	assert_int_equal(n_set + n_removed, 0);
	end_child(child);
}

/* Generated code that grows piece by piece, as a JIT's: few updates, and no more memory. */
static void test_jit(void **state)
{
	uint64_t start = 0x7f0000000000;
	struct unwind_stats now;
	uint64_t bytes;
	int before;

	(void)state;
	assert_int_equal(images_exec(images, NOBODY, 1), 0);
	map_record(NOBODY, 2, start, 4096, "//anon");
	update();
	bytes = stats().bytes;
	assert_int_equal(n_set, 1);
	for (uint32_t i = 1; i <= 3000; i++) {
		map_record(NOBODY, 2 + i, start + i * 65536ull, 4096, "//anon");
		update();
	}
	now = stats();
	assert_true(n_set < 100);
	before = n_set;
	assert_true(now.bytes <= bytes + WIRE_BLOCK_SIZE);
	/* The last piece is written after some time. */
	for (int i = 0; n_set == before && i < 1000000; i++)
		update();
	assert_int_equal(kind_at(NOBODY, (void *)(start + 3000 * 65536ull), NULL),
			 WIRE_MAPPING_JIT);
	assert_int_equal(kind_at(NOBODY, (void *)(start + 3000 * 65536ull + 4096), NULL),
			 1000 + WIRE_END_NO_MAPPING);
	/* A file is written at once. */
	map_record(NOBODY, 4000, 0x10000, 4096, "/no/such/file");
	update();
	assert_int_equal(kind_at(NOBODY, (void *)0x10000, NULL), WIRE_MAPPING_NOT_OPENED);
	assert_int_equal(stats().not_opened, 1);
}

/* More mappings than chunks have room for: all that fit are found. */
static void test_many_mappings(void **state)
{
	uint32_t n = 4000, fit = WIRE_MAX_CHUNKS * (WIRE_CHUNK_SLOTS - 1);

	(void)state;
	assert_int_equal(images_exec(images, NOBODY, 1), 0);
	for (uint32_t i = 0; i < n; i++)
		map_record(NOBODY, 2, 0x100000 + i * 8192ull, 4096, i % 2 ? "//anon" : "[uprobes]");
	update();
	assert_int_equal(stats().mappings_cut, n - fit);
	assert_int_equal(unwind_process(unwind, NOBODY)->n_chunks, WIRE_MAX_CHUNKS);
	for (uint32_t i = 0; i < n; i++) {
		const char *at = (const char *)0x100000 + i * 8192ull;
		uint32_t wanted = i >= fit ? 1000 + WIRE_END_NO_MAPPING
				  : i % 2  ? WIRE_MAPPING_JIT
					   : WIRE_MAPPING_SPECIAL;

		assert_int_equal(kind_at(NOBODY, at, NULL), wanted);
		assert_int_equal(kind_at(NOBODY, at + 4095, NULL), wanted);
		assert_int_equal(kind_at(NOBODY, at + 4096, NULL), 1000 + WIRE_END_NO_MAPPING);
		assert_int_equal(kind_at(NOBODY, at - 1, NULL), 1000 + WIRE_END_NO_MAPPING);
	}
	images_exit(images, NOBODY, 5);
	update();
	assert_int_equal(stats().processes, 0);
}

struct loaded {
	pid_t pid;
	int input;  /* it ends when this is closed */
	char *code; /* in the loaded library */
};

/* Where a library's function is from its beginning on. */
static size_t offset_of(const char *path, const char *function)
{
	void *library = dlopen(path, RTLD_LAZY), *code = library ? dlsym(library, function) : NULL;
	Dl_info info;
	size_t offset;

	assert_true(code && dladdr(code, &info));
	offset = (size_t)((char *)code - (char *)info.dli_fbase);
	dlclose(library);
	return offset;
}

/* The beginning of a library in a process. */
static char *beginning(pid_t pid, const char *path)
{
	char name[64], line[512];
	uint64_t start = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fopen(name, "r");
	assert_non_null(file);
	while (!start && fgets(line, sizeof(line), file))
		if (strstr(line, path))
			sscanf(line, "%" SCNx64, &start);
	fclose(file);
	assert_true(start != 0);
	return (char *)(uintptr_t)start;
}

/* Starts a small program that has loaded a library by that path: cat, which has copied a byte. */
static struct loaded start_loaded(const char *path)
{
	struct loaded loaded;
	int to_it[2], to_us[2];
	char byte;

	assert_int_equal(pipe2(to_it, O_CLOEXEC), 0);
	assert_int_equal(pipe2(to_us, O_CLOEXEC), 0);
	loaded.pid = fork();
	assert_true(loaded.pid >= 0);
	if (loaded.pid == 0) {
		end_with_us();
		dup2(to_it[0], STDIN_FILENO);
		dup2(to_us[1], STDOUT_FILENO);
		setenv("LD_PRELOAD", path, 1);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(to_it[0]);
	close(to_us[1]);
	assert_int_equal(write(to_it[1], "x", 1), 1);
	assert_int_equal(read(to_us[0], &byte, 1), 1);
	close(to_us[0]);
	loaded.input = to_it[1];
	loaded.code = beginning(loaded.pid, path) + offset_of(path, "EVP_DigestInit_ex");
	return loaded;
}

static uint32_t kind_of(const struct loaded *loaded)
{
	return kind_at(loaded->pid, loaded->code, NULL);
}

static void hit(const struct loaded *loaded)
{
	const uint64_t frame = (uint64_t)(uintptr_t)loaded->code;

	unwind_count_hits(unwind, loaded->pid, &frame, 1);
}

/* Hits the library until it has a table, for 20 s at most. */
static void want(const struct loaded *loaded)
{
	time_t begin = time(NULL);

	while (kind_of(loaded) != WIRE_MAPPING_TABLE) {
		assert_true(time(NULL) - begin < 20);
		hit(loaded);
		update();
	}
}

/* Three large libraries, and room for the tables of two: those that are hit. */
/* Makes three files with the same code that differ in size. False: there is no libcrypto.so.3. */
static bool copy_library(const char *directory)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "for i in 1 2 3; do cp -L $(ldconfig -p | sed -n "
		 "'s/.*libcrypto.so.3 .*=> //p' | head -1) %s/$i.so && "
		 "head -c $i /dev/zero >>%s/$i.so || exit 1; done",
		 directory, directory);
	return system(command) == 0;
}

static void test_eviction(void **state)
{
	char directory[] = "/tmp/test_unwind.XXXXXX", command[512];
	struct loaded loaded[3];
	struct unwind_walk before;
	uint64_t evictions;
	struct unwind_found_row row;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	printf("skip test_eviction: a sanitizer's own libraries take the room for tables\n");
	skip();
#endif
	assert_non_null(mkdtemp(directory));
	if (!copy_library(directory)) {
		printf("skip test_eviction: there is no libcrypto.so.3\n");
		skip();
	}
	close_unwind();
	open_unwind(1u << 20, NULL);
	/* Files are entered for walks only if they were not changed just now. */
	usleep(50000);
	for (int i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "%s/%d.so", directory, i + 1);
		loaded[i] = start_loaded(command);
		learn(loaded[i].pid);
	}
	want(&loaded[0]);
	want(&loaded[1]);
	evictions = stats().evictions;
	assert_int_equal(kind_of(&loaded[0]), WIRE_MAPPING_TABLE);
	assert_int_equal(kind_of(&loaded[2]), WIRE_MAPPING_EVICTED);
	assert_true(stats().evicted >= 1);
	assert_true(stats().bytes <= stats().bytes_limit);

	kind_at(loaded[0].pid, loaded[0].code, &before);
	hit(&loaded[1]);
	want(&loaded[2]);
	assert_int_equal(kind_of(&loaded[0]), WIRE_MAPPING_EVICTED);
	assert_int_equal(kind_of(&loaded[1]), WIRE_MAPPING_TABLE);
	assert_rule_at(loaded[2].pid, loaded[2].code);
	assert_int_equal(stats().evictions, evictions + 1);
	assert_int_equal(n_files_left, stats().evictions);
	/* A walk that still refers to the evicted table ends. */
	assert_int_equal(unwind_find_row(WIRE_MAPPING_ROOT(before.root), before.owner, 0, &row),
			 WIRE_END_STALE);

	/* A table is not evicted for another while both are in use. */
	for (int i = 0; i < 100; i++) {
		hit(&loaded[1]);
		hit(&loaded[2]);
		hit(&loaded[0]);
		update();
	}
	assert_int_equal(kind_of(&loaded[0]), WIRE_MAPPING_EVICTED);
	assert_int_equal(stats().evictions, evictions + 1);

	/* The table of a file that no process maps any more is evicted first. */
	end_child(loaded[1].pid);
	images_exit(images, loaded[1].pid, UINT64_MAX - 1);
	for (time_t begin = time(NULL); kind_of(&loaded[0]) != WIRE_MAPPING_TABLE;) {
		assert_true(time(NULL) - begin < 20);
		hit(&loaded[2]);
		hit(&loaded[0]);
		update();
	}
	assert_int_equal(kind_of(&loaded[2]), WIRE_MAPPING_TABLE);
	assert_rule_at(loaded[0].pid, loaded[0].code);
	assert_int_equal(stats().evictions, evictions + 2);
	/* An evicted table may have been compiled once more than needed, before there was room. */
	assert_in_range(stats().compiled, stats().ready + stats().evicted + stats().no_cfi + 2,
			stats().ready + stats().evicted + stats().no_cfi + 2 * (evictions + 2));
	end_child(loaded[0].pid);
	end_child(loaded[2].pid);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

/* A table that one measurement compiles is loaded by the next. */
static void test_cache(void **state)
{
	char directory[] = "/tmp/test_unwind.XXXXXX", cache[64], command[64];
	struct unwind_stats cold, warm;
	pid_t child = start_child();

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(cache, sizeof(cache), "%s/cache", directory);
	for (int i = 0; i < 2; i++) {
		close_unwind();
		open_unwind(0, cache);
		learn(child);
		assert_rule_at(child, (const char *)qsort + 4);
		if (i == 0)
			cold = stats();
	}
	warm = stats();
	assert_int_equal(cold.cached, 0);
	assert_int_equal(warm.compiled, 1); /* the vDSO */
	assert_int_equal(warm.cached, cold.compiled - 1);
	assert_int_equal(warm.rows, cold.rows);
	assert_int_equal(warm.rules, cold.rules);
	assert_int_equal(warm.cache_refused, 0);
	printf("%llu tables: %.1f ms cold, %.1f ms warm\n", (unsigned long long)cold.compiled,
	       (double)cold.compile_ns / 1e6, (double)(warm.cached_ns + warm.compile_ns) / 1e6);
	end_child(child);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

/* All processes of this machine. */
static void test_machine(void **state)
{
	struct error err = { 0 };
	struct unwind_stats now;

	(void)state;
	assert_int_equal(images_learn_running(images, 60 * SECOND_NS), 0);
	assert_int_equal(unwind_wait(unwind, 120 * SECOND_NS, &err), 0);
	now = stats();
	printf("%u processes, %u tables (%u ready, %u without CFI, %u broken), %llu rows, %u rules,"
	       " %.1f MB, %.2f bytes a row, compiled in %.0f ms\n",
	       now.processes, now.tables, now.ready, now.no_cfi, now.broken,
	       (unsigned long long)now.rows, now.rules, (double)now.bytes / 1e6,
	       (double)now.bytes / (double)now.rows, (double)now.compile_ns / 1e6);
	assert_int_equal(now.pending, 0);
	assert_true(now.processes >= 1 && now.ready >= 2);
}

/* A walk waits for the tables of its own process only, and these are made before those of others.
 */
static void test_awaited(void **state)
{
	struct error err = { 0 };
	struct layout *layout;
	struct unwind_stats now;
	uint32_t image;

	(void)state;
	assert_int_equal(images_learn_running(images, 60 * SECOND_NS), 0);
	update();
	assert_false(unwind_is_awaited(unwind));
	assert_int_equal(images_at(images, getpid(), 0, UINT64_MAX, &image), 0);
	assert_int_equal(unwind_hold_layout(unwind, image, &layout), 0);
	assert_true(unwind_is_awaited(unwind));
	assert_int_equal(unwind_wait_for_walks(unwind, (struct unwind_limit){ 0 }, &err), 0);
	assert_int_equal(unwind_wait_for_walks(unwind,
					       (struct unwind_limit){ .work_ns = 60 * SECOND_NS,
								      .elapsed_ns =
									      90 * SECOND_NS },
					       &err),
			 0);
	assert_false(unwind_is_awaited(unwind));
	now = stats();
	printf("%u of %u tables are not made yet\n", now.pending, now.tables);
	assert_true(now.pending > 0 || now.tables < 100);
	assert_int_not_equal(kind_at(getpid(), (const void *)(uintptr_t)test_awaited, NULL),
			     WIRE_MAPPING_PENDING);
	assert_int_not_equal(kind_at(getpid(), (const void *)(uintptr_t)getppid, NULL),
			     WIRE_MAPPING_PENDING);
	unwind_release_layout(unwind, layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_live, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life, setup, teardown),
		cmocka_unit_test_setup_teardown(test_jit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_eviction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(test_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_awaited, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
