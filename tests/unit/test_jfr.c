// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JFR files of the JDK and of async-profiler. `test_jfr DIRECTORY` writes files of these tests
 * behind a zero byte, for the corpus of tests/fuzz/fuzz_jfr.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import/baseline.h"
#include "made_jfr.h"
#include "report/writer.h"

#define START_NS 1700000000000000000ull
#define SECOND	 1000000000ull

enum { MAIN = 1, WORK, SYSCALL, COPY, INLINE };			       /* methods */
enum { INTERPRETED = 1, COMPILED, INLINED, NATIVE, CPP, KERNEL_CODE }; /* kinds of frames */
enum { DEFAULT = 1, SLEEPING };					       /* states */
enum { DEEP = 1, WITH_KERNEL, TRUNCATED };			       /* stacks */
enum { MAIN_CLASS = 1, ARRAY_CLASS, OBJECTS_CLASS, NO_CLASS };

static void put_constants(struct made_jfr *jfr)
{
	static const char *const symbols[] = { "a/Main", "main",  "a/Main$$Lambda$7+0x00007f01.run",
					       "write",	 "copy",  "",
					       "[[B",	 "[La/B;" };
	static const char *const types[] = { "Interpreted", "JIT compiled", "Inlined",
					     "Native",	    "C++",	    "Kernel" };

	made_checkpoint(jfr, 4);
	made_pool(jfr, JFR_SYMBOL, 8);
	for (unsigned int i = 0; i < 8; i++) {
		made_long(jfr, i + 1);
		made_string(jfr, symbols[i]);
	}
	made_pool(jfr, JFR_CLASS, 4);
	made_long(jfr, MAIN_CLASS);
	made_long(jfr, 1);
	made_long(jfr, ARRAY_CLASS);
	made_long(jfr, 7);
	made_long(jfr, OBJECTS_CLASS);
	made_long(jfr, 8);
	made_long(jfr, NO_CLASS);
	made_long(jfr, 6);
	made_pool(jfr, JFR_FRAME_TYPE, 6);
	for (unsigned int i = 0; i < 6; i++) {
		made_long(jfr, i + 1);
		made_string(jfr, types[i]);
	}
	made_pool(jfr, JFR_STATE, 2);
	made_long(jfr, DEFAULT);
	made_string(jfr, "STATE_DEFAULT");
	made_long(jfr, SLEEPING);
	made_string(jfr, "STATE_SLEEPING");
	made_end(jfr);
}

/* What later checkpoints have: methods, stacks and threads. */
static void put_stacks(struct made_jfr *jfr)
{
	static const unsigned int methods[][2] = { { MAIN_CLASS, 2 },
						   { MAIN_CLASS, 3 },
						   { NO_CLASS, 4 },
						   { NO_CLASS, 5 },
						   { MAIN_CLASS, 5 } };

	made_checkpoint(jfr, 3);
	made_pool(jfr, JFR_METHOD, 5);
	for (unsigned int i = 0; i < 5; i++) {
		made_long(jfr, i + 1);
		made_long(jfr, methods[i][0]);
		made_long(jfr, methods[i][1]);
	}
	made_pool(jfr, JFR_STACK, 3);
	made_long(jfr, DEEP);
	made_fixed(jfr, 0, 1);
	made_int(jfr, 3);
	made_frame(jfr, INLINE, 30, INLINED);
	made_frame(jfr, WORK, 20, COMPILED);
	made_frame(jfr, MAIN, 10, INTERPRETED);
	made_long(jfr, WITH_KERNEL);
	made_fixed(jfr, 0, 1);
	made_int(jfr, 3);
	made_frame(jfr, COPY, 0, KERNEL_CODE);
	made_frame(jfr, SYSCALL, 0, NATIVE);
	made_frame(jfr, MAIN, 11, COMPILED);
	made_long(jfr, TRUNCATED);
	made_fixed(jfr, 1, 1);
	made_int(jfr, 1);
	made_frame(jfr, MAIN, 10, INTERPRETED);
	made_pool(jfr, JFR_THREAD, 2);
	made_long(jfr, 1);
	made_string(jfr, "java");
	made_long(jfr, 77);
	made_string(jfr, "main");
	made_long(jfr, 2);
	made_string(jfr, "GC \xe4\xf6");
	made_long(jfr, 78);
	made_fixed(jfr, 0, 1); /* null */
	made_end(jfr);
}

static void put_sample(struct made_jfr *jfr, unsigned int type, double seconds, unsigned int thread,
		       unsigned int stack, unsigned int state)
{
	made_begin(jfr, type);
	made_long(jfr, (uint64_t)((5 + seconds) * (double)MADE_TICKS));
	made_long(jfr, thread);
	made_long(jfr, stack);
	made_long(jfr, state);
}

static void put_events(struct made_jfr *jfr)
{
	made_begin(jfr, JFR_JVM);
	made_long(jfr, 5 * MADE_TICKS);
	made_long(jfr, 4711);
	made_end(jfr);
	put_sample(jfr, JFR_EXECUTION, 2.5, 1, DEEP, DEFAULT);
	made_end(jfr);
	put_sample(jfr, JFR_EXECUTION, 0.5, 1, WITH_KERNEL, DEFAULT); /* not in order */
	made_end(jfr);
	put_sample(jfr, JFR_NATIVE, 0.6, 2, TRUNCATED, SLEEPING);
	made_end(jfr);
	made_begin(jfr, JFR_ALLOCATION);
	made_long(jfr, 5 * MADE_TICKS);
	made_long(jfr, 1);
	made_long(jfr, DEEP);
	made_long(jfr, ARRAY_CLASS);
	made_long(jfr, 1ull << 62 | 5); /* of nine bytes */
	made_end(jfr);
	made_begin(jfr, JFR_MONITOR);
	made_long(jfr, 6 * MADE_TICKS);
	made_long(jfr, 1500000);
	made_long(jfr, 1);
	made_long(jfr, DEEP);
	made_long(jfr, OBJECTS_CLASS);
	made_end(jfr);
	made_begin(jfr, JFR_LOAD);
	made_long(jfr, 0);
	made_fixed(jfr, 0x3ff0000000000000, 8);
	made_end(jfr);
	made_begin(jfr, 999); /* of no type */
	made_end(jfr);
}

/* A file of two chunks that are the same but for their time. */
static void make(struct made_jfr *jfr, bool fixed, unsigned int encoding)
{
	*jfr = (struct made_jfr){ .fixed = fixed, .encoding = encoding };
	bytes_start(&jfr->out, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		made_chunk(jfr);
		put_constants(jfr);
		put_events(jfr);
		put_stacks(jfr);
		made_finish(jfr, START_NS + i * 10 * SECOND, 3 * SECOND);
	}
	assert_int_equal(jfr->out.failed, 0);
}

static struct baseline *read_value(const struct made_jfr *jfr, const char *value)
{
	struct baseline *base = NULL;
	struct error err = { 0 };

	if (baseline_read(jfr->out.start, jfr->out.used, value, &base, &err) < 0)
		fail_msg("%s", err.text);
	return base;
}

static void refused(const struct made_jfr *jfr, const char *value, const char *why)
{
	struct baseline *base = NULL;
	struct error err = { 0 };

	assert_true(baseline_read(jfr->out.start, jfr->out.used, value, &base, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* As -fa prints it. */
static void prints(const struct baseline *base, const char *expected)
{
	const struct report_options options = { .annotations = true, .by_comm = true };
	struct profile profile = { 0 };
	const struct report report = { .options = &options, .profile = &profile };
	struct error err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(profile_build(base->tally, base->names, &base->meta,
				       writer_view(&folded_writer, &options), NULL, &profile),
			 0);
	assert_int_equal(folded_writer.write(&report, out, &err), 0);
	fclose(out);
	assert_string_equal(text, expected);
	profile_clear(&profile);
	free(text);
}

#define SAMPLES                                                                                    \
	"main;a.Main.main;a.Main.a.Main$$Lambda.run;a.Main.copy_[i] 2\n"                           \
	"main;a.Main.main;write;copy_[k] 2\n"                                                      \
	"GC \xc3\xa4\xc3\xb6;[truncated];a.Main.main;[sleeping]_[k] 2\n"

static void samples_are_read_in_all_encodings(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct made_jfr jfr;
		struct baseline *base;

		make(&jfr, i % 2, 3 + i / 2);
		base = read_value(&jfr, NULL);
		prints(base, SAMPLES);
		assert_int_equal(tally_entries(base->tally)[0].tgid, 4711);
		assert_int_equal(tally_entries(base->tally)[0].tid, 77);
		assert_string_equal(base->meta.event, "samples");
		assert_string_equal(base->losses, "");
		baseline_free(base);
		bytes_clear(&jfr.out);
	}
}

static void what_is_not_shown_is_told(void **state)
{
	struct made_jfr jfr;
	struct baseline *base;

	(void)state;
	make(&jfr, false, 3);
	base = read_value(&jfr, NULL);
	assert_string_equal(
		base->notes,
		"counted are 4 jdk.ExecutionSample and 2 jdk.NativeMethodSample; --value shows "
		"2 jdk.ObjectAllocationSample (alloc), 2 jdk.JavaMonitorEnter (lock); "
		"6 events have no stack");
	baseline_free(base);
	refused(&jfr, "wall", "it has no value wall, but: samples, cpu, alloc, lock");
	refused(&jfr, "JVMInformation", "it has no value");
	bytes_clear(&jfr.out);
}

static void values_have_weights_and_units(void **state)
{
	struct made_jfr jfr;
	struct baseline *base;

	(void)state;
	make(&jfr, false, 5);
	base = read_value(&jfr, "cpu");
	assert_int_equal(tally_total(base->tally), 4);
	baseline_free(base);
	base = read_value(&jfr, "lock");
	assert_int_equal(tally_total(base->tally), 3000000);
	assert_int_equal(tally_events(base->tally), 2);
	assert_string_equal(base->meta.unit, "nanoseconds");
	assert_true(base->meta.summed);
	prints(base, "main;a.Main.main;a.Main.a.Main$$Lambda.run;a.Main.copy_[i];a.B[] 3000\n");
	baseline_free(base);
	base = read_value(&jfr, "NativeMethodSample");
	assert_int_equal(tally_total(base->tally), 2);
	baseline_free(base);
	refused(&jfr, "jdk.ObjectAllocationSample", "the sum of the weights is too large");
	bytes_clear(&jfr.out);
}

static void times_are_kept(void **state)
{
	static const uint64_t begins[] = { 500, 600, 2500, 10500, 10600, 12500 };
	struct made_jfr jfr;
	struct baseline *base;

	(void)state;
	make(&jfr, false, 3);
	base = read_value(&jfr, NULL);
	assert_int_equal(base->meta.start_time_ns, START_NS);
	assert_int_equal(base->meta.duration_ns, 13 * SECOND);
	assert_true(timeline_tells(&base->timeline, base->tally));
	assert_int_equal(base->timeline.n_slices, 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(base->timeline.slices[i].begin_ns, begins[i] * 1000000);
	baseline_free(base);
	bytes_clear(&jfr.out);
}

static void samples_of_the_wall_clock_have_numbers(void **state)
{
	struct made_jfr jfr = { .encoding = 3 };
	struct baseline *base;

	(void)state;
	bytes_start(&jfr.out, NULL);
	made_chunk(&jfr);
	put_constants(&jfr);
	put_stacks(&jfr);
	put_sample(&jfr, JFR_WALL, 1, 2, DEEP, SLEEPING);
	made_int(&jfr, 12);
	made_end(&jfr);
	put_sample(&jfr, JFR_WALL, 1, 2, DEEP, SLEEPING);
	made_int(&jfr, (uint32_t)-1); /* counts nothing */
	made_end(&jfr);
	made_begin(&jfr, JFR_SLEEP);
	made_long(&jfr, 0);
	made_long(&jfr, 0); /* no time */
	made_long(&jfr, 1);
	made_long(&jfr, DEEP);
	made_end(&jfr);
	made_finish(&jfr, START_NS, SECOND);
	base = read_value(&jfr, NULL);
	prints(base, "GC \xc3\xa4\xc3\xb6;a.Main.main;a.Main.a.Main$$Lambda.run;a.Main.copy_[i];"
		     "[sleeping]_[k] 12\n");
	assert_string_equal(base->meta.event, "wall");
	baseline_free(base);
	base = read_value(&jfr, "ThreadSleep");
	assert_int_equal(tally_total(base->tally), 1);
	assert_false(base->meta.summed);
	baseline_free(base);
	bytes_clear(&jfr.out);
}

/* Symbols whose strings are constants, also of nothing; characters beyond 16 bits. */
static void strings_may_be_constants(void **state)
{
	struct made_jfr jfr = { .encoding = 3 };
	struct baseline *base;

	(void)state;
	bytes_start(&jfr.out, NULL);
	made_chunk(&jfr);
	made_checkpoint(&jfr, 4);
	made_pool(&jfr, JFR_STRING, 1);
	made_long(&jfr, 9);
	made_fixed(&jfr, 4, 1);
	made_int(&jfr, 3);
	made_number(&jfr, 0xd83d, 2); /* a pair of surrogates, and one that is alone */
	made_number(&jfr, 0xde00, 2);
	made_number(&jfr, 0xdc00, 2);
	made_pool(&jfr, JFR_SYMBOL, 2);
	made_long(&jfr, 1);
	made_fixed(&jfr, 2, 1);
	made_long(&jfr, 9);
	made_long(&jfr, 2);
	made_fixed(&jfr, 2, 1);
	made_long(&jfr, 10);
	made_pool(&jfr, JFR_METHOD, 2);
	made_long(&jfr, 1);
	made_long(&jfr, 0);
	made_long(&jfr, 1);
	made_long(&jfr, 2);
	made_long(&jfr, 0);
	made_long(&jfr, 2);
	made_pool(&jfr, JFR_STACK, 1);
	made_long(&jfr, 1);
	made_fixed(&jfr, 0, 1);
	made_int(&jfr, 3);
	made_frame(&jfr, 1, 0, 1);
	made_frame(&jfr, 2, 0, 1);
	made_frame(&jfr, 3, 0, 1); /* no such method */
	made_end(&jfr);
	put_sample(&jfr, JFR_EXECUTION, 0, 0, 1, 0);
	made_end(&jfr);
	made_finish(&jfr, START_NS, SECOND);
	base = read_value(&jfr, NULL);
	prints(base, ";[unknown];[unknown];\xf0\x9f\x98\x80\xef\xbf\xbd 1\n");
	baseline_free(base);
	bytes_clear(&jfr.out);
}

/* Each part of a file is refused or, with a whole chunk, told as lost; nothing is read beyond it.
 */
static void cut_files_are_told(void **state)
{
	struct made_jfr jfr;
	size_t first;

	(void)state;
	make(&jfr, false, 3);
	first = jfr.chunk;
	for (size_t size = 4; size < jfr.out.used; size++) {
		struct baseline *base = NULL;
		struct error err = { 0 };
		char *part = malloc(size); /* so that a sanitizer sees what is behind it */
		int r;

		assert_non_null(part);
		memcpy(part, jfr.out.start, size);
		r = baseline_read(part, size, NULL, &base, &err);
		assert_true(size < first ? r < 0 && *err.text : r == 0);
		if (r == 0 && size > first) {
			assert_int_equal(tally_total(base->tally), 3);
			assert_non_null(strstr(base->losses, "a chunk that is not complete"));
		}
		baseline_free(base);
		free(part);
	}
	bytes_clear(&jfr.out);
}

/* Bytes of the file are changed, each in turn: it is read or refused. */
static void damaged_files_are_refused(void **state)
{
	struct made_jfr jfr;

	(void)state;
	make(&jfr, false, 3);
	for (size_t at = 4; at < jfr.chunk; at++) {
		static const unsigned char bits[] = { 0x01, 0x80, 0xff };

		for (size_t i = 0; i < 3; i++) {
			struct baseline *base = NULL;
			struct error err = { 0 };

			jfr.out.start[at] = (char)(jfr.out.start[at] ^ bits[i]);
			if (baseline_read(jfr.out.start, jfr.out.used, NULL, &base, &err) < 0)
				assert_true(*err.text);
			jfr.out.start[at] = (char)(jfr.out.start[at] ^ bits[i]);
			baseline_free(base);
		}
	}
	bytes_clear(&jfr.out);
}

/* Values that take no bytes would take all time: of a type that holds itself, or 8^8 others. */
static void types_that_hold_too_much_are_refused(void **state)
{
	static const struct {
		unsigned int type;
		const char *why;
	} of[] = { { JFR_ITSELF, "types within types without end" },
		   { JFR_WIDE, "types or names that hold too much" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct made_jfr jfr = { .encoding = 3 };

		bytes_start(&jfr.out, NULL);
		made_chunk(&jfr);
		made_checkpoint(&jfr, 1);
		made_pool(&jfr, of[i].type, 1);
		made_long(&jfr, 1);
		made_end(&jfr);
		put_sample(&jfr, JFR_EXECUTION, 0, 0, 1, 0);
		made_end(&jfr);
		made_finish(&jfr, START_NS, SECOND);
		refused(&jfr, NULL, of[i].why);
		bytes_clear(&jfr.out);
	}
}

/* What a crash leaves of the only chunk has no names. */
static void chunks_that_were_not_ended_are_refused(void **state)
{
	struct made_jfr jfr;

	(void)state;
	make(&jfr, false, 3);
	memset(jfr.out.start + 8, 0, 8);
	refused(&jfr, NULL, "its end, with all names, was not written");
	bytes_clear(&jfr.out);
}

static void write_seed(const char *directory, const char *name, const struct made_jfr *jfr)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "w");
	if (!out || fputc(0, out) != 0 ||
	    fwrite(jfr->out.start, 1, jfr->out.used, out) != jfr->out.used)
		exit(1);
	fclose(out);
}

static int write_seeds(const char *directory)
{
	for (unsigned int i = 0; i < 6; i++) {
		struct made_jfr jfr;
		char name[32];

		make(&jfr, i % 2, 3 + i / 2);
		snprintf(name, sizeof(name), "%s-%u", i % 2 ? "fixed" : "compressed", 3 + i / 2);
		jfr.out.used = i ? jfr.chunk : jfr.out.used; /* one of them has two chunks */
		write_seed(directory, name, &jfr);
		bytes_clear(&jfr.out);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_read_in_all_encodings),
		cmocka_unit_test(what_is_not_shown_is_told),
		cmocka_unit_test(values_have_weights_and_units),
		cmocka_unit_test(times_are_kept),
		cmocka_unit_test(samples_of_the_wall_clock_have_numbers),
		cmocka_unit_test(strings_may_be_constants),
		cmocka_unit_test(cut_files_are_told),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(types_that_hold_too_much_are_refused),
		cmocka_unit_test(chunks_that_were_not_ended_are_refused),
	};

	return argc == 2 ? write_seeds(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
