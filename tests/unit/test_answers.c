// SPDX-License-Identifier: GPL-2.0-or-later
/* Names from a child that reads a file, and from one that a hostile file has taken over. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "symbolize/answers.h"
#include "symbolize/demangle.h"

#define N 4

struct sent {
	uint8_t bytes[65536];
	size_t n;
};

static void keep(void *context, const void *bytes, size_t size)
{
	struct sent *sent = context;

	assert_true(size <= sizeof(sent->bytes) - sent->n);
	memcpy(sent->bytes + sent->n, bytes, size);
	sent->n += size;
}

static int receive(const void *bytes, size_t size, struct pool *pool, struct symbol_query *queries)
{
	struct byte_memory memory = { bytes, size };
	const struct byte_source source = { byte_memory_read, &memory };

	memset(queries, 0, N * sizeof(*queries));
	return answers_receive(&source, pool, queries, N);
}

static void answers_arrive(void **state)
{
	static struct sent sent;
	const char *twice = "_ZN4deep1S1fEi";
	const struct symbol_query asked[N] = { { .start = 16, .name = "plain" },
					       { .start = 32 },
					       { .start = 48, .name = twice },
					       { .start = 64, .name = twice } };
	const struct byte_sink sink = { keep, &sent };
	struct symbol_query queries[N];
	own(own_pool_free) struct pool *pool = NULL;

	(void)state;
	assert_int_equal(pool_new(&pool), 0);
	assert_int_equal(answers_send(&sink, asked, N), 0);
	assert_int_equal(receive(sent.bytes, sent.n, pool, queries), 0);
	assert_string_equal(queries[0].name, "plain");
	assert_null(queries[0].linkage_name);
	assert_int_equal(queries[0].start, 16);
	assert_null(queries[1].name);
	assert_string_equal(queries[2].name, "deep::S::f(int)");
	assert_string_equal(queries[2].linkage_name, twice);
	assert_ptr_equal(queries[3].name, queries[2].name);
	assert_ptr_equal(queries[3].linkage_name, queries[2].linkage_name);
	assert_int_equal(queries[3].start, 64);
	for (size_t cut = 0; cut < sent.n; cut++)
		assert_int_equal(receive(sent.bytes, cut, pool, queries), -ENODATA);
}

static void addresses_arrive(void **state)
{
	(void)state;
	for (size_t n = 0; n < 70; n++) {
		own(own_free) struct symbol_query *asked = calloc(n + 1, sizeof(*asked));
		own(own_free) struct symbol_query *queries = NULL;
		own(own_free) uint64_t *addresses = NULL;

		assert_non_null(asked);
		for (size_t i = 0; i < n; i++)
			asked[i].address = i * 3 + 1;
		addresses = answers_addresses(asked, n);
		assert_non_null(addresses);
		queries = answers_queries(addresses, n);
		assert_non_null(queries);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(queries[i].address, i * 3 + 1);
			assert_null(queries[i].name);
			assert_int_equal(queries[i].chain, QUERY_NO_CHAIN);
		}
	}
}

static void names_that_are_too_long_are_cut(void **state)
{
	static struct sent sent;
	static char name[DEMANGLE_SIZE * 2];
	const struct symbol_query asked[N] = { { .start = 16, .name = name } };
	const struct byte_sink sink = { keep, &sent };
	struct symbol_query queries[N];
	own(own_pool_free) struct pool *pool = NULL;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(pool_new(&pool), 0);
	assert_int_equal(answers_send(&sink, asked, N), 0);
	assert_int_equal(receive(sent.bytes, sent.n, pool, queries), 0);
	assert_int_equal(strlen(queries[0].name), DEMANGLE_SIZE - 1);
}

/* The words of an answer: the start, then the query, and the sizes of both names. */
#define ANSWER(query, size, linkage) 16, 0, query, size, linkage, 0
#define END			     ANSWER(UINT32_MAX, 0, 0)
#define ABCD			     0x64636261
#define SAME			     UINT32_MAX

static void expect(const uint32_t *words, size_t n, int result)
{
	struct symbol_query queries[N];
	own(own_pool_free) struct pool *pool = NULL;

	assert_int_equal(pool_new(&pool), 0);
	assert_int_equal(receive(words, n * sizeof(*words), pool, queries), result);
}

#define EXPECT(result, ...)                                                                        \
	expect((const uint32_t[]){ __VA_ARGS__ },                                                  \
	       sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), result)

static void false_answers_are_refused(void **state)
{
	(void)state;
	EXPECT(0, END);
	EXPECT(0, ANSWER(1, 4, 0), ABCD, ANSWER(2, SAME, 0), END);
	/* no such query; the same one again; an earlier one */
	EXPECT(-EPROTO, ANSWER(4, 4, 0), ABCD, END);
	EXPECT(-EPROTO, ANSWER(1, 4, 0), ABCD, ANSWER(1, SAME, 0), END);
	EXPECT(-EPROTO, ANSWER(1, 4, 0), ABCD, ANSWER(0, SAME, 0), END);
	/* SAME without an earlier name, no name, names too long or with a NUL in them */
	EXPECT(-EPROTO, ANSWER(1, SAME, 0), END);
	EXPECT(-EPROTO, ANSWER(1, 0, 4), ABCD, END);
	EXPECT(-EPROTO, ANSWER(1, DEMANGLE_SIZE, 0), ABCD, END);
	EXPECT(-EPROTO, ANSWER(1, 4, DEMANGLE_SIZE), ABCD, ABCD, END);
	EXPECT(-EPROTO, ANSWER(1, 4, 0), 0x64006261, END);
	EXPECT(-EPROTO, ANSWER(1, 4, 4), ABCD, 0x64006261, END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_arrive),
		cmocka_unit_test(addresses_arrive),
		cmocka_unit_test(names_that_are_too_long_are_cut),
		cmocka_unit_test(false_answers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
