// SPDX-License-Identifier: GPL-2.0-or-later
/* The pattern language: text to parts, and bcc's messages for invalid patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trigger/kinds.h"
#include "trigger/nearest.h"
#include "trigger/spec.h"

struct parsed {
	const char *text;
	bool regexp;
	const struct trigger_kind *kind;
	const char *library, *provider, *name;
};

static const struct parsed PARSED[] = {
	{ "submit_bio", false, &kprobe_kind, NULL, NULL, "submit_bio" },
	{ "tcp_send*", false, &kprobe_kind, NULL, NULL, "tcp_send*" },
	{ "p::tcp_sendmsg", false, &kprobe_kind, NULL, NULL, "tcp_sendmsg" },
	{ "c:malloc", false, &uprobe_kind, "c", NULL, "malloc" },
	{ "p:c:malloc", false, &uprobe_kind, "c", NULL, "malloc" },
	{ "/usr/bin/bash:readline", false, &uprobe_kind, "/usr/bin/bash", NULL, "readline" },
	{ "node:v8::Isolate::Dispose", false, &uprobe_kind, "node", NULL, "v8::Isolate::Dispose" },
	{ "p:node:v8::Isolate*", false, &uprobe_kind, "node", NULL, "v8::Isolate*" },
	{ "p:node:::global", false, &uprobe_kind, "node", NULL, "::global" },
	{ "t:sched:sched_switch", false, &tracepoint_kind, NULL, "sched", "sched_switch" },
	{ "t::sched_switch", false, &tracepoint_kind, NULL, NULL, "sched_switch" },
	{ "u:node:*", false, &usdt_kind, "node", NULL, "*" },
	{ "u:pthread:pthread_create", false, &usdt_kind, "pthread", NULL, "pthread_create" },
	{ "u:c:libc:memory_*", false, &usdt_kind, "c", "libc", "memory_*" },
	{ "t:foo", false, &uprobe_kind, "t", NULL, "foo" },
	{ "^tcp_send.*", true, &kprobe_kind, NULL, NULL, "^tcp_send.*" },
	{ "c:mem[[:alpha:]]*", true, &uprobe_kind, "c", NULL, "mem[[:alpha:]]*" },
	{ "c:a[]:b]c", true, &uprobe_kind, "c", NULL, "a[]:b]c" },
	{ "c:a\\:b", true, &uprobe_kind, "c", NULL, "a\\:b" },
};

static void same(const char *have, const char *want)
{
	if (want)
		assert_string_equal(have, want);
	else
		assert_null(have);
}

static void patterns_are_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(PARSED) / sizeof(PARSED[0]); i++) {
		const struct parsed *want = &PARSED[i];
		struct error err = { 0 };
		struct spec spec;

		if (spec_parse(want->text, want->regexp, &spec, &err) != 0)
			fail_msg("%s: %s", want->text, err.text);
		assert_ptr_equal(spec.kind, want->kind);
		same(spec.library, want->library);
		same(spec.provider, want->provider);
		same(spec.name, want->name);
		assert_int_equal(spec.regexp, want->regexp);
		spec_clear(&spec);
	}
}

/* Places inside of functions. */
static const struct {
	const char *text;
	bool regexp;
	const char *library, *name;
	const char *file; /* of source code */
	uint64_t number;  /* the line, or else the offset */
} POINTS[] = {
	{ "c:malloc+0x10", false, "c", "malloc", NULL, 16 },
	{ "p:c:malloc+8", false, "c", "malloc", NULL, 8 },
	{ "c:operator+", false, "c", "operator+", NULL, 0 },
	{ "c:malloc+0x", false, "c", "malloc+0x", NULL, 0 },
	{ "c:malloc+-1", false, "c", "malloc+-1", NULL, 0 },
	{ "c:a+10", true, "c", "a+10", NULL, 0 },
	{ "submit_bio+4", false, NULL, "submit_bio+4", NULL, 0 },
	{ "bin:file.c:123", false, "bin", "file.c:123", "file.c", 123 },
	{ "./bin:src/file.c:7", false, "./bin", "src/file.c:7", "src/file.c", 7 },
	{ "p:bin:file.c:123", false, "bin", "file.c:123", "file.c", 123 },
	{ "p:file.c:123", false, "file.c", "123", NULL, 0 },
	{ "bin:a::b", false, "bin", "a::b", NULL, 0 },
};

static void places_inside_of_functions_are_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(POINTS) / sizeof(POINTS[0]); i++) {
		struct error err = { 0 };
		struct spec spec;

		if (spec_parse(POINTS[i].text, POINTS[i].regexp, &spec, &err) != 0)
			fail_msg("%s: %s", POINTS[i].text, err.text);
		same(spec.library, POINTS[i].library);
		same(spec.name, POINTS[i].name);
		same(spec.point.file, POINTS[i].file);
		assert_int_equal(POINTS[i].file ? spec.point.line : spec.point.offset,
				 POINTS[i].number);
		assert_int_equal(spec.point.has_offset, !POINTS[i].file && POINTS[i].number > 0);
		spec_clear(&spec);
	}
}

static void wrong(const char *text, const char *message)
{
	struct spec spec = { .name = (char *)"untouched" };
	struct error err = { 0 };

	assert_true(spec_parse(text, false, &spec, &err) < 0);
	assert_string_equal(err.text, message);
	assert_int_equal(err.exit_class, EXIT_CLASS_RUNTIME);
	assert_string_equal(spec.name, "untouched");
}

static void wrong_patterns_are_named_as_by_bcc(void **state)
{
	(void)state;
	wrong("a:b:c:d", "Too many ':'-separated components in pattern a:b:c:d");
	wrong("u:a:b:c:d", "Too many ':'-separated components in pattern u:a:b:c:d");
	wrong("p::a:b", "Too many ':'-separated components in pattern p::a:b");
	wrong("a:b:c:d:e:f:g", "Too many ':'-separated components in pattern a:b:c:d:e:f:g");
	wrong("bin:file.c:0", "bin:file.c:0: there is no line 0");
	wrong("bin:file.c:99999999999", "bin:file.c:99999999999: there is no line 99999999999");
	wrong("u:bin:file.c:123:4",
	      "Too many ':'-separated components in pattern u:bin:file.c:123:4");
	wrong("r:b:c", "Type must be 'p', 't', or 'u', but got r");
	wrong("r::c", "Type must be 'p', 't', or 'u', but got r");
	wrong("k:b:c", "Type must be 'p', 't', or 'u', but got k");
}

static void errors_name_what_is_missing(void **state)
{
	struct trigger *trigger = NULL;
	struct error err = { 0 };

	(void)state;
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "nosuchlibrary:x" }, &trigger,
				     &err) < 0);
	assert_string_equal(err.text, "unable to find library nosuchlibrary");
	/* A type where a library was meant to follow. */
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "u:throw" }, &trigger, &err) <
		    0);
	assert_string_equal(err.text, "u:throw: USDT probes are u:LIBRARY:PROBE");
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "p:malloc" }, &trigger, &err) <
		    0);
	assert_string_equal(err.text, "p:malloc: functions are p:LIBRARY:FUNCTION or p::FUNCTION");
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "c:nosuch*" }, &trigger,
				     &err) < 0);
	assert_non_null(strstr(err.text, "No functions matched by pattern ^nosuch.*$"));
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "c:mallocc" }, &trigger,
				     &err) < 0);
	assert_non_null(strstr(err.text, "No functions matched by pattern ^mallocc$"));
	assert_non_null(strstr(err.text, "did you mean malloc"));
	assert_true(spec_trigger_new(&(struct spec_request){ .text = "c:(", .regexp = true },
				     &trigger, &err) < 0);
	assert_non_null(strstr(err.text, "regular expression ( cannot be used"));
	assert_int_equal(err.exit_class, EXIT_CLASS_RUNTIME);
	assert_null(trigger);
}

static void a_function_of_libc_makes_a_trigger(void **state)
{
	struct trigger *trigger = NULL;
	struct error err = { 0 };
	const char *text;

	(void)state;
	assert_int_equal(spec_trigger_new(&(struct spec_request){ .text = "p:c:malloc" }, &trigger,
					  &err),
			 0);
	assert_string_equal(trigger->event, "p:c:malloc");
	assert_true(trigger->user_entry);
	assert_int_equal(trigger->ops->n_attached(trigger), 0);
	assert_int_equal(spec_trigger_left_out(trigger, &text), 0);
	assert_string_equal(text, "");
	trigger_free(trigger);
	trigger_free(NULL);
}

static void near_names_are_the_likely_ones(void **state)
{
	struct nearest nearest;
	char text[200];

	(void)state;
	nearest_init(&nearest, "tcp_sendmgs");
	nearest_add(&nearest, "udp_recvmsg");
	nearest_add(&nearest, "tcp_sendmsg_locked_for_a_while");
	nearest_add(&nearest, "tcp_sendmsg");
	nearest_add(&nearest, "tcp_sendmsg");
	nearest_add(&nearest, "tcp_sendmgs.isra.0");
	nearest_describe(&nearest, text, sizeof(text));
	assert_string_equal(text, "; did you mean tcp_sendmgs.isra.0 or tcp_sendmsg?");
	nearest_init(&nearest, "zz*");
	nearest_describe(&nearest, text, sizeof(text));
	assert_string_equal(text, "");
	nearest_init(&nearest, "vfs_re");
	for (int i = 0; i < 9; i++) {
		snprintf(text, sizeof(text), "vfs_read%.*s", 9 - i, "xxxxxxxxx");
		nearest_add(&nearest, text);
	}
	assert_int_equal(nearest.n, NEAREST_MAX);
	assert_string_equal(nearest.found[0].name, "vfs_readx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_split),
		cmocka_unit_test(places_inside_of_functions_are_split),
		cmocka_unit_test(wrong_patterns_are_named_as_by_bcc),
		cmocka_unit_test(errors_name_what_is_missing),
		cmocka_unit_test(a_function_of_libc_makes_a_trigger),
		cmocka_unit_test(near_names_are_the_likely_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
