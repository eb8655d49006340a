// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Every second CPU, as where hyper-threads are off: too long for one read of sysfs. */
static void long_lists_are_read_to_their_end(void **state)
{
	char path[] = "/tmp/test_cpu_list.XXXXXX";
	struct cpu_list list = { 0 };
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	assert_non_null(file);
	for (int cpu = 0; cpu < CPU_LIST_MAX; cpu += 2)
		fprintf(file, "%s%d", cpu ? "," : "", cpu);
	fputc('\n', file);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(cpu_list_read(path, &list), 0);
	assert_int_equal(list.n, CPU_LIST_MAX / 2);
	assert_int_equal(list.cpus[list.n - 1], CPU_LIST_MAX - 2);
	cpu_list_clear(&list);

	/* A text longer than any list is refused, not cut. */
	for (int i = 0; i < CPU_LIST_MAX; i++)
		fputs("\n\n\n\n", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(cpu_list_read(path, &list), -EFBIG);
	assert_null(list.cpus);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_as_the_kernel_writes_them),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(long_lists_are_read_to_their_end),
		cmocka_unit_test(this_machine_has_the_cpus_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
