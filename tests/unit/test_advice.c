// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/advice.h"

struct data {
	const char *comm; /* of processes with generated code */
	struct tally *tally;
	struct names *names;
};

static void add(struct data *data, uint64_t count, uint32_t tgid, enum tally_end end,
		const char *name)
{
	struct tally_address address = { .address = tally_n_addresses(data->tally), .image = 1 };
	struct names_frame frame = { .name = name ? names_string(data->names, name) : NULL,
				     .object = NAMES_NONE,
				     .flags = NAMES_FRAME_JIT };
	struct tally_entry entry = { .count = count, .tgid = tgid, .kernel = TALLY_STACK_NONE };
	uint32_t id;

	snprintf(entry.comm, sizeof(entry.comm), "%s", data->comm);

	assert_int_equal(tally_address(data->tally, &address, &id), 0);
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	assert_int_equal(tally_stack(data->tally, &id, 1, TALLY_STACK_ENDED(end), &entry.user), 0);
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

/* A sample of the process in that file. */
static void runs(struct data *data, uint32_t tgid, const char *path)
{
	struct tally_address address = { .address = tally_n_addresses(data->tally), .image = 1 };
	struct names_object object = { .path = names_string(data->names, path) };
	struct names_frame frame = { .name = names_string(data->names, "main") };
	struct tally_entry entry = { 1, .tgid = tgid, .kernel = TALLY_STACK_NONE, .comm = "main" };
	uint32_t id;

	assert_int_equal(names_add_object(data->names, &object, &frame.object), 0);
	assert_int_equal(tally_address(data->tally, &address, &id), 0);
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	assert_int_equal(tally_stack(data->tally, &id, 1, TALLY_STACK_ENDED(TALLY_END_COMPLETE),
				     &entry.user),
			 0);
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

static int set_up(void **state)
{
	static struct data data;

	*state = &data;
	data.comm = "worker";
	return tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	names_free(data->names);
	return 0;
}

static void advised(struct data *data, const char *callers, const char *names)
{
	struct advice advice;

	assert_int_equal(advice_of(data->tally, data->names, &advice), 0);
	assert_string_equal(advice.callers, callers);
	assert_string_equal(advice.names, names);
}

#define JVM "/usr/lib/jvm/lib/server/libjvm.so"

static void none_is_given_without_need(void **state)
{
	struct data *data = *state;

	advised(data, "", "");
	runs(data, 1, JVM);
	advised(data, "", "");
	add(data, 890, 1, TALLY_END_COMPLETE, "f");
	add(data, 9, 1, TALLY_END_JIT, NULL);
	advised(data, "", "");
}

static void java_is_told_how(void **state)
{
	struct data *data = *state;

	add(data, 19, 7, TALLY_END_JIT, NULL);
	runs(data, 7, JVM);
	runs(data, 8, JVM);
	add(data, 15, 8, TALLY_END_JIT, "[jit]");
	add(data, 15, 8, TALLY_END_JIT, "[jit]");
	add(data, 20, 7, TALLY_END_JIT, "Ljava/lang/String;::hashCode");
	runs(data, 30, "/bin/true");
	add(data, 28, 30, TALLY_END_COMPLETE, "f");
	advised(data,
		"69 % of all stacks lack callers in worker (7): -v says what is not known of this "
		"Java virtual machine",
		"49 % of all stacks lack names in worker (8): run `jcmd 8 Compiler.perfmap` before "
		"the measurement ends");
}

static void node_is_told_how(void **state)
{
	struct data *data = *state;

	runs(data, 1, "/usr/bin/node");
	add(data, 99, 1, TALLY_END_COMPLETE, NULL);
	advised(data, "",
		"99 % of all stacks lack names in worker (1): start Node.js with "
		"--perf-basic-prof");
}

#define MINUS_J	  "`luajit -j off`, or jit.off() in the program, runs it without generated code"
#define FRAMELESS "LuaJIT's code keeps no frame pointers; "

/* Each runtime has its own remedy, and is known by its file whatever its version. */
static void each_runtime_has_its_own(void **state)
{
	static const struct {
		const char *path, *callers, *names;
	} runtimes[] = {
		{ "/usr/bin/luajit-2.1.0-beta3", FRAMELESS MINUS_J,
		  "a LuaJIT that is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS names its traces" },
		{ "/usr/lib/libluajit-5.1.so.2.1.0", FRAMELESS MINUS_J,
		  "a LuaJIT that is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS names its traces" },
		{ "/usr/lib/libpypy3.9-c.so",
		  "PyPy's code keeps no frame pointers; `pypy3 --jit off` runs it without "
		  "generated "
		  "code",
		  NULL },
		{ "/usr/lib/erlang/erts-13.1.5/bin/beam.smp", NULL,
		  "start Erlang with +JPperf true, which keeps frame pointers, too" },
		{ "/usr/share/dotnet/libcoreclr.so", NULL,
		  "start it with DOTNET_PerfMapEnabled=1 in its environment" },
		{ "/opt/julia/lib/libjulia-internal.so.1.10", NULL,
		  "start Julia with ENABLE_JITPROFILING=1 in its environment" },
		{ "/usr/bin/php8.2",
		  "PHP's generated code keeps no frame pointers; -d opcache.jit=disable runs it "
		  "without",
		  "start PHP with -d opcache.jit_debug=16" },
		{ "/usr/bin/deno", NULL, "start Deno with --v8-flags=--perf-basic-prof" },
		{ "/opt/bun/bin/bun", NULL,
		  "Bun does not tell the names of its code; `bun --cpu-prof` writes a profile with "
		  "functions" },
	};
	struct data *data = *state;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		char callers[ADVICE_SIZE] = "", names[ADVICE_SIZE] = "";

		runs(data, 1, runtimes[i].path);
		add(data, 99, 1, TALLY_END_JIT, NULL);
		if (runtimes[i].callers)
			snprintf(callers, sizeof(callers),
				 "99 %% of all stacks lack callers in worker (1): %s",
				 runtimes[i].callers);
		if (runtimes[i].names)
			snprintf(names, sizeof(names),
				 "99 %% of all stacks lack names in worker (1): %s",
				 runtimes[i].names);
		advised(data, callers, names);
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

/* No stack reaches a file of the runtime: the name of the process has to do. */
static void a_process_is_known_by_its_name(void **state)
{
	struct data *data = *state;

	data->comm = "luajit";
	add(data, 99, 1, TALLY_END_JIT, "TRACE_1");
	advised(data, "100 % of all stacks lack callers in luajit (1): " FRAMELESS MINUS_J, "");
}

/* A remedy for Java is none for others. */
static void only_what_is_known_is_advised(void **state)
{
	struct data *data = *state;

	runs(data, 1, JVM);
	runs(data, 2, "/usr/bin/qemu");
	add(data, 30, 2, TALLY_END_JIT, NULL);
	advised(data,
		"94 % of all stacks lack callers in worker (2): the code that it generates keeps "
		"no frame pointers",
		"94 % of all stacks lack names in worker (2): code that a program generates has "
		"names if it writes them to /tmp/perf-2.map");
}

/* Of an interpreter without generated code, all stacks are complete, and none has a function. */
static void interpreters_that_are_not_read_are_told(void **state)
{
	static const struct {
		const char *path, *functions;
	} interpreters[] = {
		{ "/usr/bin/lua5.4",
		  "functions of Lua are not shown, only those of its interpreter" },
		{ "/usr/lib/x86_64-linux-gnu/liblua5.3.so.0.0.0",
		  "functions of Lua are not shown, only those of its interpreter" },
		{ "/usr/bin/pypy3.11",
		  "functions of Python are shown if CPython runs them, not PyPy" },
		{ "/usr/bin/ocamlrun", "functions of OCaml's bytecode are not shown; compiled by "
				       "ocamlopt, they have names" },
		{ "/usr/bin/python3.11", NULL },
	};
	struct data *data = *state;

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		char expected[ADVICE_SIZE] = "";
		struct advice advice;

		for (int k = 0; k < 20; k++)
			runs(data, 1, interpreters[i].path);
		if (interpreters[i].functions)
			snprintf(expected, sizeof(expected),
				 "100 %% of all stacks lack functions in main (1): %s",
				 interpreters[i].functions);
		assert_int_equal(advice_of(data->tally, data->names, &advice), 0);
		assert_string_equal(advice.functions, expected);
		assert_string_equal(advice.callers, "");
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(none_is_given_without_need),
		TEST(java_is_told_how),
		TEST(node_is_told_how),
		TEST(each_runtime_has_its_own),
		TEST(a_process_is_known_by_its_name),
		TEST(only_what_is_known_is_advised),
		TEST(interpreters_that_are_not_read_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
