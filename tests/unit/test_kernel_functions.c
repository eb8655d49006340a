// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernel functions can be traced, from texts as the kernel shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "trigger/kernel_functions.h"
#include "trigger/matcher.h"

static char KALLSYMS[] = "ffffffff81000000 T _stext\n"
			 "ffffffff81001000 T vfs_read\n"
			 "ffffffff81001000 T vfs_read_alias\n"
			 "ffffffff81002000 t vfs_write\n"
			 "ffffffff81003000 t vfs_write\n"
			 "ffffffff81004000 t vfs_notrace\n"
			 "ffffffff81005000 W vfs_weak\n"
			 "ffffffff81006000 D vfs_data\n"
			 "ffffffff81007000 t vfs_black\n"
			 "ffffffff81008000 t vfs_read.cold\n"
			 "ffffffff81009000 t perf_vfs\n"
			 "ffffffff8100a000 T __irqentry_text_start\n"
			 "ffffffff8100a010 T vfs_irq\n"
			 "ffffffff8100b000 T __irqentry_text_end\n"
			 "ffffffff82000000 D __init_begin\n"
			 "ffffffff82000010 t vfs_init\n"
			 "ffffffff82001000 D __init_end\n"
			 "ffffffffa0001000 t vfs_module\t[ext4]\n"
			 "ffffffffa0002000 t vfs_module\t[xfs]\n"
			 "broken line\n\n1\n";
static char TRACEABLE[] = "vfs_read\nvfs_read_alias\nvfs_write\nvfs_weak\nvfs_black\n"
			  "vfs_read.cold\nperf_vfs\nvfs_irq\nvfs_init\nvfs_module [ext4]\n"
			  "__ftrace_invalid_address___42\ntcp_sendmsg\n";
static char SITES[] = "ffffffff81001004 vfs_read\nffffffff81003004 vfs_write\n";
static char BLACKLIST[] = "0xffffffff81007000-0xffffffff81007020\tvfs_black\njunk\n";
static char HIDDEN[] = "0000000000000000 T vfs_read\n0000000000000000 t vfs_write\n"
		       "0000000000000000 t vfs_write\n";

static int file_of(const char *text)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int read_texts(char *kallsyms, char *traceable, char *sites, char *blacklist,
		      const char *pattern, bool exact, struct nearest *nearest,
		      struct kernel_functions *ret_functions)
{
	char *const texts[] = { kallsyms, traceable, sites, blacklist };
	struct matcher *matcher = NULL;
	struct error err = { 0 };
	int files[4], rc;

	for (size_t i = 0; i < 4; i++)
		files[i] = texts[i] ? file_of(texts[i]) : -1;
	assert_int_equal(matcher_new(pattern, false, &matcher, &err), 0);
	rc = kernel_functions_read(&(struct kernel_texts){ files[0], files[1], files[2], files[3] },
				   matcher, exact, nearest, ret_functions, &err);
	matcher_free(matcher);
	for (size_t i = 0; i < 4; i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	return rc;
}

static void only_traceable_functions_are_found(void **state)
{
	static const struct {
		uint64_t address;
		const char *name;
	} want[] = {
		{ 0xffffffff81001000, "vfs_read" },   { 0xffffffff81002000, "vfs_write" },
		{ 0xffffffff81003000, "vfs_write" },  { 0xffffffff81005000, "vfs_weak" },
		{ 0xffffffffa0001000, "vfs_module" },
	};
	struct kernel_functions found;

	(void)state;
	assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, BLACKLIST, "*vfs*", false, NULL,
				    &found),
			 0);
	assert_int_equal(found.n, sizeof(want) / sizeof(want[0]));
	assert_true(found.have_addresses);
	for (uint32_t i = 0; i < found.n; i++) {
		assert_int_equal(found.items[i].address, want[i].address);
		assert_string_equal(found.items[i].name, want[i].name);
	}
	kernel_functions_clear(&found);
}

static void functions_of_one_name_are_told_by_address(void **state)
{
	struct kernel_functions found;

	(void)state;
	assert_int_equal(read_texts(KALLSYMS, NULL, SITES, NULL, "vfs_write", true, NULL, &found),
			 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.items[0].address, 0xffffffff81003000);
	kernel_functions_clear(&found);
}

static void the_reason_is_known(void **state)
{
	static const struct {
		const char *name;
		enum kernel_untraceable why;
	} cases[] = {
		{ "vfs_notrace", KERNEL_NOTRACE },  { "vfs_black", KERNEL_BLACKLISTED },
		{ "vfs_init", KERNEL_INIT },	    { "vfs_irq", KERNEL_IRQENTRY },
		{ "vfs_read.cold", KERNEL_TRACER }, { "vfs_data", KERNEL_ABSENT },
		{ "vfs_nosuch", KERNEL_ABSENT },
	};
	struct kernel_functions found;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, BLACKLIST, cases[i].name,
					    true, NULL, &found),
				 0);
		assert_int_equal(found.n, 0);
		assert_int_equal(found.untraceable, cases[i].why);
		kernel_functions_clear(&found);
	}
	/* A tracer's own function is found by its exact name only. */
	assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, NULL, "perf_vfs", true, NULL,
				    &found),
			 0);
	assert_int_equal(found.n, 1);
	kernel_functions_clear(&found);
	assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, NULL, "perf_*", false, NULL, &found),
			 0);
	assert_int_equal(found.n, 0);
	kernel_functions_clear(&found);
}

static void near_names_can_be_traced(void **state)
{
	struct kernel_functions found;
	struct nearest nearest;

	(void)state;
	nearest_init(&nearest, "tcp_sendmgs");
	assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, NULL, "tcp_sendmgs", true, &nearest,
				    &found),
			 0);
	assert_int_equal(nearest.n, 1);
	assert_string_equal(nearest.found[0].name, "tcp_sendmsg");
	kernel_functions_clear(&found);
	nearest_init(&nearest, "vfs_notrac");
	assert_int_equal(read_texts(KALLSYMS, TRACEABLE, NULL, NULL, "vfs_notrac", true, &nearest,
				    &found),
			 0);
	for (uint32_t i = 0; i < nearest.n; i++)
		assert_string_not_equal(nearest.found[i].name, "vfs_notrace");
	kernel_functions_clear(&found);
}

static void hidden_addresses_leave_the_names(void **state)
{
	struct kernel_functions found;

	(void)state;
	assert_int_equal(read_texts(HIDDEN, TRACEABLE, NULL, BLACKLIST, "vfs_*", false, NULL,
				    &found),
			 0);
	assert_int_equal(found.n, 2);
	assert_false(found.have_addresses);
	kernel_functions_clear(&found);
}

static void without_ftrace_kallsyms_decides(void **state)
{
	struct kernel_functions found;

	(void)state;
	assert_int_equal(read_texts(KALLSYMS, NULL, NULL, BLACKLIST, "vfs_notrace", true, NULL,
				    &found),
			 0);
	assert_int_equal(found.n, 1);
	kernel_functions_clear(&found);
	kernel_functions_clear(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_traceable_functions_are_found),
		cmocka_unit_test(functions_of_one_name_are_told_by_address),
		cmocka_unit_test(the_reason_is_known),
		cmocka_unit_test(near_names_can_be_traced),
		cmocka_unit_test(hidden_addresses_leave_the_names),
		cmocka_unit_test(without_ftrace_kallsyms_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
