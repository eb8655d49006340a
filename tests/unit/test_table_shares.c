// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much room the tables of a user's files may take beside those of files that only root can
 * write: one huge table, and many of one owner.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "built_files.h"
#include "process/images.h"
#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/shares.h"
#include "unwind/unwind.h"

static struct unwind *unwind;

#define NATIVE_BLOCK(block)  unwind_block(unwind, block)
#define NATIVE_PROCESS(tgid) unwind_process(unwind, tgid)
#include "unwind_native.h"

#define SECOND_NS 1000000000ull
#define MEMORY	  (2u << 20) /* 511 blocks, of which 31 are for mappings */
#define SHARE	  240	     /* blocks: half of the others */
#define NOBODY	  65534

/* ---- numbers ---- */

static struct shares *shares;

static void assert_lack(uid_t owner, uint32_t n, uint32_t own, uint32_t users)
{
	const struct shares_lack lack = shares_lack(shares, owner, n);

	assert_int_equal(lack.own, own);
	assert_int_equal(lack.users, users);
}

static void owners_have_their_shares(void **state)
{
	(void)state;
	assert_int_equal(shares_new(100, &shares), 0);
	assert_lack(1, 50, 0, 0);
	assert_lack(1, 51, 1, 0);
	assert_lack(1, UINT32_MAX, UINT32_MAX - 50, UINT32_MAX - 75);
	assert_int_equal(shares_take(shares, 1, 51), -ENOSPC);
	assert_int_equal(shares_take(shares, 1, 40), 0);
	assert_int_equal(shares_take(shares, 1, 11), -ENOSPC);
	assert_int_equal(shares_take(shares, 2, 35), 0);
	/* All users together have no more. */
	assert_lack(1, 10, 0, 10);
	assert_lack(2, 16, 1, 16);
	assert_lack(3, 5, 0, 5);
	assert_int_equal(shares_take(shares, 3, 1), -ENOSPC);
	/* Root takes what there is. */
	assert_lack(0, UINT32_MAX, 0, 0);
	assert_int_equal(shares_take(shares, 0, 100), 0);
	shares_give(shares, 0, 100);
	/* What was given back can be taken again, by anybody. */
	shares_give(shares, 1, 40);
	assert_int_equal(shares_take(shares, 3, 40), 0);
	assert_int_equal(shares_take(shares, 3, 1), -ENOSPC);
	shares_give(shares, 2, 35);
	assert_int_equal(shares_take(shares, 3, 10), 0);
	assert_int_equal(shares_take(shares, 1, 25), 0);
	assert_lack(2, 1, 0, 1);
	shares_free(shares);
}

/* ---- tables ---- */

static struct images *images;

static int setup(void **state)
{
	const struct unwind_options options = { .memory = MEMORY };
	struct unwind_maps *maps;

	(void)state;
	assert_int_equal(memory_maps_new(&maps), 0);
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

static struct unwind_stats stats(void)
{
	struct unwind_stats now;

	unwind_stats(unwind, &now);
	return now;
}

/* A library of a user; `body` follows the first line of the function code(). */
__attribute__((format(printf, 2, 3))) static void build(const char *name, const char *body, ...)
{
	char source[1024];
	va_list arguments;
	int n = snprintf(source, sizeof(source),
			 ".globl code\n.type code,@function\ncode:\n.cfi_startproc\n");

	va_start(arguments, body);
	n += vsnprintf(source + n, sizeof(source) - (size_t)n, body, arguments);
	va_end(arguments);
	snprintf(source + n, sizeof(source) - (size_t)n, "ret\n.cfi_endproc\n");
	built_write("library.s", source);
	assert_true(built_run("cc -shared -nostdlib -o %s library.s", name));
	if (geteuid() == 0)
		assert_true(built_run("chown %d %s", NOBODY, name));
}

/* One whose table takes some `blocks`: its rows have one of two rules in turn. */
static void build_library(const char *name, int blocks)
{
	build(name, ".rept %d\nnop\n.cfi_def_cfa_offset 16\nnop\n.cfi_def_cfa_offset 8\n.endr\n",
	      blocks * WIRE_LEAF_ROWS / 2);
}

/* A library with so many rules of its own; `first` numbers the first. */
static void build_rules(const char *name, int first, int rules)
{
	build(name, ".set at,%d\n.rept %d\nnop\n.cfi_def_cfa_offset at\n.set at,at+8\n.endr\n",
	      16 + 8 * first, rules);
}

struct loaded {
	pid_t pid;
	void *code; /* in the library */
};

/* Starts a child that has loaded a library. */
static struct loaded load(const char *name)
{
	struct loaded loaded;
	char path[256];
	int to_us[2];

	snprintf(path, sizeof(path), "%s/%s", built_directory, name);
	assert_int_equal(pipe(to_us), 0);
	fflush(NULL);
	loaded.pid = fork();
	assert_true(loaded.pid >= 0);
	if (loaded.pid == 0) {
		void *library = dlopen(path, RTLD_LAZY);
		void *code = library ? dlsym(library, "code") : NULL;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(to_us[1], &code, sizeof(code)) != sizeof(code))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(to_us[0], &loaded.code, sizeof(loaded.code)),
			 (ssize_t)sizeof(loaded.code));
	close(to_us[0]);
	close(to_us[1]);
	assert_non_null(loaded.code);
	return loaded;
}

static void end(const struct loaded *loaded)
{
	kill(loaded->pid, SIGKILL);
	assert_int_equal(waitpid(loaded->pid, NULL, 0), loaded->pid);
}

static void learn(const struct loaded *loaded)
{
	struct error err = { 0 };
	uint32_t image;

	assert_int_equal(images_at(images, loaded->pid, 0, UINT64_MAX, &image), 0);
	assert_int_equal(unwind_wait(unwind, 60 * SECOND_NS, &err), 0);
}

static uint32_t kind_at(const struct loaded *loaded, const void *address)
{
	struct unwind_walk walk = { .tgid = (uint32_t)loaded->pid };

	assert_int_equal(unwind_find_mapping(&walk, (uint64_t)(uintptr_t)address), WIRE_END_NONE);
	return WIRE_MAPPING_KIND(walk.root);
}

static void hit(const struct loaded *loaded, const void *address)
{
	const uint64_t frame = (uint64_t)(uintptr_t)address | WIRE_FRAME_EXACT;

	unwind_count_hits(unwind, loaded->pid, &frame, 1);
}

/* Hits the library for some seconds, or until it has a table. */
static bool has_table(const struct loaded *loaded, time_t seconds)
{
	time_t begin = time(NULL);
	struct error err = { 0 };

	while (kind_at(loaded, loaded->code) != WIRE_MAPPING_TABLE) {
		if (time(NULL) - begin >= seconds)
			return false;
		hit(loaded, loaded->code);
		assert_int_equal(unwind_update(unwind, &err), 0);
		usleep(1000);
	}
	return true;
}

static void skip_with_sanitizer(void)
{
#ifdef __SANITIZE_ADDRESS__
	printf("skip: a sanitizer's own libraries take the room for tables\n");
	skip();
#endif
}

static void one_file_does_not_evict_those_of_others(void **state)
{
	struct loaded hostile;
	uint64_t evictions;

	(void)state;
	skip_with_sanitizer();
	build_library("large.so", 460);
	hostile = load("large.so");
	learn(&hostile);
	/* libc's table was hit, and longer ago than a table is kept in any case. */
	hit(&hostile, (const void *)(uintptr_t)qsort);
	usleep(1100000);
	evictions = stats().evictions;
	assert_false(has_table(&hostile, 4));
	assert_int_equal(kind_at(&hostile, hostile.code), WIRE_MAPPING_EVICTED);
	assert_int_equal(kind_at(&hostile, (const void *)(uintptr_t)qsort), WIRE_MAPPING_TABLE);
	assert_int_equal(stats().evictions, evictions);
	assert_int_equal(stats().over_share, 1);
	end(&hostile);
}

/* Each of four files would fit; two do. The one that is in use gets the room of another. */
static void files_of_an_owner_share_its_room(void **state)
{
	static const char *const names[] = { "1.so", "2.so", "3.so", "4.so" };
	struct loaded loaded[4];
	int n = 0;

	(void)state;
	skip_with_sanitizer();
	build_library("1.so", SHARE * 2 / 5);
	for (int i = 0; i < 4; i++) {
		if (i > 0) /* other files, as they have another size */
			assert_true(built_run("cp -p 1.so %s && head -c %d /dev/zero >>%s",
					      names[i], i, names[i]));
		loaded[i] = load(names[i]);
		learn(&loaded[i]);
		hit(&loaded[i], (const void *)(uintptr_t)qsort);
		n += kind_at(&loaded[i], loaded[i].code) == WIRE_MAPPING_TABLE;
	}
	assert_int_equal(n, 2);
	assert_int_equal(stats().over_share, 2);
	usleep(1100000);
	for (int i = 0; i < 4; i++) {
		assert_true(has_table(&loaded[i], 20));
		assert_int_equal(stats().over_share, 2);
		assert_int_equal(kind_at(&loaded[0], (const void *)(uintptr_t)qsort),
				 WIRE_MAPPING_TABLE);
	}
	for (int i = 0; i < 4; i++)
		end(&loaded[i]);
}

/* Rules are never removed: without a share of them, a user's files leave none for new ones. */
static void files_of_an_owner_share_its_rules(void **state)
{
	uint32_t before = 0;

	(void)state;
	skip_with_sanitizer();
	for (int i = 0; i < 8; i++) {
		char name[16];
		struct loaded loaded;

		snprintf(name, sizeof(name), "rules%d.so", i);
		build_rules(name, i * 4000, 4000);
		loaded = load(name);
		learn(&loaded);
		assert_int_equal(kind_at(&loaded, loaded.code), WIRE_MAPPING_TABLE);
		assert_true(stats().rules <= 2000 + WIRE_MAX_RULES / 2);
		if (i == 0)
			before = stats().rules;
		end(&loaded);
	}
	assert_true(before < WIRE_MAX_RULES / 2);
	assert_true(stats().rules >= WIRE_MAX_RULES / 2);
	/* Other files have some of these rules, too. */
	assert_in_range(stats().rules_refused, 20000, 8 * 4000 - WIRE_MAX_RULES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_have_their_shares),
		cmocka_unit_test_setup_teardown(one_file_does_not_evict_those_of_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(files_of_an_owner_share_its_room, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_an_owner_share_its_rules, setup, teardown),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
