// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/interpreter_wire.h"
#include "drain/script_names.h"
#include "symbolize/script_frames.h"

#define ID 0x123456789abcdeull

static struct wire_script_name message(const void *name, uint32_t size, uint8_t kind)
{
	struct wire_script_name is = { .id = ID,
				       .line = 7,
				       .name_size = size,
				       .name_kind = kind,
				       .file_size = 8,
				       .file_kind = 1,
				       .language = LANGUAGE_PYTHON };

	memcpy(is.name, name, size);
	memcpy(is.file, "/tmp/x.p", 8);
	return is;
}

static void takes(const struct wire_script_name *is, const char *name, const char *file)
{
	struct scripts *scripts;
	struct script code;

	assert_int_equal(scripts_new(&scripts), 0);
	assert_int_equal(script_names_take(scripts, is, sizeof(*is)), 0);
	assert_true(scripts_find(scripts, ID, &code));
	assert_string_equal(code.name, name);
	assert_string_equal(code.file, file);
	assert_int_equal(code.line, 7);
	assert_false(scripts_find(scripts, ID + 1, &code));
	scripts_free(scripts);
}

static void strings_of_all_kinds_become_utf8(void **state)
{
	struct wire_script_name is = message("f\xfc", 2, 1);
	const uint16_t two[] = { 'g', 0x65e5, 0xd83d, 0xde00, 0xd83d, 'g', 0xd800 };
	const uint32_t four[] = { 0x1f40d, 0x7fffffff, 0 };

	(void)state;
	takes(&is, "f\xc3\xbc", "/tmp/x.p");
	is = message(two, sizeof(two), 2);
	takes(&is, "g\xe6\x97\xa5\xf0\x9f\x98\x80\xef\xbf\xbdg\xef\xbf\xbd", "/tmp/x.p");
	is = message(four, sizeof(four), 4);
	takes(&is, "\xf0\x9f\x90\x8d\xef\xbf\xbd\xef\xbf\xbd", "/tmp/x.p");
	is = message("A::\xc3\xbc\0", 6, WIRE_TEXT_UTF8);
	takes(&is, "A::\xc3\xbc\xef\xbf\xbd", "/tmp/x.p");
	is = message(four, sizeof(four), 4);
	is.flags = WIRE_SCRIPT_NAME_CUT | WIRE_SCRIPT_FILE_CUT;
	takes(&is, "\xf0\x9f\x90\x8d\xef\xbf\xbd\xef\xbf\xbd\xe2\x80\xa6", "\xe2\x80\xa6/tmp/x.p");
}

/* Zeros take the most bytes, three each: a process that wants to can have a name of these only. */
static void strings_of_zeros_have_room(void **state)
{
	static const uint8_t kinds[] = { 1, 2, WIRE_TEXT_UTF8 };
	char zeros[WIRE_SCRIPT_TEXT] = "", expected[3 * WIRE_SCRIPT_TEXT + 8];

	(void)state;
	for (size_t k = 0; k < sizeof(kinds); k++) {
		struct wire_script_name is = message(zeros, sizeof(zeros), kinds[k]);
		uint32_t n = kinds[k] == 2 ? WIRE_SCRIPT_TEXT / 2 : WIRE_SCRIPT_TEXT;

		for (uint32_t i = 0; i < n; i++)
			memcpy(expected + (size_t)3 * i, "\xef\xbf\xbd", 3);
		memcpy(expected + (size_t)3 * n, "\xe2\x80\xa6", sizeof("\xe2\x80\xa6"));
		is.flags = WIRE_SCRIPT_NAME_CUT;
		takes(&is, expected, "/tmp/x.p");
	}
}

static void the_longest_string_has_room(void **state)
{
	char name[WIRE_SCRIPT_TEXT], expected[2 * WIRE_SCRIPT_TEXT + 4];
	struct wire_script_name is;

	(void)state;
	memset(name, 0xff, sizeof(name));
	for (size_t i = 0; i < WIRE_SCRIPT_TEXT; i++)
		memcpy(expected + 2 * i, "\xc3\xbf", 2);
	strcpy(expected + 2 * WIRE_SCRIPT_TEXT, "\xe2\x80\xa6");
	is = message(name, sizeof(name), 1);
	is.flags = WIRE_SCRIPT_NAME_CUT;
	takes(&is, expected, "/tmp/x.p");
}

static void wrong_records_are_refused(void **state)
{
	const struct wire_script_name good = message("f", 1, 1);
	struct wire_script_name bad[6];
	struct scripts *scripts;
	struct script code;

	(void)state;
	for (int i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].name_size = WIRE_SCRIPT_TEXT + 1;
	bad[1].file_size = UINT32_MAX;
	bad[2].name_kind = 0;
	bad[3].file_kind = 3;
	bad[4].id = WIRE_SCRIPT_IDS - 1;
	assert_int_equal(scripts_new(&scripts), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(script_names_take(scripts, &bad[i], sizeof(bad[i])), -EPROTO);
	assert_int_equal(script_names_take(scripts, &bad[5], sizeof(bad[5]) - 1), -EPROTO);
	assert_false(scripts_find(scripts, ID, &code));
	scripts_free(scripts);
}

/* A label of Ruby that comes behind its class. */
static void is_labelled(const char *sent, const char *shown)
{
	struct wire_script_name is = message(sent, (uint32_t)strlen(sent), WIRE_TEXT_UTF8);

	is.language = LANGUAGE_RUBY;
	is.flags = WIRE_SCRIPT_CLASS_FIRST;
	takes(&is, shown, "/tmp/x.p");
}

static void rubys_classes_stand_before_methods(void **state)
{
	struct wire_script_name plain = message("a.b", 3, WIRE_TEXT_UTF8);

	(void)state;
	is_labelled("Store#find", "Store#find");
	is_labelled("Deep::Store.block in find", "block in Deep::Store.find");
	is_labelled("Store#block (12 levels) in find", "block (12 levels) in Store#find");
	is_labelled("Store#rescue in block in find", "rescue in block in Store#find");
	is_labelled("Store#ensure in <=>", "ensure in Store#<=>");
	is_labelled("Store#block (x levels) in find", "Store#block (x levels) in find");
	is_labelled("Store#block (3", "Store#block (3");
	is_labelled("Store#", "Store#");
	is_labelled("Store", "Store");
	is_labelled("", "");
	plain.language = LANGUAGE_RUBY;
	takes(&plain, "a.b", "/tmp/x.p");
}

/* The text of the frame of an address. */
static void is_shown(struct scripts *scripts, uint64_t address, const char *text)
{
	const struct tally_address of = { .address = address, .flags = TALLY_ADDRESS_SCRIPT };
	struct names *names;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(script_frames_add(scripts, &of, names), 0);
	assert_string_equal(names_frame(names, 0).name, text);
	assert_int_equal(names_frame(names, 0).flags, 0);
	assert_int_equal(names_frame(names, 0).language, address >> SCRIPT_LANGUAGE_SHIFT);
	names_free(names);
}

static void frames_have_functions_or_reasons(void **state)
{
	const uint64_t python = (uint64_t)LANGUAGE_PYTHON << SCRIPT_LANGUAGE_SHIFT;
	const uint64_t php = (uint64_t)LANGUAGE_PHP << SCRIPT_LANGUAGE_SHIFT;
	const uint64_t perl = (uint64_t)LANGUAGE_PERL << SCRIPT_LANGUAGE_SHIFT;
	const uint64_t ruby = (uint64_t)LANGUAGE_RUBY << SCRIPT_LANGUAGE_SHIFT;
	const struct script code = { .id = ID, .name = "A.f", .file = "/srv/app/x.py", .line = 3 };
	const struct script evaluated = { .id = ID + 2, .name = "f", .file = "(eval at /x.rb:3)" };
	struct scripts *scripts;

	(void)state;
	assert_int_equal(scripts_new(&scripts), 0);
	assert_int_equal(scripts_add(scripts, &code), 0);
	assert_int_equal(scripts_add(scripts, &evaluated), 0);
	is_shown(scripts, python | ID, "A.f (x.py)");
	is_shown(scripts, python | (ID + 1), "[python: name lost]");
	is_shown(NULL, python | ID, "[python: name lost]");
	is_shown(scripts, python | SCRIPT_TORN, "[python: torn]");
	is_shown(scripts, python | SCRIPT_VERSION, "[python: version unknown]");
	is_shown(scripts, SCRIPT_IDS - 1, "[program: name lost]");
	is_shown(scripts, php | ID, "A.f (x.py)");
	is_shown(scripts, perl | ID, "A.f (x.py)");
	is_shown(scripts, perl | SCRIPT_TOO_DEEP, "[perl: too deep]");
	is_shown(scripts, php | SCRIPT_UNMATCHED, "[php: unmatched]");
	is_shown(scripts, ruby | (ID + 2), "f ((eval at /x.rb:3))");
	is_shown(scripts, ruby | SCRIPT_TORN, "[ruby: torn]");
	scripts_free(scripts);
}

static void javascript_has_functions_without_names(void **state)
{
	const uint64_t javascript = (uint64_t)LANGUAGE_JAVASCRIPT << SCRIPT_LANGUAGE_SHIFT;
	const struct script list[] = {
		{ .id = ID, .name = "", .file = "/srv/app/x.js" },
		{ .id = ID + 1, .name = "f", .file = "node:internal/timers" },
		{ .id = ID + 2, .name = "f", .file = "file:///srv/app/x.mjs" },
		{ .id = ID + 3, .name = "f", .file = "" },
		{ .id = ID + 4, .name = "", .file = "" },
	};
	struct scripts *scripts;

	(void)state;
	assert_int_equal(scripts_new(&scripts), 0);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		assert_int_equal(scripts_add(scripts, &list[i]), 0);
	is_shown(scripts, javascript | ID, "<anonymous> (x.js)");
	is_shown(scripts, javascript | (ID + 1), "f (node:internal/timers)");
	is_shown(scripts, javascript | (ID + 2), "f (x.mjs)");
	is_shown(scripts, javascript | (ID + 3), "f (<anonymous>)");
	is_shown(scripts, javascript | (ID + 4), "eval (<anonymous>)");
	is_shown(scripts, javascript | SCRIPT_INLINED, "[javascript: inlined functions not shown]");
	scripts_free(scripts);
}

/* A process can make functions without end. */
static void names_take_bounded_memory(void **state)
{
	const uint64_t n = 140000;
	char name[512], file[] = "x.py";
	struct scripts *scripts;
	struct script found;
	uint64_t known = 0;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(scripts_new(&scripts), 0);
	for (uint64_t i = 0; i < n; i++) {
		struct script code = { .id = ID + i, .name = name, .file = file };

		snprintf(name, 8, "%07u", (unsigned int)i);
		name[7] = 'n';
		assert_int_equal(scripts_add(scripts, &code), 0);
		known += scripts_find(scripts, code.id, &found);
	}
	assert_in_range(known, 120000, n - 1);
	assert_true(scripts_find(scripts, ID, &found));
	scripts_free(scripts);
}

/* Names of the virtual machine become those of stack traces. */
static void methods_of_java_are_named(void **state)
{
	static const char *const names[][2] = {
		{ "java/util/HashMap.get", "java.util.HashMap.get" },
		{ "Main.<init>", "Main.<init>" },
		{ "a/B$$Lambda$14+0x00007f00a4c01200.run", "a.B$$Lambda.run" }, /* JDK 17 */
		{ "a/B$$Lambda+0x00007f00a4c01200.run", "a.B$$Lambda.run" },	/* 21 */
		{ "java/lang/invoke/LambdaForm$MH+0x0000.invoke",
		  "java.lang.invoke.LambdaForm$MH.invoke" },
		{ "a/B$1.c", "a.B$1.c" },
		{ "[StubRoutines (1/2)]", "[StubRoutines (1/2)]" },
		{ "$$Lambda$", "$$Lambda$" },
		{ "+0x", "+0x" },
		{ "a/B$$Lambda$6.0x00007f6398001c40.run", "a.B$$Lambda.run" },
		{ "a/B$$Lambda$90+0x00007f7d50009c00/1003752023.run", "a.B$$Lambda.run" },
		{ "a/B/0x00007f7d50009c00.run", "a.B.run" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct wire_script_name is =
			message(names[i][0], (uint32_t)strlen(names[i][0]), WIRE_TEXT_UTF8);

		is.language = LANGUAGE_JAVA;
		takes(&is, names[i][1], "/tmp/x.p");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_of_java_are_named),
		cmocka_unit_test(strings_of_all_kinds_become_utf8),
		cmocka_unit_test(strings_of_zeros_have_room),
		cmocka_unit_test(the_longest_string_has_room),
		cmocka_unit_test(wrong_records_are_refused),
		cmocka_unit_test(rubys_classes_stand_before_methods),
		cmocka_unit_test(frames_have_functions_or_reasons),
		cmocka_unit_test(javascript_has_functions_without_names),
		cmocka_unit_test(names_take_bounded_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
