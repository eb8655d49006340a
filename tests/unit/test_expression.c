// SPDX-License-Identifier: GPL-2.0-or-later
/* Expressions of --if and --sum: what they mean, and how wrong ones are told. */
#include <errno.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "evaluate.h"
#include "expression/expression.h"
#include "expression/pattern.h"
#include "trigger/tracepoint_fields.h"
#include "trigger/usdt_arguments.h"

struct event {
	uint64_t before;
	char comm[16];
	uint32_t location;
	int32_t pid;
	uint64_t bytes;
	int64_t result;
	uint16_t flags;
	int8_t tiny;
	const char *path;
	const int32_t *address;
	uint64_t index;
	char name[8];
};

static const int32_t numbers[] = { 10, -20, 30 };
static const struct event event = {
	.comm = "nginx: worker 12", /* without a NUL */
	.location = offsetof(struct event, name) | 5u << 16,
	.pid = -5,
	.bytes = 0x8000000000000001u,
	.result = -11,
	.flags = 0x14,
	.tiny = -1,
	.path = "/etc/passwd",
	.address = numbers + 1,
	.index = 1,
	.name = "disk",
};

#define NUMBER(field, sign)                                                                        \
	{                                                                                          \
#field,                                                                            \
		{                                                                                  \
			.offset = offsetof(struct event, field), .size = sizeof(event.field),      \
			.is_signed = (sign)                                                        \
		}                                                                                  \
	}

static const struct {
	const char *name;
	struct event_value value;
} known[] = {
	{ "comm",
	  { .kind = EVENT_VALUE_ARRAY, .offset = offsetof(struct event, comm), .size = 16 } },
	{ "name", { .kind = EVENT_VALUE_LOCATION, .offset = offsetof(struct event, location) } },
	NUMBER(pid, true),
	{ "bytes", { .offset = offsetof(struct event, bytes), .size = 8, .unit = "bytes" } },
	NUMBER(result, true),
	NUMBER(flags, false),
	NUMBER(tiny, true),
	{ "path", { .offset = offsetof(struct event, path), .size = 8, .text = EVENT_TEXT_USER } },
	{ "memory",
	  { .kind = EVENT_VALUE_MEMORY,
	    .offset = offsetof(struct event, address),
	    .size = 4,
	    .number = -4,
	    .is_signed = true } },
	{ "indexed",
	  { .kind = EVENT_VALUE_MEMORY,
	    .offset = offsetof(struct event, address),
	    .size = 4,
	    .index = { offsetof(struct event, index), 4 },
	    .is_signed = true } },
	{ "nowhere",
	  { .kind = EVENT_VALUE_MEMORY,
	    .offset = offsetof(struct event, before),
	    .size = 4,
	    .is_signed = true } },
	{ "seven", { .kind = EVENT_VALUE_CONSTANT, .size = 4, .number = 7, .is_signed = true } },
	{ "cpu", { .kind = EVENT_VALUE_CPU, .size = 4 } },
	{ "thread", { .kind = EVENT_VALUE_THREAD, .size = 4 } },
	{ "me", { .kind = EVENT_VALUE_COMM } },
};

static int find(const void *context, const char *name, struct event_value *ret_value,
		struct error *err)
{
	(void)context, (void)err;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		*ret_value = known[i].value;
		return 0;
	}
	return -ENOENT;
}

static void list(const void *context, void (*each)(void *to, const char *name), void *to)
{
	(void)context;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		each(to, known[i].name);
}

static const struct event_values values = { .find = find, .list = list };

static struct wire_expressions compiled(enum expression_kind kind, const char *text)
{
	struct wire_expressions expressions = { 0 };
	struct error err = { 0 };

	if (expression_compile(kind, text, &values, &expressions, NULL, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return expressions;
}

static bool holds(const char *text)
{
	const struct wire_expressions expressions = compiled(EXPRESSION_CONDITION, text);
	int64_t result;

	return evaluate(&expressions, &expressions.condition, &event, &result) && result;
}

/* Conditions that the fields of the test meet. */
static const char *const conditions[] = {
	/* numbers, as C has them */
	"pid == -5",
	"pid != 5",
	"pid < 0",
	"pid >= -5",
	"pid <= -5",
	"!(pid > -5)",
	"bytes > 1048576",
	"bytes == 0x8000000000000001",
	"result < 0",
	"tiny == -1",
	"flags == 024",
	"flags & 4",
	"flags & 4 && flags & 16",
	"(flags & 0x14) == 20",
	"flags & 0x14 == 20",
	"!(flags & 8)",
	"! flags & 8",
	"flags ^ 4 == 16",
	"flags | 1 == 21",
	"1 + 2 * 3 == 7",
	"(1 + 2) * 3 == 9",
	"7 - 2 - 1 == 4",
	"1 << 4 >> 2 == 4",
	"-7 / 2 == -3",
	"-7 % 4 == -3",
	"17 % 5 == 2",
	"- pid == 5",
	"-(-3) == 3",
	"(int)bytes == 1",
	"(long)bytes < 0",
	"(u8)pid == 251",
	"(s8)pid == -5",
	"result * -1 == 11",
	"memory == 10",
	"indexed == 30",
	"seven == 7",
	"cpu == 3",
	"thread == 77",
	/* strings */
	"comm ~ \"nginx*\"",
	"comm == 'nginx: worker 12'",
	"comm != \"nginx\"",
	"comm !~ \"ng?\"",
	"name == \"disk\"",
	"name == disk",
	"name ~ '[a-d]isk'",
	"name ~ '[^e-z]*k'",
	"name !~ 'sk'",
	"path == \"/etc/passwd\"",
	"path ~ \"/etc/*\"",
	"me ~ 'worker/?'",
	"me != comm2",
	/* conditions */
	"pid == 1 || pid == -5",
	"pid == 1 || (pid == -5 && result == -11)",
	"!pid == 1",
	"!!(pid == -5)",
	"pid == 1 && nowhere == 2 || pid == -5",
	"pid == -5 || nowhere == 1",
	"(pid == -5) + (cpu == 3) == 2",
	"((((((((pid == -5))))))))",
	"cpu == 1 || cpu == 2 || cpu == 3 && name ~ \"d*\"",
	/* of perf's documentation */
	"(flags >= 10 && flags < 25) || flags == 17",
	"pid == -5 && comm ~ \"*work*\"",
};

/* Conditions that they do not meet. */
static const char *const others[] = {
	"pid == 5",
	"bytes < 5",
	"flags & 8",
	"name == \"dis\"",
	"name == disks",
	"name ~ '[a-c]isk'",
	"comm ~ \"*13\"",
	"path == '/etc/passw'",
	"!(pid == -5)",
	"pid == -5 && cpu == 4",
	"0",
	"nowhere == 0",
	"name ~ ''",
	/* without a result there is none: division by zero, and what is too large */
	"1 / (pid + 5) == 0 || 1",
	"1 % (pid + 5) == 0 || 1",
	"bytes * 2 > 0 || 1",
	"bytes + bytes == 2 || 1",
	"1 << 64 || 1",
	"flags - bytes || 1",
	"0x7fffffffffffffff + 1 || 1",
};

static void conditions_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (!holds(conditions[i]))
			fail_msg("should hold: %s", conditions[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (holds(others[i]))
			fail_msg("should not hold: %s", others[i]);
}

static void sums_have_signs_and_units(void **state)
{
	struct wire_expressions expressions = { 0 };
	const char *unit = NULL;
	int64_t result;

	(void)state;
	assert_int_equal(expression_compile(EXPRESSION_VALUE, "bytes", &values, &expressions, &unit,
					    NULL),
			 0);
	assert_string_equal(unit, "bytes");
	assert_false(expressions.value.is_signed);
	assert_int_equal(expressions.condition.n, 0);
	assert_int_equal(expression_compile(EXPRESSION_VALUE, "(long)bytes", &values, &expressions,
					    &unit, NULL),
			 0);
	assert_string_equal(unit, "bytes");
	assert_true(expressions.value.is_signed);
	assert_true(evaluate(&expressions, &expressions.value, &event, &result));
	assert_true(result < 0);
	assert_int_equal(expression_compile(EXPRESSION_VALUE, "bytes * 3", &values, &expressions,
					    &unit, NULL),
			 0);
	assert_null(unit);
	/* Patterns of the condition stay. */
	expressions = compiled(EXPRESSION_CONDITION, "name == 'disk'");
	assert_int_equal(expression_compile(EXPRESSION_VALUE, "comm == 'x'", &values, &expressions,
					    NULL, NULL),
			 0);
	assert_true(evaluate(&expressions, &expressions.condition, &event, &result) && result);
}

static void assert_refused(enum expression_kind kind, const char *text, const char *why)
{
	struct wire_expressions expressions = { 0 };
	struct error err = { 0 };

	if (expression_compile(kind, text, &values, &expressions, NULL, &err) != -EINVAL)
		fail_msg("should be refused: %s", text);
	assert_int_equal(err.exit_class, EXIT_CLASS_USAGE);
	if (!strstr(err.text, why) || strchr(err.text, '\n'))
		fail_msg("%s: %s", text, err.text);
}

static void wrong_ones_are_told(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "", "a value is missing at its end" },
		{ "pid ==", "a value is missing at its end" },
		{ "pid == 1 &&", "a value is missing at its end" },
		{ "pid = 1", "an operator is missing at '= 1'" },
		{ "2 < 3 == 1", "an operator is missing at '== 1'" },
		{ "pid 1", "an operator is missing at '1'" },
		{ "(pid == 1", "a ) is missing at its end" },
		{ "pid == 1)", "an operator is missing at ')'" },
		{ "foo == 1", "no value 'foo'; they have comm, name, pid, bytes," },
		{ "comm", "a string is no condition" },
		{ "!comm", "a string is no condition" },
		{ "comm == 1", "strings are compared by" },
		{ "pid == 'x'", "strings are compared by" },
		{ "comm < 'x'", "strings are compared by" },
		{ "comm == \"x", "no closing quote" },
		{ "comm ~ '[a'", "does not end" },
		{ "comm ~ 'a\\'", "does not end" },
		{ "pid ~ 'x'", "~ compares a string" },
		{ "comm ~ 5", "~ compares a string" },
		{ "bytes < -1", "(long)" },
		{ "-1 < bytes", "(long)" },
		{ "99999999999999999999 > 1", "a value is missing at '99999999999999999999" },
		{ "1x == 1", "a value is missing at" },
		{ "-9223372036854775809 == 1", "too small" },
		{ "pid # 1", "an operator is missing at '# 1'" },
		{ "comm == 'a' || comm == 'b' || comm == 'c' || comm == 'd' || comm == 'e'",
		  "more than 4 strings" },
		{ "1 | (1 ^ (1 & (1 << (1 + (1 * (1 - (1 + 1)))))))", "nested too deeply" },
		{ "comm == '0123456789012345678901234567890123456789012345678901234567890123'",
		  "more than 63 characters" },
	};
	char text[2 * EXPRESSION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(EXPRESSION_CONDITION, wrong[i].text, wrong[i].why);
	assert_refused(EXPRESSION_VALUE, "comm", "a string has no sum");
	memset(text, '(', sizeof(text));
	text[500] = '\0';
	assert_refused(EXPRESSION_CONDITION, text, "nested too deeply");
	memset(text, '!', 500);
	assert_refused(EXPRESSION_CONDITION, text, "nested too deeply");
	memset(text, 'a', 500);
	assert_refused(EXPRESSION_CONDITION, text, "more than 127 characters");
	memset(text, ' ', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_refused(EXPRESSION_CONDITION, text, "too long");
	strcpy(text, "pid");
	while (strlen(text) < 900)
		strcat(text, "+pid");
	assert_refused(EXPRESSION_CONDITION, text, "too long");
}

/* As fnmatch() has it. */
static void patterns_match(void **state)
{
	static const char *const patterns[] = { "",	"*",	 "a",	 "a*",	   "*a",     "*a*",
						"?",	"??",	 "a?b",	 "a*b*c",  "**a**",  "[ab]",
						"[!a]", "[^a]*", "[]a]", "[a-c]?", "*ab*ab", "\\*",
						"a\\?", "[a-]",	 "*.log" };
	static const char *const texts[] = { "",     "a",   "b",     "ab",	"aab",
					     "abab", "abc", "axbyc", "*",	"]",
					     "-",    "a?",  "x.log", "a.log.1", "abcabcabab" };

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct wire_pattern pattern;

		assert_int_equal(pattern_compile(patterns[i], true, &pattern), 0);
		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
			if (evaluate_matches(&pattern, texts[j]) !=
			    (fnmatch(patterns[i], texts[j], 0) == 0))
				fail_msg("'%s' and '%s'", patterns[i], texts[j]);
	}
}

static void fields_are_parsed(void **state)
{
	struct event_value value = { 0 };
	char name[32] = "";

#define PARSE(line, category) tracepoint_field_parse((line), (category), name, sizeof(name), &value)
	(void)state;
	assert_true(
		PARSE("\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n", "sched"));
	assert_string_equal(name, "prev_comm");
	assert_int_equal(value.kind, EVENT_VALUE_ARRAY);
	assert_int_equal(value.offset, 8);
	assert_int_equal(value.size, 16);
	assert_true(PARSE("\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n", "kmem"));
	assert_string_equal(name, "bytes_req");
	assert_string_equal(value.unit, "bytes");
	assert_int_equal(value.kind, EVENT_VALUE_CONTEXT);
	assert_false(value.is_signed);
	assert_true(PARSE("\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n", "sched"));
	assert_true(value.is_signed);
	assert_null(value.unit);
	assert_true(PARSE("\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n", "x"));
	assert_string_equal(name, "name");
	assert_int_equal(value.kind, EVENT_VALUE_LOCATION);
	assert_true(PARSE("\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n",
			  "syscalls"));
	assert_string_equal(name, "filename");
	assert_int_equal(value.text, EVENT_TEXT_USER);
	assert_true(PARSE("\tfield:const char *name;\toffset:24;\tsize:8;\tsigned:0;\n", "clk"));
	assert_string_equal(name, "name");
	assert_int_equal(value.text, EVENT_TEXT_KERNEL);
	/* What precedes the fields, arrays of numbers, and what is no field. */
	assert_false(PARSE("\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n", "x"));
	assert_false(
		PARSE("\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n", "x"));
	assert_false(PARSE("\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n", "x"));
	assert_false(PARSE("\tfield:struct x y;\toffset:8;\tsize:24;\tsigned:0;\n", "x"));
	assert_false(PARSE("\tfield:int x;\toffset:80000;\tsize:4;\tsigned:1;\n", "x"));
	assert_false(PARSE("\tfield:int x;\toffset:-1;\tsize:4;\tsigned:1;\n", "x"));
	assert_false(PARSE("\tfield:int x;\tsize:4;\tsigned:1;\n", "x"));
	assert_false(PARSE("\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n", "x"));
	assert_false(PARSE("name: sched_switch\n", "x"));
#undef PARSE
}

static void usdt_arguments_are_parsed(void **state)
{
	static const char *const wrong[] = {
		"8f@%xmm0",   "4@counter(%rip)",  "3@%eax",   "4@",  "4",
		"@%eax",      "4@%eex",		  "4@%",      "4@5", "8@(%eax)",
		"8@4(%rax",   "8@4(%rax,%rbx,9)", "-",	      "8@$", "8@$99999999999999999999",
		"8@%rax%rbx", "8@-(%rax)",	  "8@ (%rax)"
	};
	struct event_value list[USDT_ARGUMENTS_MAX];

	(void)state;
	assert_int_equal(
		usdt_arguments_parse("8@%rdi -4@%esi  1@$-5 -2@-16(%rbp) 8@8(%rax,%rdx,4) 4@(%r12)",
				     list),
		6);
	assert_int_equal(list[0].kind, EVENT_VALUE_CONTEXT);
	assert_int_equal(list[0].offset, 112);
	assert_int_equal(list[0].text, EVENT_TEXT_USER);
	assert_false(list[0].is_signed);
	assert_int_equal(list[1].offset, 104);
	assert_int_equal(list[1].size, 4);
	assert_true(list[1].is_signed);
	assert_int_equal(list[2].kind, EVENT_VALUE_CONSTANT);
	assert_int_equal(list[2].number, -5);
	assert_int_equal(list[3].kind, EVENT_VALUE_MEMORY);
	assert_int_equal(list[3].number, -16);
	assert_int_equal(list[3].index.scale, 0);
	assert_int_equal(list[4].offset, 80);
	assert_int_equal(list[4].index.offset, 96);
	assert_int_equal(list[4].index.scale, 4);
	assert_int_equal(list[5].number, 0);
	assert_int_equal(list[5].offset, 24);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_not_equal(usdt_arguments_parse(wrong[i], list), 0);
		assert_int_equal(list[0].size, 0);
	}
	assert_int_equal(usdt_arguments_parse("", list), 0);
	assert_int_equal(
		usdt_arguments_parse("1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al "
				     "1@%al 1@%al 1@%al 1@%al 1@%al",
				     list),
		USDT_ARGUMENTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_hold),     cmocka_unit_test(sums_have_signs_and_units),
		cmocka_unit_test(wrong_ones_are_told), cmocka_unit_test(patterns_match),
		cmocka_unit_test(fields_are_parsed),   cmocka_unit_test(usdt_arguments_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
