// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/elf_file.h"
#include "symbolize/file_symbols.h"
#include "symbolize/vdso.h"

static void has_the_clock(void **state)
{
	/* Every 16 bytes: some are in clock_gettime(). */
	struct symbol_query queries[1024] = { 0 };
	struct elf_file *elf = NULL;
	struct pool *pool = NULL;
	const void *bytes;
	size_t size, n;
	bool found = false;

	(void)state;
	if (vdso_find(&bytes, &size))
		skip();
	assert_int_equal(elf_file_open_memory(bytes, size, &elf), 0);
	elf_file_close(elf);
	n = size / 16 < 1024 ? size / 16 : 1024;
	for (size_t i = 0; i < n; i++)
		queries[i].address = i * 16;
	assert_int_equal(pool_new(&pool), 0);
	assert_int_equal(file_symbols_find_memory(bytes, size, pool, queries, n), 0);
	for (size_t i = 0; i < n; i++) {
		if (!queries[i].name)
			continue;
		assert_true(queries[i].start <= queries[i].address);
		/* x86: clock_gettime is an alias of __vdso_clock_gettime; arm64: __kernel_... */
		found |= strstr(queries[i].name, "clock_gettime") != NULL;
	}
	assert_true(found);
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
