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

#include "symbolize/perfmap.h"

static struct pool *pool;
static struct jit_window window = { UINT64_MAX, UINT64_MAX, 0, 0 };

static int setup(void **state)
{
	(void)state;
	return pool_new(&pool);
}

static int teardown(void **state)
{
	(void)state;
	pool_free(pool);
	return 0;
}

static void find_all(const char *text, size_t size, struct symbol_query *queries, size_t n)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(perfmap_find(fd, &window, queries, n, pool), 0);
	close(fd);
}

/* The name at one address, with its start after it; "" for none. */
static const char *find(const char *text, uint64_t address)
{
	static char found[512];
	struct symbol_query query = { .address = address };

	find_all(text, strlen(text), &query, 1);
	snprintf(found, sizeof(found), query.name ? "%s@%lx" : "", query.name ? query.name : "",
		 (unsigned long)query.start);
	return found;
}

/* Reports of this kind: all samples of an address had the name of the code that was there last. */
static void takes_the_name_of_the_image(void **state)
{
	const char *map = "7f0010 20 a\n7f0010 10 b\n7f0010 10 b\n";
	const char *turns = "7f0010 20 a\n7f0010 20 b\n7f0010 20 a\n";

	(void)state;
	window = (struct jit_window){ 0, 12, 0, 0 };
	assert_string_equal(find(map, 0x7f0011), "a@7f0010");
	window = (struct jit_window){ 12, 24, 0, 0 };
	assert_string_equal(find(map, 0x7f0011), "[jit: a or b]@7f0010");
	assert_string_equal(find(map, 0x7f0021), "a@7f0010");
	window = (struct jit_window){ 24, 36, 0, 0 };
	assert_string_equal(find(map, 0x7f0011), "b@7f0010");
	window = (struct jit_window){ 0, 36, 0, 0 };
	assert_string_equal(find(turns, 0x7f0011), "[jit: b or a]@7f0010");
	window = (struct jit_window){ 0, 0, 0, 0 };
	assert_string_equal(find(map, 0x7f0011), "[jit: a or b]@7f0010");
	window = (struct jit_window){ UINT64_MAX, UINT64_MAX, 0, 0 };
	assert_string_equal(find(map, 0x7f0011), "b@7f0010");
}

static void finds_what_contains_the_address(void **state)
{
	const char *map = "7f0010 20 first\n7f0030 10 second\n7f0050 8 third\n";

	(void)state;
	assert_string_equal(find(map, 0x7f000f), "");
	assert_string_equal(find(map, 0x7f0010), "first@7f0010");
	assert_string_equal(find(map, 0x7f002f), "first@7f0010");
	assert_string_equal(find(map, 0x7f0030), "second@7f0030");
	assert_string_equal(find(map, 0x7f0040), "");
	assert_string_equal(find(map, 0x7f0057), "third@7f0050");
	assert_string_equal(find(map, 0x7f0058), "");
	assert_string_equal(find("1000\t10\ta b\tc\n", 0x1001), "a b\tc@1000");
}

static void the_last_line_holds(void **state)
{
	const char *map = "1000 100 old\n1200 10 other\n1040 40 new\n";

	(void)state;
	assert_string_equal(find(map, 0x1039), "old@1000");
	assert_string_equal(find(map, 0x1040), "new@1040");
	assert_string_equal(find(map, 0x107f), "new@1040");
	assert_string_equal(find(map, 0x1080), "old@1000");
}

static void names_are_taken_whole(void **state)
{
	(void)state;
	/* Java, node and .NET write blanks, semicolons and more; the last line may lack its
	 * newline. */
	assert_string_equal(find("10 10 Lcom/a;::b (int, int) [x]\n", 0x18),
			    "Lcom/a;::b (int, int) [x]@10");
	assert_string_equal(find("10 10 LazyCompile:~f /a b.js:1:2", 0x18),
			    "LazyCompile:~f /a b.js:1:2@10");
	assert_string_equal(find("0x10 0x10 prefixed\r\n", 0x18), "prefixed@10");
	assert_string_equal(find("00000000000010 10 padded\n", 0x18), "padded@10");
}

static void skips_malformed_lines(void **state)
{
	(void)state;
	assert_string_equal(find("", 0), "");
	assert_string_equal(find("\n\n10 10 a\n", 0x10), "a@10");
	assert_string_equal(find("10\n10 10\n10 10 \n10  x\n-1 10 x\n10 g x\n", 0x10), "");
	assert_string_equal(find("10 0 empty\n", 0x10), "");
	/* A number that does not fit. */
	assert_string_equal(find("10000000000000010 10 x\n", 0x10), "");
	/* A range beyond the end of the address space does not wrap around to its start. */
	assert_string_equal(find("fffffffffffffff0 ffffffffffffffff top\n", 0x10), "");
	assert_string_equal(find("fffffffffffffff0 10 top\n", UINT64_MAX), "top@fffffffffffffff0");
}

static void long_lines_are_cut(void **state)
{
	const size_t size = 300000;
	char *map = malloc(size + 40);
	struct symbol_query queries[2] = { { .address = 0x10 }, { .address = 0x20 } };

	(void)state;
	memcpy(map, "10 10 ", 6);
	memset(map + 6, 'x', size);
	strcpy(map + 6 + size, "\n20 10 next\n");
	find_all(map, strlen(map), queries, 2);
	assert_non_null(queries[0].name);
	assert_in_range(strlen(queries[0].name), 1000, 20000);
	assert_string_equal(queries[1].name, "next");
	free(map);
}

static void answers_a_batch_in_one_pass(void **state)
{
	enum { N = 20000 };
	struct symbol_query *queries = calloc(N, sizeof(*queries));
	char *map = malloc(N * 32), *at = map;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		queries[i].address = i * 16 + i % 16;
		/* The lines have another order than the queries. */
		at += sprintf(at, "%zx 10 f%zu\n", (i * 7919 % N) * 16, i * 7919 % N);
	}
	find_all(map, (size_t)(at - map), queries, N);
	for (size_t i = 0; i < N; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%zu", i);
		assert_string_equal(queries[i].name, name);
		assert_int_equal(queries[i].start, i * 16);
	}
	free(map);
	free(queries);
}

static void a_hostile_map_ends(void **state)
{
	enum { N = 4000, LINES = 100000 };
	struct symbol_query *queries = calloc(N, sizeof(*queries));
	char *map = malloc(LINES * 24), *at = map;

	(void)state;
	for (size_t i = 0; i < N; i++)
		queries[i].address = i;
	for (size_t i = 0; i < LINES; i++)
		at += sprintf(at, "0 ffffffff all\n");
	find_all(map, (size_t)(at - map), queries, N);
	assert_string_equal(queries[N - 1].name, "all");
	free(map);
	free(queries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_contains_the_address),
		cmocka_unit_test(takes_the_name_of_the_image),
		cmocka_unit_test(the_last_line_holds),
		cmocka_unit_test(names_are_taken_whole),
		cmocka_unit_test(skips_malformed_lines),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(answers_a_batch_in_one_pass),
		cmocka_unit_test(a_hostile_map_ends),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
