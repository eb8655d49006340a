/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of code without call frame information that GCC and glibc put into every program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "built_files.h"
#include "cfi/unwind_rows.h"

static const char program[] = "#include <pthread.h>\n"
			      "#include <ucontext.h>\n"
			      "static void *run(void *data) { return data; }\n"
			      "static void go_on(void) {}\n"
			      "int main(void) {\n"
			      "	pthread_t thread; ucontext_t context;\n"
			      "	getcontext(&context); makecontext(&context, go_on, 0);\n"
			      "	pthread_create(&thread, 0, run, 0);\n"
			      "	return pthread_join(thread, 0);\n"
			      "}\n";

static struct file {
	struct rule_table *rule_table;
	struct unwind_rows rows;
	const char *name;
	uint8_t *bytes;
	size_t size;
} file;

static void use(const char *name, const char *flags)
{
	struct error err = { 0 };
	int fd;

	built_write("crt.c", program);
	assert_true(built_run("cc -O1 -o %s %s crt.c", name, flags));
	fd = built_open(name);
	assert_int_equal(rule_table_new(&file.rule_table), 0);
	assert_int_equal(unwind_rows_compile(fd, file.rule_table, &file.rows, &err), 0);
	close(fd);
	file.name = name;
	file.bytes = built_read(name, &file.size);
}

static void done(void)
{
	unwind_rows_free(&file.rows);
	rule_table_free(file.rule_table);
	free(file.bytes);
	memset(&file, 0, sizeof(file));
}

static const struct wire_rule *rule_at(uint64_t address)
{
	uint32_t n;

	return &rule_table_rules(file.rule_table,
				 &n)[unwind_rows_find(&file.rows, (uint32_t)address)];
}

static void assert_depth(uint64_t address, int32_t depth)
{
	assert_int_equal(rule_at(address)->cfa, WIRE_CFA_SP);
	assert_int_equal(rule_at(address)->cfa_offset, depth);
	assert_int_equal(WIRE_RULE_RA(rule_at(address)), WIRE_RA_CFA);
	assert_int_equal(rule_at(address)->fp, depth == 16 ? WIRE_FP_CFA : WIRE_FP_SAME);
}

/* The code at an address, from its distance to .text. */
static const uint8_t *code_at(uint64_t address)
{
	uint64_t entry, offset;
	char command[256];
	FILE *output;

	snprintf(command, sizeof(command),
		 "readelf -SW %s/%s | sed -n 's/.* \\.text  *PROGBITS  *\\([0-9a-f]*\\) "
		 "\\([0-9a-f]*\\) .*/\\1 \\2/p'",
		 built_directory, file.name);
	output = popen(command, "re");
	assert_non_null(output);
	assert_int_equal(fscanf(output, "%lx %lx", &entry, &offset), 2);
	assert_int_equal(pclose(output), 0);
	assert_true(address >= entry && address - entry + offset < file.size);
	return file.bytes + (address - entry + offset);
}

static uint64_t place_of(const char *symbol)
{
	uint64_t address = built_value(file.name, symbol, NULL);

	assert_int_not_equal(address, 0);
	return address;
}

/* The offset of the bytes in the function. */
static uint64_t find(uint64_t begin, const char *bytes, size_t n)
{
	const uint8_t *code = code_at(begin);

	for (size_t at = 0; at < 128; at++)
		if (!memcmp(code + at, bytes, n))
			return begin + at;
	fail_msg("no such code in %s", file.name);
	return 0;
}

static void check_crtstuff(void)
{
	uint64_t destructors = place_of("__do_global_dtors_aux"), pushed, popped;

	assert_depth(place_of("deregister_tm_clones"), 8);
	assert_depth(place_of("register_tm_clones"), 8);
	assert_depth(place_of("frame_dummy"), 8);
	assert_depth(destructors, 8);
	/* [endbr64;] cmpb $0,...(%rip); jne; push %rbp */
	pushed = find(destructors, "\x80\x3d", 2) + 9;
	assert_int_equal(*code_at(pushed), 0x55);
	popped = find(destructors, "\x01\x5d\xc3", 3) + 1; /* the flag is set; pop %rbp; ret */
	assert_depth(pushed, 8);
	assert_depth(pushed + 1, 16);
	assert_depth(popped, 16);
	assert_depth(popped + 1, 8);
}

static void test_crtstuff(void **state)
{
	(void)state;
	use("dynamic", "");
	check_crtstuff();
	done();
	use("fixed", "-no-pie");
	check_crtstuff();
	done();
	use("library", "-shared -fPIC");
	check_crtstuff();
	done();
	use("protected", "-fcf-protection -Wl,-z,ibtplt");
	check_crtstuff();
	done();
}

static void check_clone(const char *symbol)
{
	uint64_t call = find(place_of(symbol), "\x0f\x05\x48\x85\xc0", 5); /* syscall; test */

	assert_depth(call - 1, 8);
	for (uint64_t at = call; at < call + 10; at++) {
		assert_int_equal(WIRE_RULE_RA(rule_at(at)), WIRE_RA_CLONE);
		assert_int_equal(rule_at(at)->cfa_offset, 8);
	}
	assert_int_equal(WIRE_RULE_RA(rule_at(call + 10)), WIRE_RA_END);
}

static void check_static(void)
{
	uint64_t context = place_of("__start_context");

	check_crtstuff();
	check_clone("__clone");
	check_clone("__clone3");
	/* Functions return to its first byte: walks look up the byte before. */
	for (uint64_t at = context - 1; at < context + 26; at++)
		assert_int_equal(WIRE_RULE_RA(rule_at(at)), WIRE_RA_ENTRY);
	assert_int_not_equal(WIRE_RULE_RA(rule_at(context - 2)), WIRE_RA_ENTRY);
}

static void test_static(void **state)
{
	(void)state;
	use("static", "-static");
	check_static();
	done();
	use("static-pie", "-static-pie");
	check_static();
	done();
}

/* Code that only resembles a pattern stays a gap. */
static void test_others(void **state)
{
	(void)state;
	built_write("other.S",
		    ".text\n.p2align 4\n.globl jumps\njumps: jmp jumps + 0x4000\n.p2align 4\n"
		    "other: .byte 0x80, 0x3d, 0, 0, 0, 0, 0, 0x75, 2, 0x55\n" /* no pop follows */
		    ".fill 256, 1, 0x90\nret\n"
		    ".p2align 4\n.section .note.GNU-stack,\"\",@progbits\n");
	use("others", "other.S");
	assert_int_equal(unwind_rows_find(&file.rows, (uint32_t)place_of("jumps")), RULE_GAP);
	assert_int_equal(unwind_rows_find(&file.rows, (uint32_t)place_of("other")), RULE_GAP);
	assert_int_equal(unwind_rows_find(&file.rows, (uint32_t)place_of("other") + 10), RULE_GAP);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crtstuff),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
