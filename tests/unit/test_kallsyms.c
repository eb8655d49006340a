// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
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

#include "kernel/kallsyms.h"
#include "kernel/kallsyms_lines.h"

static int file_of(const char *text)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct kallsyms *read_lists(const char *symbols, const char *modules)
{
	struct kallsyms *kallsyms = NULL;
	int symbols_fd = file_of(symbols), modules_fd = modules ? file_of(modules) : -1;

	assert_int_equal(kallsyms_read(symbols_fd, modules_fd, &kallsyms), 0);
	close(symbols_fd);
	if (modules_fd >= 0)
		close(modules_fd);
	return kallsyms;
}

static void assert_symbol(const struct kallsyms *kallsyms, uint64_t address, const char *name,
			  const char *module, uint64_t start)
{
	struct kernel_symbol symbol;

	assert_true(kallsyms_find(kallsyms, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, module);
	assert_int_equal(symbol.start, start);
}

static void assert_none(const struct kallsyms *kallsyms, uint64_t address)
{
	struct kernel_symbol symbol;

	assert_false(kallsyms_find(kallsyms, address, &symbol));
}

/* In the order of the kernel: the core kernel sorted, then modules and programs as loaded. */
static const char list[] = "0000000000000000 A fixed_percpu_data\n"
			   "0000000000001000 A cpu_tss_rw\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000030 T __pfx_do_it\n"
			   "ffffffff81000040 t do_it\n"
			   "ffffffff81000080 t __pfx___do_sys_getpid\n"
			   "ffffffff81000080 T __pfx___ia32_sys_getpid\n"
			   "ffffffff81000080 T __pfx___x64_sys_getpid\n"
			   "ffffffff81000090 t __do_sys_getpid\n"
			   "ffffffff81000090 T __ia32_sys_getpid\n"
			   "ffffffff81000090 T __x64_sys_getpid\n"
			   "ffffffff810000a0 T __sched_text_start\n"
			   "ffffffff810000a0 t __schedule\n"
			   "ffffffff810000c0 T __sched_text_end\n"
			   "ffffffff810000d0 W weak_one\n"
			   "ffffffff810000d0 T strong_one\n"
			   "ffffffff810000e0 T last_one\n"
			   "ffffffff81000100 T _etext\n"
			   "ffffffff82000000 D some_data\n"
			   "ffffffff82000100 T after_data\n"
			   "ffffffff82000200 d more_data\n"
			   "ffffffffc0100000 t fs_read\t[ext4]\n"
			   "ffffffffc0100100 t fs_write\t[ext4]\n"
			   "ffffffffc0100200 d fs_data\t[ext4]\n"
			   "ffffffffc0100300 T fs_exit\t[ext4]\n"
			   "ffffffffc0000000 t early_fn\t[loop]\n"
			   "ffffffffc0200000 t bpf_prog_6deef7357e7b4530_main\t[bpf]\n";
static const char modules[] = "ext4 4096 1 - Live 0xffffffffc0100000\n"
			      "loop 40960 2 ext4,jbd2, Live 0xffffffffc0000000 (OE)\n";

static void finds_the_symbol_below(void **state)
{
	struct kallsyms *kallsyms = read_lists(list, modules);

	(void)state;
	assert_symbol(kallsyms, 0xffffffff81000001, "startup_64", "[kernel]", 0xffffffff81000000);
	assert_symbol(kallsyms, 0xffffffff81000040, "do_it", "[kernel]", 0xffffffff81000040);
	assert_symbol(kallsyms, 0xffffffff8100007f, "do_it", "[kernel]", 0xffffffff81000040);
	assert_symbol(kallsyms, 0xffffffffc0100050, "fs_read", "[ext4]", 0xffffffffc0100000);
	assert_symbol(kallsyms, 0xffffffffc0000005, "early_fn", "[loop]", 0xffffffffc0000000);
	assert_symbol(kallsyms, 0xffffffffc0200020, "bpf_prog_6deef7357e7b4530_main", "[bpf]",
		      0xffffffffc0200000);
	assert_none(kallsyms, 0xffffffff80ffffff);
	assert_none(kallsyms, 0x1000);
	kallsyms_free(kallsyms);
}

static void padding_has_its_name(void **state)
{
	struct kallsyms *kallsyms = read_lists(list, modules);

	(void)state;
	assert_symbol(kallsyms, 0xffffffff81000035, "__pfx_do_it", "[kernel]", 0xffffffff81000030);
	assert_symbol(kallsyms, 0xffffffff81000085, "__pfx___x64_sys_getpid", "[kernel]",
		      0xffffffff81000080);
	kallsyms_free(kallsyms);
}

static void chooses_among_aliases(void **state)
{
	struct kallsyms *kallsyms = read_lists(list, modules);

	(void)state;
	assert_symbol(kallsyms, 0xffffffff81000091, "__x64_sys_getpid", "[kernel]",
		      0xffffffff81000090);
	assert_symbol(kallsyms, 0xffffffff810000a1, "__schedule", "[kernel]", 0xffffffff810000a0);
	assert_symbol(kallsyms, 0xffffffff810000d1, "strong_one", "[kernel]", 0xffffffff810000d0);
	kallsyms_free(kallsyms);
}

static void never_beyond_the_end(void **state)
{
	struct kallsyms *kallsyms = read_lists(list, modules);
	uint64_t start, end;

	(void)state;
	assert_none(kallsyms, 0xffffffff810000c5); /* between sections */
	assert_symbol(kallsyms, 0xffffffff810000ff, "last_one", "[kernel]", 0xffffffff810000e0);
	assert_none(kallsyms, 0xffffffff81000100);
	assert_none(kallsyms, 0xffffffff81ffffff);
	assert_none(kallsyms, 0xffffffff82000050); /* data */
	assert_symbol(kallsyms, 0xffffffff82000150, "after_data", "[kernel]", 0xffffffff82000100);
	assert_none(kallsyms, 0xffffffff82000250);
	assert_none(kallsyms, 0xffffffffc0100250);
	assert_symbol(kallsyms, 0xffffffffc0100fff, "fs_exit", "[ext4]", 0xffffffffc0100300);
	assert_none(kallsyms, 0xffffffffc0101000); /* the module ends */
	assert_symbol(kallsyms, 0xffffffffc0009fff, "early_fn", "[loop]", 0xffffffffc0000000);
	assert_none(kallsyms, 0xffffffffc000a000);
	assert_none(kallsyms, 0xffffffffc0400000); /* beyond the longest program */
	assert_none(kallsyms, UINT64_MAX);
	kallsyms_core_range(kallsyms, &start, &end);
	assert_int_equal(start, 0xffffffff81000000);
	assert_int_equal(end, 0xffffffff81000100);
	kallsyms_free(kallsyms);
}

/*
 * Where a function begins at an address that ends another one, the function is found, in whichever
 * order a list that is not sorted has them.
 */
static void functions_begin_where_others_end(void **state)
{
	struct kallsyms *kallsyms = read_lists("ffffffffc0200000 t last_fn\t[ext4]\n"
					       "ffffffffc0200100 d end_of_text\t[ext4]\n"
					       "ffffffffc0300000 t next_fn\t[loop]\n"
					       "ffffffffc0300100 t late_fn\t[loop]\n"
					       "ffffffffc0100000 t first_fn\t[loop]\n"
					       "ffffffffc0200100 t behind_fn\t[loop]\n"
					       "ffffffffc0300100 d end_of_next\t[loop]\n",
					       NULL);

	(void)state;
	assert_symbol(kallsyms, 0xffffffffc0200101, "behind_fn", "[loop]", 0xffffffffc0200100);
	assert_symbol(kallsyms, 0xffffffffc0300101, "late_fn", "[loop]", 0xffffffffc0300100);
	kallsyms_free(kallsyms);
}

/* The result of reading a list with a function in each of so many modules. */
static int read_modules(uint32_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct kallsyms *kallsyms = NULL;
	int fd, r;

	assert_non_null(out);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "ffffffffc%07x t begin\t[%u]\n", i * 16, i);
	fclose(out);
	fd = file_of(text);
	r = kallsyms_read(fd, -1, &kallsyms);
	close(fd);
	free(text);
	kallsyms_free(kallsyms);
	return r;
}

static void modules_have_a_limit(void **state)
{
	(void)state;
	assert_int_equal(read_modules(8191), 0); /* and the kernel itself */
	assert_int_equal(read_modules(8192), -EFBIG);
}

static void without_modules_the_next_symbol_ends(void **state)
{
	struct kallsyms *kallsyms = read_lists(list, NULL);

	(void)state;
	assert_symbol(kallsyms, 0xffffffffc0101000, "fs_exit", "[ext4]", 0xffffffffc0100300);
	kallsyms_free(kallsyms);
}

static void tells_when_addresses_are_hidden(void **state)
{
	struct kallsyms *kallsyms =
		read_lists("0000000000000000 T _stext\n0000000000000000 t do_it\n", NULL);

	(void)state;
	assert_true(kallsyms_are_hidden(kallsyms));
	assert_none(kallsyms, 0xffffffff81000000);
	assert_none(kallsyms, 0);
	kallsyms_free(kallsyms);
	kallsyms = read_lists("", NULL);
	assert_false(kallsyms_are_hidden(kallsyms));
	kallsyms_free(kallsyms);
	kallsyms = read_lists(list, NULL);
	assert_false(kallsyms_are_hidden(kallsyms));
	kallsyms_free(kallsyms);
}

static bool shows_addresses(const char *text)
{
	int fd = file_of(text);
	bool shows = kallsyms_lines_show_addresses(fd);

	close(fd);
	return shows;
}

static void a_few_lines_tell_whether_addresses_are_shown(void **state)
{
	char many[100 * 40] = "";

	(void)state;
	assert_true(shows_addresses(list));
	assert_false(shows_addresses("0000000000000000 T _text\n0000000000000000 T schedule\n"));
	assert_false(shows_addresses(""));
	for (int i = 0; i < 63; i++)
		strcat(many, "0000000000000000 A per_cpu\n");
	strcat(many, "ffffffff81000000 T _text\n");
	assert_true(shows_addresses(many));
	memset(many, 0, sizeof(many));
	for (int i = 0; i < 64; i++)
		strcat(many, "0000000000000000 A per_cpu\n");
	strcat(many, "ffffffff81000000 T _text\n");
	assert_false(shows_addresses(many));
}

static int take_line(void *context, const struct kallsyms_line *line)
{
	char *all = context;

	sprintf(all + strlen(all), "%lx %c %s %s;", (unsigned long)line->address, line->type,
		line->name, line->module ? line->module : "-");
	assert_int_equal(line->name_size, strlen(line->name));
	assert_int_equal(line->module_size, line->module ? strlen(line->module) : 0);
	return strcmp(line->name, "stop") == 0 ? 7 : 0;
}

static void lines_have_their_parts(void **state)
{
	char all[400] = "";
	int fd = file_of(
		"ffffffff81000000 T _stext\n\njunk\n1\n1 T\n1 T \n1 T \t[ext4]\n2Tx\n2 T x\n"
		"3 t f\t[ext4]\n4 t g\t\n5 t h\tno\n6 D stop\n7 T after\n");

	(void)state;
	assert_int_equal(kallsyms_lines_read(fd, take_line, all), 7);
	assert_string_equal(all, "ffffffff81000000 T _stext -;2 T x -;3 t f [ext4];4 t g -;"
				 "5 t h -;6 D stop -;");
	close(fd);
}

static void survives_damage(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(list); size++) {
		char cut[sizeof(list)];
		struct kernel_symbol symbol;
		struct kallsyms *kallsyms;

		memcpy(cut, list, size);
		cut[size] = '\0';
		kallsyms = read_lists(cut, cut);
		if (kallsyms_find(kallsyms, 0xffffffff81000040, &symbol))
			assert_true(symbol.start <= 0xffffffff81000040);
		kallsyms_free(kallsyms);
	}
}

static void a_failing_read_is_an_error(void **state)
{
	struct kallsyms *kallsyms = NULL;
	int fd = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	(void)state;
	assert_int_equal(kallsyms_read(fd, -1, &kallsyms), -EISDIR);
	assert_null(kallsyms);
	close(fd);
}

/* Every function of the running kernel is found at its own address, by its name or an alias. */
static void knows_the_running_kernel(void **state)
{
	/* Copied first: BPF programs come and go between two reads. */
	FILE *running = fopen("/proc/kallsyms", "re"), *file = tmpfile();
	struct kallsyms *kallsyms = NULL;
	unsigned long address;
	char type, name[512], line[1024];
	uint32_t n = 0, same = 0;

	(void)state;
	assert_non_null(file);
	if (!running)
		skip();
	while (fgets(line, sizeof(line), running))
		fputs(line, file);
	fclose(running);
	rewind(file);
	assert_int_equal(kallsyms_read(fileno(file), -1, &kallsyms), 0);
	rewind(file);
	if (kallsyms_are_hidden(kallsyms)) {
		kallsyms_free(kallsyms);
		fclose(file);
		skip();
	}
	while (fgets(line, sizeof(line), file)) {
		struct kernel_symbol symbol;

		if (sscanf(line, "%lx %c %511s", &address, &type, name) != 3 || !address ||
		    (type != 't' && type != 'T') || strstr(name, "_text_end") ||
		    strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0)
			continue;
		n++;
		assert_true(kallsyms_find(kallsyms, address, &symbol));
		assert_int_equal(symbol.start, address);
		same += strcmp(symbol.name, name) == 0;
	}
	assert_true(n > 1000);
	assert_true(same > n / 100 * 95);
	kallsyms_free(kallsyms);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_symbol_below),
		cmocka_unit_test(padding_has_its_name),
		cmocka_unit_test(chooses_among_aliases),
		cmocka_unit_test(never_beyond_the_end),
		cmocka_unit_test(functions_begin_where_others_end),
		cmocka_unit_test(modules_have_a_limit),
		cmocka_unit_test(without_modules_the_next_symbol_ends),
		cmocka_unit_test(tells_when_addresses_are_hidden),
		cmocka_unit_test(a_few_lines_tell_whether_addresses_are_shown),
		cmocka_unit_test(lines_have_their_parts),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(a_failing_read_is_an_error),
		cmocka_unit_test(knows_the_running_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
