// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/orc_tables.h"

#define TABLES                                                                                     \
	"ffffffff81000000 T _stext\n"                                                              \
	"ffffffff81001000 T arch_rethook_trampoline\n"                                             \
	"ffffffff81001800 T schedule\n"                                                            \
	"ffffffff81002000 T return_to_handler\n"                                                   \
	"ffffffff82000000 T _etext\n"                                                              \
	"ffffffff83000000 R __start_orc_unwind_ip\n"                                               \
	"ffffffff83000040 R __start_orc_unwind\n"                                                  \
	"ffffffff83000040 R __stop_orc_unwind_ip\n"

static int file_of(const char *text)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct wire_orc read_text(const char *text)
{
	struct wire_orc orc = { 0 };
	int fd = file_of(text);

	orc_tables_read(fd, &orc);
	close(fd);
	return orc;
}

static void they_are_where_kallsyms_says(void **state)
{
	struct wire_orc orc =
		read_text(TABLES "ffffffffc0000000 t _stext\t[module]\nno line\n\nffffffff T x\n");

	(void)state;
	assert_int_equal(orc.n, 16);
	assert_int_equal(orc.ips, 0xffffffff83000000);
	assert_int_equal(orc.entries, 0xffffffff83000040);
	assert_int_equal(orc.text, 0xffffffff81000000);
	assert_int_equal(orc.text_end, 0xffffffff82000000);
	assert_int_equal(orc.hooks[0], 0xffffffff81002000);
	assert_int_equal(orc.hooks[1], 0xffffffff81001000);
}

static void what_is_hidden_or_not_there_is_none(void **state)
{
	struct wire_orc orc = read_text("0000000000000000 T _stext\n"
					"0000000000000000 T _etext\n"
					"0000000000000000 R __start_orc_unwind_ip\n"
					"0000000000000000 R __start_orc_unwind\n"
					"0000000000000000 R __stop_orc_unwind_ip\n");

	(void)state;
	assert_int_equal(orc.n, 0);
	orc = read_text(strchr(TABLES, '\n') + 1); /* no _stext */
	assert_int_equal(orc.n, 0);
	memset(&orc, 0, sizeof(orc));
	orc_tables_read(-1, &orc);
	assert_int_equal(orc.n, 0);
}

static int answer(void *context, const char *name, uint64_t *ret_address)
{
	int *questions = context;

	++*questions;
	if (strcmp(name, "__start_orc_unwind_ip") == 0)
		*ret_address = 1000;
	else if (strcmp(name, "__stop_orc_unwind_ip") == 0)
		*ret_address = 1400;
	else if (strcmp(name, "__start_orc_unwind") == 0)
		*ret_address = 2000;
	else if (strcmp(name, "_stext") == 0)
		*ret_address = 5000;
	else if (strcmp(name, "_etext") == 0)
		*ret_address = 6000;
	else if (strcmp(name, "schedule") == 0)
		*ret_address = 5600;
	else if (strcmp(name, "__kretprobe_trampoline") == 0)
		*ret_address = 5500;
	else
		return -ENOENT;
	return 0;
}

static int refuse(void *context, const char *name, uint64_t *ret_address)
{
	int *questions = context;

	(void)name, (void)ret_address;
	++*questions;
	return -EPERM;
}

static void the_kernel_can_be_asked(void **state)
{
	int questions = 0;
	struct kernel_lookup lookup = { .context = &questions, .address_of = answer };
	struct wire_orc orc = { 0 }, none = { 0 };

	(void)state;
	orc_tables_look_up(&lookup, &orc);
	assert_int_equal(orc.n, 100);
	assert_int_equal(orc.hooks[0], 0);
	assert_int_equal(orc.hooks[1], 5500);
	questions = 0;
	lookup.address_of = refuse;
	orc_tables_look_up(&lookup, &none);
	assert_int_equal(none.n, 0);
	assert_int_equal(questions, 1);
}

static void put(const char *directory, const char *name, const char *text)
{
	char path[400];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void modules_are_sorted_and_whole(void **state)
{
	char directory[] = "/tmp/stacktally-unit-XXXXXX", path[400];
	static const char list[] = "late 8192 1 - Live 0xffffffffc0004000\n"
				   "early 4096 0 late, Live 0xffffffffc0001000 (OE)\n"
				   "going 4096 0 - Unloading 0xffffffffc0002000\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n"
				   "../late 4096 0 - Live 0xffffffffc0009000\n"
				   "without 4096 0 - Live 0xffffffffc0003000\n"
				   "short\n";
	static const char *const names[] = { "late", "early", "without" };
	struct wire_module modules[WIRE_MAX_MODULES];
	int file = file_of(list), fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/%s/sections", directory, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put(directory, "late/sections/.gnu.linkonce.this_module", "0xffffffffc0005000\n");
	put(directory, "late/sections/.orc_unwind_ip", "0xffffffffc0005800\n");
	put(directory, "early/sections/.gnu.linkonce.this_module", "0xffffffffc0001800\n");
	put(directory, "early/sections/.orc_unwind_ip", "0xffffffffc0001c00\n");
	put(directory, "without/sections/.gnu.linkonce.this_module", "0xffffffffc0003800\n");
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(orc_tables_modules(file, fd, modules), 2);
	assert_int_equal(modules[0].start, 0xffffffffc0001000);
	assert_int_equal(modules[0].end, 0xffffffffc0002000);
	assert_int_equal(modules[0].module, 0xffffffffc0001800);
	assert_int_equal(modules[0].ips, 0xffffffffc0001c00);
	assert_int_equal(modules[1].start, 0xffffffffc0004000);
	assert_int_equal(orc_tables_modules(-1, fd, modules), 0);
	close(file);
	close(fd);
	snprintf(path, sizeof(path), "rm -r %s", directory);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_where_kallsyms_says),
		cmocka_unit_test(what_is_hidden_or_not_there_is_none),
		cmocka_unit_test(the_kernel_can_be_asked),
		cmocka_unit_test(modules_are_sorted_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
