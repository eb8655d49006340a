// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cpu_list.h"

static void assert_list(const char *text, const int *cpus, uint32_t n)
{
	struct cpu_list list = { 0 };

	assert_int_equal(cpu_list_parse(text, &list), 0);
	assert_int_equal(list.n, n);
	if (n)
		assert_memory_equal(list.cpus, cpus, n * sizeof(*cpus));
	cpu_list_clear(&list);
}

static void lists_are_read_as_the_kernel_writes_them(void **state)
{
	(void)state;
	assert_list("0\n", (const int[]){ 0 }, 1);
	assert_list("0-3,8,10-11\n", (const int[]){ 0, 1, 2, 3, 8, 10, 11 }, 7);
	assert_list("65535", (const int[]){ 65535 }, 1);
	assert_list("\n", NULL, 0);
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = { "x",	"3-1",	 "1-",	  "-1",
					     "1,,2",	"65536", "0 - 3", "1;2",
					     "0-99999", ",",	 "1-2-3", "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cpu_list list = { 0 };

		assert_int_equal(cpu_list_parse(texts[i], &list), -EINVAL);
		assert_null(list.cpus);
	}
}

static void this_machine_has_the_cpus_it_says(void **state)
{
	struct cpu_list online = { 0 };

	(void)state;
	assert_int_equal(cpu_list_read(CPU_LIST_ONLINE, &online), 0);
	assert_int_equal(online.n, sysconf(_SC_NPROCESSORS_ONLN));
	cpu_list_clear(&online);
	assert_int_equal(cpu_list_read("/nonexistent", &online), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_as_the_kernel_writes_them),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(this_machine_has_the_cpus_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
