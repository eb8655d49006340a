// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolize/jitdump.h"

static struct pool *pool;
static int fd;
static struct jit_window window = { UINT64_MAX, UINT64_MAX, 0, 0 };

static void put32(uint32_t value)
{
	assert_int_equal(write(fd, &value, sizeof(value)), sizeof(value));
}

static void put64(uint64_t value)
{
	assert_int_equal(write(fd, &value, sizeof(value)), sizeof(value));
}

static void put_header(uint32_t magic, uint32_t size)
{
	put32(magic);
	put32(1);
	put32(size);
	put32(62);
	put32(0);
	put32(1234);
	put64(0);
	put64(0);
}

static uint64_t record_time; /* of the next one */

static void put_load(uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	static const char code[65536];
	size_t length = strlen(name) + 1;

	put32(0);
	put32((uint32_t)(16 + 40 + length + size));
	put64(record_time);
	put64(0); /* pid, tid */
	put64(address);
	put64(address);
	put64(size);
	put64(index);
	assert_int_equal(write(fd, name, length), length);
	assert_int_equal(write(fd, code, size), size);
}

static void put_move(uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put32(1);
	put32(16 + 48);
	put64(0);
	put64(0);
	put64(to);
	put64(from);
	put64(to);
	put64(size);
	put64(index);
}

static int setup(void **state)
{
	(void)state;
	window = (struct jit_window){ UINT64_MAX, UINT64_MAX, 0, 0 };
	record_time = 0;
	fd = memfd_create("dump", MFD_CLOEXEC);
	return fd < 0 ? -1 : pool_new(&pool);
}

static int teardown(void **state)
{
	(void)state;
	close(fd);
	pool_free(pool);
	return 0;
}

/* The name at one address, with its start after it; "" for none. */
static const char *find(uint64_t address)
{
	static char found[256];
	struct symbol_query query = { .address = address };

	assert_int_equal(jitdump_find(fd, &window, &query, 1, pool), 0);
	snprintf(found, sizeof(found), query.name ? "%s@%lx" : "", query.name ? query.name : "",
		 (unsigned long)query.start);
	return found;
}

static void finds_what_contains_the_address(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x7f001000, 0x100, 1, "first");
	put_load(0x7f002000, 65536, 2, "a long one");
	put_load(0x7f001100, 0x10, 3, "third");
	assert_string_equal(find(0x7f000fff), "");
	assert_string_equal(find(0x7f001000), "first@7f001000");
	assert_string_equal(find(0x7f0010ff), "first@7f001000");
	assert_string_equal(find(0x7f001100), "third@7f001100");
	assert_string_equal(find(0x7f001110), "");
	assert_string_equal(find(0x7f011fff), "a long one@7f002000");
}

static void takes_the_newest(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x1000, 0x100, 1, "old");
	put_load(0x1000, 0x80, 2, "new");
	assert_string_equal(find(0x1010), "new@1000");
	assert_string_equal(find(0x1090), "old@1000");
}

/* A record without code is 16 + 40 + 2 bytes long, if its name is one letter. */
#define AFTER(n) (40 + (n) * (16 + 40 + 2))

/* Reports of this kind: all samples of an address had the name of the code that was there last. */
static void takes_the_name_of_the_image(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	for (uint32_t i = 0; i < 3; i++)
		put_load(0x1000, 0, 1 + i, "x");
	window = (struct jit_window){ AFTER(3), AFTER(3), 0, 0 };
	record_time = 100;
	put_load(0x1000, 0x100, 1, "a");
	assert_string_equal(find(0x1010), "a@1000"); /* named late */
	window = (struct jit_window){ 0, 5000, 0, 0 };
	assert_string_equal(find(0x1010), "a@1000");
	window.until = (uint64_t)lseek(fd, 0, SEEK_END);
	record_time = 200;
	put_load(0x1000, 0x80, 2, "b");
	assert_string_equal(find(0x1010), "a@1000");
	window.from = window.until;
	window.until = (uint64_t)lseek(fd, 0, SEEK_END);
	assert_string_equal(find(0x1010), "[jit: a or b]@1000");
	assert_string_equal(find(0x1090), "a@1000");
	window.from = window.until;
	assert_string_equal(find(0x1010), "b@1000");
	/* Nothing was written yet, and times tell. */
	window = (struct jit_window){ 40, 40, 50, 150 };
	assert_string_equal(find(0x1010), "a@1000");
	window = (struct jit_window){ 40, 40, 150, 250 };
	assert_string_equal(find(0x1010), "b@1000");
	window = (struct jit_window){ 40, 40, 50, 250 };
	assert_string_equal(find(0x1010), "[jit: a or b]@1000");
	/* They do not: both came later. */
	window = (struct jit_window){ 40, 40, 0, 0 };
	assert_string_equal(find(0x1010), "[jit: a or b]@1000");
}

static void follows_moved_code(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x1000, 0x100, 7, "moved");
	put_load(0x3000, 0x100, 8, "other");
	put_move(0x1000, 0x2000, 0x100, 7);
	put_move(0x1000, 0x5000, 0x100, 99); /* never loaded */
	assert_string_equal(find(0x2010), "moved@2000");
	assert_string_equal(find(0x3010), "other@3000");
	assert_string_equal(find(0x5010), "");
}

static void passes_over_other_records(void **state)
{
	(void)state;
	put_header(0x4A695444, 48);
	put64(0); /* a longer header */
	put32(4); /* unwinding information */
	put32(16 + 8);
	put64(0);
	put64(0);
	put_load(0x1000, 0x10, 1, "after");
	assert_string_equal(find(0x1000), "after@1000");
}

static void ends_at_a_broken_record(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x1000, 0x10, 1, "before");
	put32(0);
	put32(3); /* smaller than its header */
	put64(0);
	put_load(0x2000, 0x10, 1, "behind");
	assert_string_equal(find(0x1000), "before@1000");
	assert_string_equal(find(0x2000), "");
}

static void survives_cuts_anywhere(void **state)
{
	off_t size;

	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x1000, 0x10, 1, "first");
	put_move(0x1000, 0x2000, 0x10, 1);
	size = lseek(fd, 0, SEEK_CUR);
	for (off_t cut = size - 1; cut >= 0; cut--) {
		assert_int_equal(ftruncate(fd, cut), 0);
		if (cut < 40 + 16 + 40)
			assert_string_equal(find(0x1000), "");
		assert_string_equal(find(0x2000), "");
	}
}

static void refuses_other_files(void **state)
{
	(void)state;
	put_header(0x4454694A, 40); /* the other byte order */
	put_load(0x1000, 0x10, 1, "first");
	assert_string_equal(find(0x1000), "");
}

static void nameless_code_has_no_name(void **state)
{
	(void)state;
	put_header(0x4A695444, 40);
	put_load(0x1000, 0x10, 1, "");
	put_load(UINT64_MAX - 8, 0x20, 2, "wraps"); /* reaches beyond the address space */
	assert_string_equal(find(0x1000), "");
	assert_string_equal(find(UINT64_MAX - 1), "wraps@fffffffffffffff7");
	assert_string_equal(find(0x4), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_what_contains_the_address, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_the_name_of_the_image, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_the_newest, setup, teardown),
		cmocka_unit_test_setup_teardown(follows_moved_code, setup, teardown),
		cmocka_unit_test_setup_teardown(passes_over_other_records, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_at_a_broken_record, setup, teardown),
		cmocka_unit_test_setup_teardown(survives_cuts_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_other_files, setup, teardown),
		cmocka_unit_test_setup_teardown(nameless_code_has_no_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
