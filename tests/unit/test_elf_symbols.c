// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "built_files.h"
#include "cfi/label_extent.h"
#include "elf/elf_symbols.h"
#include "symbolize/file_symbols.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

static struct pool *pool;

/* Looks one address up in the tables of a file. */
static struct symbol_query find(const char *name, uint64_t address)
{
	struct symbol_query query = { .address = address };
	own(label_extent_close) struct label_extent labels = { 0 };
	const struct elf_code_extent extent = { label_extent_find, &labels };
	struct elf_symbols *search = NULL;
	struct elf_file *elf = NULL;
	int fd = built_open(name);

	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(elf_symbols_new(&query, 1, &search), 0);
	assert_true(elf_symbols_file(search, elf) >= 0);
	label_extent_open(&labels, elf);
	assert_int_equal(elf_symbols_finish(search, &extent, pool), 0);
	elf_symbols_free(search);
	elf_file_close(elf);
	close(fd);
	return query;
}

static void assert_found(const char *file, uint64_t address, const char *name, uint64_t start)
{
	struct symbol_query query = find(file, address);

	assert_non_null(query.name);
	assert_string_equal(query.name, name);
	assert_int_equal(query.start, start);
}

static void assert_function(const char *file, const char *name)
{
	uint64_t size, start = built_value(file, name, &size);

	assert_true(start > 0 && size > 0);
	assert_found(file, start, name, start);
	assert_found(file, start + size / 2, name, start);
	assert_found(file, start + size - 1, name, start);
}

static int setup(void **state)
{
	if (built_setup(state) || pool_new(&pool))
		return -1;
	built_write("a.c", built_source);
	built_write("b.cc", "namespace deep { struct S { __attribute__((noinline)) int f(int x) "
			    "{ asm(\"\"); return x; } }; }\n"
			    "int main() { deep::S s; return s.f(0); }\n");
	return built_run("gcc -O1 a.c -o normal && gcc -O1 -rdynamic -s a.c -o stripped && "
			 "gcc -O1 -static a.c -o static && "
			 "gcc -O1 -static-pie a.c -o static_pie && "
			 "gcc -O1 -Wl,-Ttext-segment=0x5000000 -no-pie a.c -o moved && "
			 "g++ -O1 b.cc -o cxx")
		       ? 0
		       : -1;
}

static int teardown(void **state)
{
	pool_free(pool);
	return built_teardown(state);
}

static void finds_functions_in_every_kind_of_file(void **state)
{
	static const char *const files[] = { "normal", "static", "static_pie", "moved" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_function(files[i], "outer");
		assert_function(files[i], "local_one");
		assert_function(files[i], "main");
	}
	assert_function("cxx", "_ZN4deep1S1fEi");
}

static void stripped_files_have_dynamic_symbols(void **state)
{
	(void)state;
	assert_function("stripped", "outer");
	assert_function("stripped", "main");
	assert_int_equal(built_value("stripped", "local_one", NULL), 0);
}

static void chooses_among_aliases(void **state)
{
	uint64_t start = built_value("normal", "__libc_thing", NULL);

	/* Better than __libc_thing, __thing, __local_thing; and global, while thing64 is weak. */
	(void)state;
	assert_found("normal", start, "thing", start);
	assert_found("stripped", start ? built_value("stripped", "thing", NULL) : 0, "thing",
		     built_value("stripped", "thing", NULL));
}

/* Fewer underscores are better, but those of mangled names do not count; in all orders. */
static void prefers_names_by_their_underscores_then_length(void **state)
{
	static const struct {
		const char *names[3], *best;
	} sets[] = {
		{ { "plain", "_Z6mangledv", "__internal" }, "_Z6mangledv" },
		{ { "plain_long", "_RNvC1a1b", "_one" }, "plain_long" },
		{ { "_Yes", "no", "__GI_other" }, "no" },
		{ { "xZ", "_y_long_one", "__libc_x" }, "xZ" },
		{ { "same_a", "same_c", "same_b" }, "same_a" },
		{ { "_one_longer", "__two", "___three_longest" }, "_one_longer" },
	};
	char source[1024];

	(void)state;
	for (size_t set = 0; set < sizeof(sets) / sizeof(*sets); set++) {
		for (int first = 0; first < 3; first++) {
			uint64_t start;
			int n = snprintf(source, sizeof(source),
					 ".text\n.globl _start\n_start: nop; nop\n");

			for (int i = 0; i < 3; i++) {
				const char *name = sets[set].names[(first + i) % 3];

				n += snprintf(source + n, sizeof(source) - (size_t)n,
					      ".globl %s\n.type %s, @function\n", name, name);
			}
			for (int i = 0; i < 3; i++) {
				const char *name = sets[set].names[(first + i) % 3];

				n += snprintf(source + n, sizeof(source) - (size_t)n,
					      "%s: .size %s, 4\n", name, name);
			}
			snprintf(source + n, sizeof(source) - (size_t)n, "nop; nop; nop; ret\n");
			built_write("aliases.s", source);
			assert_true(built_run("gcc -nostdlib -static aliases.s -o aliases"));
			start = built_value("aliases", sets[set].best, NULL);
			assert_found("aliases", start, sets[set].best, start);
			assert_found("aliases", start + 3, sets[set].best, start);
		}
	}
}

static void finds_indirect_functions(void **state)
{
	struct symbol_query query;

	/* The resolver `choose` has the same address and is local. */
	(void)state;
	query = find("normal", built_value("normal", "chosen", NULL));
	assert_string_equal(query.name, "chosen");
}

static void labels_reach_to_the_next_symbol(void **state)
{
	uint64_t label = built_value("normal", "unsized_label", NULL), size;
	uint64_t sized = built_value("normal", "sized", &size);

	(void)state;
	assert_int_equal(size, 4);
	assert_found("normal", label, "unsized_label", label);
	assert_found("normal", label + 3, "unsized_label", label);
	assert_found("normal", sized - 1, "unsized_label", label);
	/* A sized symbol that contains the address is better than a label in it. */
	assert_found("normal", sized + 3, "sized", sized);
	assert_int_equal(built_value("normal", "inside", NULL), sized + 2);
}

/*
 * Assembly without sizes, without call frame information up to `framed`. musl has such functions in
 * a table that lacks the hidden functions between them.
 */
static const char unsized_source[] =
	".text\n.globl first, second, third, fourth\n"
	".type first, @function\nfirst: mov $9, %ecx\n jmp 2f\n .p2align 4\n"
	"1: dec %ecx\n2: test %ecx, %ecx\n jne 1b\n"
	"first_end: ret\n"
	"hidden_one: mov $1, %eax\n syscall\n ret\n"
	".type second, @function\nsecond: test %edi, %edi\n jz 1f\n jmp hidden_two\n"
	"1: call *%rsi\n"
	"second_end: ret\n .p2align 4\n"
	"hidden_two: nop\n ret\n"
	"third: mov (%rdi), %rax\n jmp *%rax\n"
	"hidden_three: nop\n nop\n"
	"hidden_four: ret\n .p2align 4\n"
	"fourth: nop\n call hidden_one\n" /* which does not return */
	"framed: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	".globl fifth, piece_end\n"
	"fifth: nop\n call hidden_five\n .p2align 4\n" /* nor does this: musl's _start */
	"hidden_five: nop\n ret\n .p2align 4\n"
	"piece_end:\n" /* of the code before it */
	"hidden_six: .cfi_startproc\n nop\n ret\n .cfi_endproc\n";

/* Waits of programs with musl were shown in memset, its signal return in setjmp. */
static void unsized_functions_end_where_hidden_ones_begin(void **state)
{
	static const char *const hidden[] = { "hidden_one",  "hidden_two", "hidden_three",
					      "hidden_four", "framed",	   "hidden_five",
					      "hidden_six" };

	(void)state;
	built_write("unsized.s", unsized_source);
	assert_true(built_run("gcc -nostdlib -shared unsized.s -o unsized && "
			      "strip -o unsized_stripped unsized"));
	assert_found("unsized_stripped", built_value("unsized", "first_end", NULL), "first",
		     built_value("unsized", "first", NULL));
	assert_found("unsized_stripped", built_value("unsized", "second_end", NULL), "second",
		     built_value("unsized", "second", NULL));
	assert_found("unsized_stripped", built_value("unsized", "third", NULL) + 3, "third",
		     built_value("unsized", "third", NULL));
	assert_found("unsized_stripped", built_value("unsized", "fourth", NULL) + 5, "fourth",
		     built_value("unsized", "fourth", NULL));
	assert_found("unsized_stripped", built_value("unsized", "fifth", NULL) + 1, "fifth",
		     built_value("unsized", "fifth", NULL));
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		uint64_t at = built_value("unsized", hidden[i], NULL);
		struct symbol_query query = find("unsized_stripped", at);

		assert_true(at > 0);
		if (query.name)
			fail_msg("%s is called %s", hidden[i], query.name);
		assert_non_null(find("unsized", at).name);
	}
}

/* Assemblers' labels in the code of a function are not functions of their own. */
static void labels_inside_of_code_are_no_functions(void **state)
{
	static const char *const labels[] = { "..", /* built_value() cuts at @ */ "typed.inner",
					      "untyped_local", "after_loop", "plain.inner" };
	uint64_t typed, plain;

	(void)state;
	built_write("inner.s",
		    ".text\n.globl plain, typed\n.type typed, @function\n"
		    "typed: mov $9, %ecx\nagain: dec %ecx\n jnz again\n"
		    "typed.inner: nop\nuntyped_local: nop\n jz 1f\n ret\n .p2align 4\n1: nop\n"
		    "after_loop: ret\n .p2align 4\n"
		    "own_local: nop\n ret\n"
		    "plain: nop\nplain.inner: nop\n ret\n.p2align 4\n"
		    "dotted.local: nop\n ret\n");
	assert_true(built_run("gcc -nostdlib -shared inner.s -o inner && "
			      "objcopy --redefine-sym again=..@4.again inner"));
	typed = built_value("inner", "typed", NULL);
	plain = built_value("inner", "plain", NULL);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		uint64_t at = built_value("inner", labels[i], NULL);

		assert_true(at > 0);
		assert_found("inner", at, i < 4 ? "typed" : "plain", i < 4 ? typed : plain);
	}
	assert_found("inner", built_value("inner", "own_local", NULL) + 1, "own_local",
		     built_value("inner", "own_local", NULL));
	assert_found("inner", built_value("inner", "dotted.local", NULL), "dotted.local",
		     built_value("inner", "dotted.local", NULL));
}

/* Names were cut at their first @, so that two functions had one name. */
static void keeps_versions_that_tell_functions_apart(void **state)
{
	static const char *const files[] = { "versioned.so", "versioned_stripped.so" };

	(void)state;
	built_write("versioned.c",
		    "__asm__(\".symver old_one, f@V_1\\n.symver new_one, f@@V_2\");\n"
		    "__asm__(\".symver both, g@V_1\\n.symver both_too, g@@V_2\");\n"
		    "int old_one(void) { return 1; }\nint new_one(void) { return 2; }\n"
		    "int both(void) { return 3; }\nint both_too(void) "
		    "__attribute__((alias(\"both\")));\n"
		    "int only(void) { return 4; }\nint foreign(void) { return 5; }\n");
	built_write("versioned.map", "V_1 { global: f; g; only; foreign; local: *; };\n"
				     "V_2 { global: f; g; } V_1;\n");
	assert_true(built_run("gcc -O1 -fno-ipa-icf -shared -fPIC versioned.c -o versioned.so "
			      "-Wl,--version-script=versioned.map && "
			      "strip -o versioned_stripped.so versioned.so && "
			      "readelf -sW versioned.so > /dev/null && "
			      "objcopy --redefine-sym only='*Array(Int32)@Indexable#each:Nil' "
			      "--redefine-sym foreign=other@V_9 versioned.so crystal.so"));
	for (size_t i = 0; i < 2; i++) {
		uint64_t old = built_value("versioned.so", "old_one", NULL);
		uint64_t new = built_value("versioned.so", "new_one", NULL);
		uint64_t both = built_value("versioned.so", "both", NULL);

		assert_true(old && new &&both);
		assert_found(files[i], old, "f@V_1", old);
		assert_found(files[i], new, "f", new);
		assert_found(files[i], both, "g", both);
	}
	assert_found("crystal.so", built_value("versioned.so", "only", NULL),
		     "*Array(Int32)@Indexable#each:Nil", built_value("versioned.so", "only", NULL));
	assert_found("crystal.so", built_value("versioned.so", "foreign", NULL), "other@V_9",
		     built_value("versioned.so", "foreign", NULL));
}

static void nothing_beyond_the_end(void **state)
{
	uint64_t size, end;

	(void)state;
	/* Functions in .init and .fini have no size; _fini ends with its section. */
	end = built_value("normal", "_fini", NULL);
	assert_true(end > 0);
	assert_found("normal", end, "_fini", end);
	assert_null(find("normal", end + 4096).name);
	assert_null(find("normal", 1).name);
	assert_null(find("normal", UINT64_MAX).name);
	end = built_value("stripped", "main", &size) + size;
	assert_null(find("stripped", end + 2).name);
}

/* Every function of the C library is found at its first byte. */
static void knows_the_c_library(void **state)
{
	struct symbol_query *queries = calloc(20000, sizeof(*queries));
	FILE *output = popen("readelf -sW --dyn-syms " LIBC
			     " | awk '$4 == \"FUNC\" && $7 != \"UND\" && $3 > 0 { print $2 }' | "
			     "sort -u",
			     "re");
	own(label_extent_close) struct label_extent labels = { 0 };
	const struct elf_code_extent extent = { label_extent_find, &labels };
	struct elf_symbols *search = NULL;
	struct elf_file *elf = NULL;
	unsigned long value;
	size_t n = 0;
	int fd;

	(void)state;
	fd = open(LIBC, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		free(queries);
		pclose(output);
		skip();
	}
	while (n < 20000 && fscanf(output, "%lx", &value) == 1)
		queries[n++].address = value;
	assert_int_equal(pclose(output), 0);
	assert_true(n > 1000);
	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(elf_symbols_new(queries, n, &search), 0);
	assert_int_equal(elf_symbols_file(search, elf), 0); /* no .symtab */
	label_extent_open(&labels, elf);
	assert_int_equal(elf_symbols_finish(search, &extent, pool), 0);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(queries[i].name);
		assert_int_equal(queries[i].start, queries[i].address);
		assert_null(strstr(queries[i].name, "@@"));
		if (strcmp(queries[i].name, "pread") == 0 || strcmp(queries[i].name, "__read") == 0)
			fail_msg("%s has a better name", queries[i].name);
	}
	elf_symbols_free(search);
	elf_file_close(elf);
	close(fd);
	free(queries);
}

/* Functions that are called and whose address is taken; endbr64 makes their stubs larger. */
static void names_stubs_of_the_got(void **state)
{
	struct symbol_query query = { 0 };
	struct elf_file *elf = NULL;
	size_t size;
	uint8_t *bytes;

	(void)state;
	built_write("got.c", "#include <stdlib.h>\n"
			     "long (*volatile first)(long), (*volatile second)(long long);\n"
			     "int main(void) { first = labs; second = (void *)llabs;\n"
			     "	return (int)(labs(3) + llabs(4)); }\n");
	for (int protected = 0; protected < 2; protected ++) {
		uint64_t stub = protected ? 16 : 8, at;

		assert_true(built_run("gcc -O1 -fno-builtin %s got.c -o got -Wl,-z,now && "
				      "strip got",
				      protected ? "-fcf-protection=full -Wl,-z,ibtplt"
						: "-fcf-protection=none"));
		bytes = built_read("got", &size);
		assert_int_equal(elf_file_open_memory(bytes, size, &elf), 0);
		assert_non_null(elf_file_section(elf, ".plt.got"));
		at = elf_file_section(elf, ".plt.got")->offset;
		for (uint32_t i = 0, found = 0; i < 3 || found < 2; i++) {
			assert_true(i < 3);
			query = (struct symbol_query){ .address = at + i * stub + 4 };
			assert_int_equal(file_symbols_find_memory(bytes, size, pool, &query, 1), 0);
			if (!query.name)
				continue;
			found += strcmp(query.name, "labs@plt") == 0 ||
				 strcmp(query.name, "llabs@plt") == 0;
			assert_int_equal(query.start, at + i * stub);
		}
		elf_file_close(elf);
		free(bytes);
	}
}

static void names_code_without_symbols(void **state)
{
	struct symbol_query queries[2] = { 0 };
	struct elf_file *elf = NULL;
	size_t size;
	uint8_t *bytes;

	(void)state;
	assert_true(built_run("gcc -O1 a.c -o bare -Wl,-z,lazy && strip bare"));
	bytes = built_read("bare", &size);
	assert_int_equal(elf_file_open_memory(bytes, size, &elf), 0);
	queries[0].address = elf_file_section(elf, ".plt.sec")
				     ? elf_file_section(elf, ".plt.sec")->offset + 2
				     : elf_file_section(elf, ".plt")->offset + 16;
	queries[1].address = elf_file_code_section(elf, elf->entry)->offset +
			     (elf->entry - elf_file_code_section(elf, elf->entry)->address) + 5;
	assert_int_equal(file_symbols_find_memory(bytes, size, pool, queries, 2), 0);
	assert_string_equal(queries[0].name, "puts@plt");
	assert_string_equal(queries[1].name, "_start");
	assert_int_equal(queries[1].address - queries[1].start, 5);
	elf_file_close(elf);
	free(bytes);
}

/* A damaged file may give wrong names, but neither crashes nor errors. */
static size_t look_at(const uint8_t *bytes, size_t size)
{
	struct symbol_query queries[64] = { 0 };
	uint8_t *copy = malloc(size ? size : 1); /* so that sanitizers see reads beyond it */
	size_t n = 0;

	memcpy(copy, bytes, size);
	for (size_t i = 0; i < 64; i++)
		queries[i].address = i * 300;
	assert_int_equal(file_symbols_find_memory(copy, size, pool, queries, 64), 0);
	for (size_t i = 0; i < 64; i++)
		n += queries[i].name != NULL;
	free(copy);
	return n;
}

static void survives_damage(void **state)
{
	size_t size, whole;
	uint8_t *bytes = built_read("normal", &size);
	uint32_t random = 1;

	(void)state;
	whole = look_at(bytes, size);
	assert_true(whole > 0);
	for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 61)
		assert_true(look_at(bytes, cut) <= whole);
	for (uint32_t i = 0; i < 3000; i++) {
		size_t at;

		random = random * 1664525 + 1013904223;
		/* Damages the headers at both ends more often than the rest. */
		at = (random >> 3) % (i % 3 == 0 ? 1024 : size);
		if (i % 3 == 1)
			at = size - 1 - at % 2048;
		bytes[at] ^= (uint8_t)(1u << (random >> 29));
		look_at(bytes, size);
		bytes[at] ^= (uint8_t)(1u << (random >> 29));
	}
	assert_int_equal(look_at(bytes, size), whole);
	free(bytes);
}

static void refuses_what_is_no_elf_file(void **state)
{
	struct elf_file *elf = NULL;
	int fd;

	(void)state;
	built_write("text", "#!/bin/sh\necho not an ELF file, but longer than any header of one\n");
	fd = built_open("text");
	assert_int_equal(elf_file_open(fd, &elf), -ENOEXEC);
	close(fd);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_file_open(fd, &elf), -ENOEXEC);
	close(fd);
	assert_null(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions_in_every_kind_of_file),
		cmocka_unit_test(stripped_files_have_dynamic_symbols),
		cmocka_unit_test(chooses_among_aliases),
		cmocka_unit_test(prefers_names_by_their_underscores_then_length),
		cmocka_unit_test(finds_indirect_functions),
		cmocka_unit_test(labels_reach_to_the_next_symbol),
		cmocka_unit_test(unsized_functions_end_where_hidden_ones_begin),
		cmocka_unit_test(labels_inside_of_code_are_no_functions),
		cmocka_unit_test(keeps_versions_that_tell_functions_apart),
		cmocka_unit_test(nothing_beyond_the_end),
		cmocka_unit_test(knows_the_c_library),
		cmocka_unit_test(names_code_without_symbols),
		cmocka_unit_test(names_stubs_of_the_got),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(refuses_what_is_no_elf_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
