// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of real ELF files: offsets, aliases, C++ names, IFUNCs, code that cannot be probed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "built_files.h"
#include "trigger/functions.h"
#include "trigger/matcher.h"
#include "trigger/unprobeable.h"

static const char *const SOURCE =
	"#include <string.h>\n"
	"__attribute__((noinline)) int work(int i) { __asm__ volatile(\"\"); return i + 1; }\n"
	"int work_alias(int i) __attribute__((alias(\"work\")));\n"
	"__attribute__((noinline)) static int work_inner(int i) { __asm__ volatile(\"\"); return "
	"i; }\n"
	"static int choice(int i) { return i; }\n"
	"static int (*choose(void))(int) { return choice; }\n"
	"int chosen(int) __attribute__((ifunc(\"choose\")));\n"
	"int variable_work = 1;\n"
	"int main(int n, char **v) { (void)v; return work(work_inner(n)) + variable_work; }\n";

static const char *const CPLUSPLUS =
	"namespace space { struct A { static int b(int); int operator()(int) const; }; }\n"
	"int space::A::b(int i) { return i; }\n"
	"int space::A::operator()(int i) const { return i; }\n"
	"int main() { return space::A::b(0) + space::A()(1); }\n";

static int setup(void **state)
{
	if (built_setup(state) != 0)
		return -1;
	built_write("program.c", SOURCE);
	built_write("classes.cc", CPLUSPLUS);
	if (!built_run("gcc -O1 -o program program.c && g++ -O1 -o classes classes.cc"))
		return -1;
	return built_run("gcc -O1 -no-pie -Wl,-Ttext-segment=0x10000000 -o fixed program.c && "
			 "cp program stripped && strip stripped")
		       ? 0
		       : -1;
}

static int read_functions(const char *file, const char *pattern, struct functions *ret_functions,
			  struct nearest *nearest)
{
	struct matcher *matcher = NULL;
	struct error err = { 0 };
	char path[256];
	int fd, rc;

	snprintf(path, sizeof(path), "%s%s%s", file[0] == '/' ? "" : built_directory,
		 file[0] == '/' ? "" : "/", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(matcher_new(pattern, false, &matcher, &err), 0);
	rc = functions_read(&(struct functions_request){ .fd = fd,
							 .path = path,
							 .matcher = matcher,
							 .pid = getpid(),
							 .nearest = nearest },
			    ret_functions, &err);
	matcher_free(matcher);
	close(fd);
	return rc;
}

/* The file offset of a symbol, by objdump -F. */
static uint64_t offset_by_objdump(const char *file, const char *symbol)
{
	char command[400], line[200] = "";
	unsigned long long offset = 0;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "objdump -dF %s/%s | sed -n 's/.*<%s> (File Offset: 0x\\(.*\\)):.*/\\1/p'",
		 built_directory, file, symbol);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	if (fgets(line, sizeof(line), pipe))
		offset = strtoull(line, NULL, 16);
	pclose(pipe);
	return offset;
}

static void offsets_are_those_of_the_file(void **state)
{
	static const char *const files[] = { "program", "fixed" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct functions functions;
		uint64_t offset = offset_by_objdump(files[i], "work_inner");

		assert_true(offset != 0);
		assert_int_equal(read_functions(files[i], "work_inner", &functions, NULL), 0);
		assert_int_equal(functions.n, 1);
		assert_int_equal(functions.items[0].offset, offset);
		assert_string_equal(functions.items[0].name, "work_inner");
		functions_clear(&functions);
	}
}

static void aliases_count_once_and_variables_never(void **state)
{
	struct functions functions;

	(void)state;
	assert_int_equal(read_functions("program", "*work*", &functions, NULL), 0);
	assert_int_equal(functions.n, 2); /* work = work_alias, work_inner */
	assert_true(functions.items[0].offset != functions.items[1].offset);
	functions_clear(&functions);
}

static void cplusplus_names_match_as_written(void **state)
{
	static const char *const patterns[] = { "space::A::b", "space::A::b(int)", "*::A::b*",
						"space::A::operator()" };
	struct functions functions;

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		assert_int_equal(read_functions("classes", patterns[i], &functions, NULL), 0);
		assert_int_equal(functions.n, 1);
		functions_clear(&functions);
	}
	assert_int_equal(read_functions("classes", "_ZN5space1A1bEi", &functions, NULL), 0);
	assert_int_equal(functions.n, 1);
	functions_clear(&functions);
	assert_int_equal(read_functions("classes", "space::A", &functions, NULL), 0);
	assert_int_equal(functions.n, 0);
	functions_clear(&functions);
}

static void a_foreign_ifunc_is_left_alone(void **state)
{
	struct functions functions;

	(void)state;
	assert_int_equal(read_functions("program", "chosen", &functions, NULL), 0);
	assert_int_equal(functions.n, 0);
	assert_int_equal(functions.n_unresolved, 1);
	assert_string_equal(functions.unresolved, "chosen");
	functions_clear(&functions);
}

static void the_ifuncs_of_our_libc_are_known(void **state)
{
	struct functions functions;

	(void)state;
	assert_int_equal(read_functions("/lib/x86_64-linux-gnu/libc.so.6", "memmove", &functions,
					NULL),
			 0);
	assert_int_equal(functions.n_unresolved, 0);
	assert_true(functions.n >= 1);
	functions_clear(&functions);
}

static void near_names_are_offered(void **state)
{
	struct functions functions;
	struct nearest nearest;

	(void)state;
	nearest_init(&nearest, "work_iner");
	assert_int_equal(read_functions("program", "work_iner", &functions, &nearest), 0);
	assert_int_equal(functions.n, 0);
	assert_true(functions.n_symbols > 4);
	assert_string_equal(nearest.found[0].name, "work_inner");
	functions_clear(&functions);
	assert_int_equal(read_functions("stripped", "work", &functions, NULL), 0);
	assert_int_equal(functions.n, 0);
	functions_clear(&functions);
}

static void other_files_are_refused(void **state)
{
	struct functions functions;

	(void)state;
	assert_true(read_functions("program.c", "*", &functions, NULL) < 0);
	assert_true(built_run("gcc -c program.c -o program.o && : > empty"));
	assert_true(read_functions("program.o", "*", &functions, NULL) < 0);
	assert_true(read_functions("empty", "*", &functions, NULL) < 0);
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", built_directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* A cut or a wrong word anywhere gives an error or other functions, but no crash. */
static void damaged_files_are_harmless(void **state)
{
	struct functions functions;
	size_t size;
	uint8_t *bytes = built_read("program", &size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += 97) {
		write_file("cut", bytes, cut);
		if (read_functions("cut", "*", &functions, NULL) == 0)
			functions_clear(&functions);
	}
	for (size_t at = 0; at + 4 < size; at += at < 1024 || size - at < 4096 ? 4 : 64) {
		uint8_t was[4];

		memcpy(was, bytes + at, sizeof(was));
		memset(bytes + at, at % 8 ? 0xff : 0x7f, sizeof(was));
		write_file("wrong", bytes, size);
		memcpy(bytes + at, was, sizeof(was));
		if (read_functions("wrong", "*", &functions, NULL) == 0)
			functions_clear(&functions);
	}
	free(bytes);
}

static void instructions_that_probes_break_are_known(void **state)
{
	static const struct {
		uint8_t code[8];
		bool bad;
	} cases[] = {
		{ { 0x62, 0xe2, 0x7d, 0x28, 0x7a, 0xce }, true }, /* vpbroadcastb %esi,%ymm17 */
		{ { 0xc5, 0xf9, 0x74, 0xc0 }, true },		  /* vpcmpeqb */
		{ { 0xc5, 0xf8, 0x77 }, true },			  /* vzeroupper */
		{ { 0xc5, 0xf9, 0xef, 0xc0 }, true },		  /* vpxor: refused */
		{ { 0xc4, 0x41, 0x01, 0xef, 0xff }, true },	  /* vpxor, three-byte VEX */
		{ { 0xf0, 0xff, 0x0f }, true },			  /* lock decl */
		{ { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0 }, true }, /* cs nopw: refused */
		{ { 0x3e, 0xff, 0xe0 }, true },			  /* notrack jmp */
		{ { 0x64, 0x48, 0x8b, 0x04, 0x25 }, false },	  /* mov %fs:... */
		{ { 0xc5, 0xf8, 0x57, 0xc0 }, false },		  /* vxorps */
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, false },		  /* endbr64 */
		{ { 0x75, 0x10 }, false },			  /* jne: emulated correctly */
		{ { 0x55, 0x48, 0x89, 0xe5 }, false },		  /* push %rbp */
		{ { 0x66, 0x0f, 0xef, 0xc0 }, false },		  /* pxor */
	};

	(void)state;
#if defined(__x86_64__)
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(unprobeable(cases[i].code, sizeof(cases[i].code), true),
				 cases[i].bad);
	assert_false(unprobeable((const uint8_t[]){ 0x62, 0x05, 0x7d, 0x28, 0x7a }, 5, false));
#endif
	for (size_t size = 0; size < 5; size++) {
		uint8_t *code = malloc(size ? size : 1);

		memset(code, 0x67, size ? size : 1);
		assert_false(unprobeable(code, size, true));
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_those_of_the_file),
		cmocka_unit_test(aliases_count_once_and_variables_never),
		cmocka_unit_test(cplusplus_names_match_as_written),
		cmocka_unit_test(a_foreign_ifunc_is_left_alone),
		cmocka_unit_test(the_ifuncs_of_our_libc_are_known),
		cmocka_unit_test(near_names_are_offered),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(damaged_files_are_harmless),
		cmocka_unit_test(instructions_that_probes_break_are_known),
	};

	return cmocka_run_group_tests(tests, setup, built_teardown);
}
