// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions from a child that reads DWARF, and from one that a file has taken over. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "built_files.h"
#include "symbolize/file_symbols.h"
#include "symbolize/inlines_internal.h"

static int setup(void **state)
{
	if (built_setup(state))
		return -1;
	built_write("a.c", "volatile int sink;\n"
			   "static inline __attribute__((always_inline)) void inner(int x)\n"
			   "{ sink = x; }\n"
			   "static inline __attribute__((always_inline)) void middle(int x)\n"
			   "{ inner(x + sink); }\n"
			   "__attribute__((noinline)) void outer(int x) { middle(x); }\n"
			   "int main(void) { outer(1); return 0; }\n");
	/* Half of the DWARF of `torn` is overwritten. */
	return built_run("gcc -O1 -g a.c -o plain && gcc -O1 -g -gz a.c -o compressed && "
			 "gcc -O1 a.c -o without && "
			 "gcc -O1 -g -Wl,--build-id a.c -o with_id && strip with_id -o bare && "
			 "objcopy --dump-section .debug_info=info plain && "
			 "head -c 60 info >torn_info && yes | head -c 200 >>torn_info && "
			 "objcopy --update-section .debug_info=torn_info plain torn")
		       ? 0
		       : -1;
}

struct found {
	struct pool *pool;
	struct inlines *inlines;
	struct symbol_query queries[512];
	size_t n, with_chain, with_inner;
};

static void found_clear(struct found *found)
{
	inlines_free(found->inlines);
	pool_free(found->pool);
}

/* Looks up every address of outer(). */
static void look(struct found *found, const char *name)
{
	uint64_t size, start = built_value("plain", "outer", &size);
	own(own_fd) int fd = built_open(name);

	*found = (struct found){ .n = size };
	assert_in_range(size, 4, 512);
	for (size_t i = 0; i < size; i++)
		found->queries[i] =
			(struct symbol_query){ .address = start + i, .chain = QUERY_NO_CHAIN };
	assert_int_equal(pool_new(&found->pool), 0);
	assert_int_equal(inlines_new(found->pool, true, true, &found->inlines), 0);
	assert_int_equal(inlines_find(found->inlines, fd, fd, found->queries, size), 0);
	for (size_t i = 0; i < size; i++) {
		const struct inline_chain *chain;
		const struct inline_frame *frames;

		if (found->queries[i].chain == QUERY_NO_CHAIN)
			continue;
		chain = inlines_chain(found->inlines, found->queries[i].chain);
		frames = inlines_frames(found->inlines, chain);
		found->with_chain++;
		if (chain->n < 3)
			continue;
		found->with_inner++;
		assert_int_equal(chain->n, 3);
		assert_string_equal(frames[0].name, "inner");
		assert_string_equal(frames[1].name, "middle");
		assert_null(frames[2].name);
		assert_int_equal(frames[0].line, 3);
		assert_int_equal(frames[1].line, 5);
		assert_int_equal(frames[2].line, 6);
		assert_non_null(strstr(frames[0].file, "a.c"));
	}
}

static void chains_come_from_the_child(void **state)
{
	struct found found;

	(void)state;
	look(&found, "plain");
	assert_true(found.with_inner > 0);
	assert_true(found.with_chain == found.n);
	assert_int_equal(inlines_n_broken(found.inlines), 0);
	found_clear(&found);
	look(&found, "compressed");
	assert_true(found.with_inner > 0);
	found_clear(&found);
}

static void files_without_dwarf_are_not_broken(void **state)
{
	struct found found;

	(void)state;
	look(&found, "without");
	assert_int_equal(found.with_chain, 0);
	assert_int_equal(inlines_n_broken(found.inlines), 0);
	found_clear(&found);
}

static void torn_dwarf_is_survived(void **state)
{
	struct found found;

	(void)state;
	look(&found, "torn");
	assert_int_equal(found.with_inner, 0);
	found_clear(&found);
}

/* The number of frames that outer() has in `bare`, whose DWARF may be below `symfs`. */
static uint32_t frames_of_bare(const char *symfs)
{
	const struct debug_places places = { .root = "/nonexistent", .symfs = symfs };
	struct symbol_query query = { .chain = QUERY_NO_CHAIN };
	own(own_confined_free) struct confined *readers = NULL;
	own(own_fd) int fd = built_open("bare");
	struct file_symbols_request request = { .places = &places, .fd = fd };
	struct inlines *inlines = NULL;
	char path[256];
	uint32_t n = 0;

	snprintf(path, sizeof(path), "%s/bare", built_directory);
	request.path = path;
	assert_int_equal(confined_new(&confined_limits_default, &readers), 0);
	request.readers = readers;
	assert_int_equal(pool_new(&request.pool), 0);
	assert_int_equal(inlines_new(request.pool, true, true, &inlines), 0);
	request.inlines = inlines;
	/* Its address is its offset in the file, as this is position-independent code. */
	query.address = built_value("with_id", "outer", NULL);
	assert_int_equal(file_symbols_find(&request, &query, 1), 0);
	if (query.chain != QUERY_NO_CHAIN)
		n = inlines_chain(inlines, query.chain)->n;
	inlines_free(inlines);
	pool_free(request.pool);
	return n;
}

static void the_tree_that_is_asked_for_has_chains(void **state)
{
	char symfs[128];

	(void)state;
	snprintf(symfs, sizeof(symfs), "%s/symfs", built_directory);
	assert_true(built_run("mkdir -p symfs/$PWD && cp with_id symfs/$PWD/bare"));
	assert_int_equal(frames_of_bare(NULL), 0);
	assert_true(frames_of_bare(symfs) > 1);
	/* Another build at that place. */
	assert_true(built_run("cp compressed symfs/$PWD/bare"));
	assert_int_equal(frames_of_bare(symfs), 0);
}

/* ---- from a child that was taken over */

/* The result of receiving these bytes. */
static int receive(struct found *found, const void *bytes, size_t size)
{
	struct byte_memory memory = { bytes, size };
	const struct byte_source source = { byte_memory_read, &memory };

	*found = (struct found){ .n = 4 };
	for (size_t i = 0; i < found->n; i++)
		found->queries[i].chain = QUERY_NO_CHAIN;
	assert_int_equal(pool_new(&found->pool), 0);
	assert_int_equal(inlines_new(found->pool, true, true, &found->inlines), 0);
	return inlines_receive(found->inlines, &source, found->queries, found->n);
}

static void expect(const uint32_t *words, size_t n, int result, uint32_t chain_of_1)
{
	struct found found;

	assert_int_equal(receive(&found, words, n * sizeof(*words)), result);
	assert_int_equal(found.queries[1].chain, chain_of_1);
	found_clear(&found);
}

#define WORDS(...)                                                                                 \
	(const uint32_t[]){ __VA_ARGS__ },                                                         \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
#define NONE	UINT32_MAX
#define THE_END UINT32_MAX, 0

static void false_answers_are_refused(void **state)
{
	(void)state;
	expect(WORDS(THE_END), 0, NONE);
	expect(WORDS(1, 1, NONE, NONE, NONE, 7, THE_END), 0, 0);
	expect(WORDS(1, 1, NONE, NONE, NONE, 7, 3, 0, THE_END), 0, 0);
	expect(WORDS(1, 1, 4, NONE, NONE, 7, 0x64636261, THE_END), 0, 0);
	/* cut off */
	expect(WORDS(1, 1, NONE, NONE, NONE, 7), -ENODATA, 0);
	expect(WORDS(1, 2, NONE, NONE, NONE, 7), -ENODATA, NONE);
	expect(WORDS(1), -ENODATA, NONE);
	/* no such query; the same one again; an earlier one is allowed */
	expect(WORDS(4, 1, NONE, NONE, NONE, 7, THE_END), -EPROTO, NONE);
	expect(WORDS(1, 1, NONE, NONE, NONE, 7, 1, 0, THE_END), -EPROTO, 0);
	expect(WORDS(1, 1, NONE, NONE, NONE, 7, 0, 0, THE_END), 0, 0);
	/* a repeated chain without an earlier one; too long chains and strings; a NUL */
	expect(WORDS(1, 0, THE_END), -EPROTO, NONE);
	expect(WORDS(1, INLINES_MAX_DEPTH + 1, THE_END), -EPROTO, NONE);
	expect(WORDS(1, 1, DEMANGLE_SIZE + 1, NONE, NONE, 7, THE_END), -EPROTO, NONE);
	expect(WORDS(1, 1, NONE, NONE, NONE - 1, 7, THE_END), -EPROTO, NONE);
	expect(WORDS(1, 1, 4, NONE, NONE, 7, 0x64006261, THE_END), -EPROTO, NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_come_from_the_child),
		cmocka_unit_test(files_without_dwarf_are_not_broken),
		cmocka_unit_test(torn_dwarf_is_survived),
		cmocka_unit_test(the_tree_that_is_asked_for_has_chains),
		cmocka_unit_test(false_answers_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, built_teardown);
}
