// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "commands/from_options.h"
#include "commands/profile_options.h"
#include "commands/stackcount_options.h"
#include "report/writer.h"

#define MAX_WORDS 16

/* A command line and the results of parsing it. */
struct run {
	struct profile_options profile;
	struct stackcount_options stackcount;
	char words[400];
	char *argv[MAX_WORDS + 1];
	struct options_parsed is;
	struct error err;
	int result;
};

/* Splits at blanks; `_` stands for an empty word. */
static int split(struct run *run, const char *line)
{
	int argc = 0;

	snprintf(run->words, sizeof(run->words), "%s", line);
	for (char *word = strtok(run->words, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < MAX_WORDS);
		if (!strcmp(word, "_"))
			*word = '\0';
		run->argv[argc++] = word;
	}
	run->argv[argc] = NULL;
	return argc;
}

static void parse_profile(struct run *run, const char *line)
{
	*run = (struct run){ .profile = PROFILE_OPTIONS_DEFAULT };
	run->result = options_parse(&profile_command_line, split(run, line), run->argv,
				    &run->profile, &run->is, &run->err);
}

static void parse_stackcount(struct run *run, const char *line)
{
	*run = (struct run){ .stackcount = STACKCOUNT_OPTIONS_DEFAULT };
	run->result = options_parse(&stackcount_command_line, split(run, line), run->argv,
				    &run->stackcount, &run->is, &run->err);
}

static void clear(struct run *run)
{
	options_clear(&profile_command_line, &run->profile);
	options_clear(&stackcount_command_line, &run->stackcount);
}

static void refuse(struct run *run, const char *line, const char *message)
{
	if (!run->result)
		fail_msg("'%s' is accepted", line);
	assert_int_equal(run->err.exit_class, EXIT_CLASS_USAGE);
	if (strcmp(run->err.text, message))
		fail_msg("'%s' says '%s'", line, run->err.text);
	clear(run);
}

static void refuse_profile(const char *line, const char *message)
{
	struct run run;

	parse_profile(&run, line);
	refuse(&run, line, message);
}

static void refuse_stackcount(const char *line, const char *message)
{
	struct run run;

	parse_stackcount(&run, line);
	refuse(&run, line, message);
}

static void test_defaults(void **state)
{
	struct run run;

	(void)state;
	parse_profile(&run, "profile");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.is.parsed, PARSED_RUN);
	assert_null(run.is.command);
	assert_int_equal(run.profile.shared.cpus.n, 0);
	assert_int_equal(run.profile.shared.max_depth, 0);
	assert_int_equal(run.profile.frequency, 0);
	assert_int_equal(run.profile.period, 0);
	assert_true(run.profile.shared.duration == 0);
	assert_int_equal(run.profile.shared.tgids.n, 0);
	assert_null(run.profile.shared.from);
	clear(&run);
}

/* The four ways to say the same. */
static void test_forms_of_values(void **state)
{
	static const char *const lines[] = {
		"profile -F 99 5",	    "profile 5 -F 99",	    "profile -F99 5",
		"profile --frequency=99 5", "profile --freq 99 5",  "profile -F=99 5",
		"profile 5 --freq=99",	    "profile -F 7 -F 99 5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct run run;

		parse_profile(&run, lines[i]);
		assert_int_equal(run.result, 0);
		assert_int_equal(run.profile.frequency, 99);
		assert_true(run.profile.shared.duration == 5);
		clear(&run);
	}
}

static void test_clusters(void **state)
{
	struct run run;

	(void)state;
	parse_profile(&run, "profile -adfp185,7 10");
	assert_int_equal(run.result, 0);
	assert_true(run.profile.shared.annotations && run.profile.shared.delimited &&
		    run.profile.shared.folded);
	assert_int_equal(run.profile.shared.tgids.n, 2);
	assert_int_equal(run.profile.shared.tgids.ids[0], 185);
	assert_int_equal(run.profile.shared.tgids.ids[1], 7);
	assert_true(run.profile.shared.duration == 10);
	clear(&run);

	parse_stackcount(&run, "stackcount -Ti 5 ip_output");
	assert_int_equal(run.result, 0);
	assert_true(run.stackcount.timestamp);
	assert_true(run.stackcount.shared.interval == 5);
	assert_string_equal(run.stackcount.pattern, "ip_output");
	clear(&run);

	refuse_profile("profile -dX", "argument -d/--delimited: ignored explicit argument 'X'");
	refuse_profile("profile --folded=1", "argument -f/--folded: ignored explicit argument '1'");
	refuse_profile("profile -d=", "argument -d/--delimited: ignored explicit argument ''");
	/* The whole argument is wrong, so -h in it prints no help. */
	refuse_profile("profile -hX", "argument -h/--help: ignored explicit argument 'X'");
	refuse_profile("profile -hp", "argument -p/--pid: expected one argument");
}

static void test_prefixes(void **state)
{
	struct run run;

	(void)state;
	/* Prefixes that are unique among bcc's options stay valid despite our own options. */
	parse_profile(&run, "profile --fo --i --del --per 5");
	assert_int_equal(run.result, 0);
	assert_true(run.profile.shared.folded && run.profile.include_idle &&
		    run.profile.shared.delimited && run.profile.shared.per_thread);
	clear(&run);
	parse_stackcount(&run, "stackcount --per --ver f");
	assert_int_equal(run.result, 0);
	assert_true(run.stackcount.per_process && run.stackcount.verbose_address);
	clear(&run);
	/* A whole name is never an abbreviation of a longer one. */
	parse_profile(&run, "profile --cgroup /x");
	assert_int_equal(run.result, 0);
	assert_string_equal(run.profile.shared.cgroup, "/x");
	assert_null(run.profile.cgroupmap);
	clear(&run);

	refuse_profile("profile --c 5",
		       "ambiguous option: --c could match --cgroup, --container, "
		       "--children, --cpu, --count, --columns, --collapse-recursion, --cgroupmap");
	/* Ambiguity is reported before other errors. */
	refuse_profile("profile -p x --o=",
		       "ambiguous option: --o= could match --off-cpu, --output, --offset");
	/* Hidden options cannot be abbreviated. */
	refuse_profile("profile --print", "unrecognized arguments: --print");
}

static void test_exclusion(void **state)
{
	(void)state;
	refuse_profile("profile -p 1 -L 2",
		       "argument -L/--tid: not allowed with argument -p/--pid");
	refuse_profile("profile -L 2 -p 1",
		       "argument -p/--pid: not allowed with argument -L/--tid");
	refuse_profile("profile -UK", "argument -K/--kernel-stacks-only: not allowed with "
				      "argument -U/--user-stacks-only");
	refuse_profile("profile -F 9 -c 9",
		       "argument -c/--count: not allowed with argument -F/--frequency");
	refuse_profile("profile --inlines --no-inlines",
		       "argument --no-inlines: not allowed with argument --inlines");
	/* The value is checked first. */
	refuse_profile("profile -p 1 -L x", "argument -L/--tid: must be an integer");
	refuse_stackcount("stackcount -p 1 -L 2 f",
			  "argument -L/--tid: not allowed with argument -p/--pid");
}

/* bcc allows both: the command itself refuses them. */
static void test_stackcount_takes_both_sides(void **state)
{
	struct run run;

	(void)state;
	parse_stackcount(&run, "stackcount -K -U f");
	assert_int_equal(run.result, 0);
	assert_true(run.stackcount.shared.kernel_only && run.stackcount.shared.user_only);
	clear(&run);
}

static void test_bad_numbers(void **state)
{
	(void)state;
	refuse_profile("profile -p abc", "argument -p/--pid: must be an integer");
	refuse_profile("profile -p 1,", "argument -p/--pid: must be an integer");
	refuse_profile("profile -p -5", "argument -p/--pid: must be positive");
	refuse_profile("profile -p 1,-2", "argument -p/--pid: must be positive");
	refuse_profile("profile -p=", "argument -p/--pid: must be an integer");
	refuse_profile("profile -F 0", "argument -F/--frequency: must be nonzero");
	refuse_profile("profile -c 0", "argument -c/--count: must be nonzero");
	refuse_profile("profile -F 1.5", "argument -F/--frequency: must be an integer");
	refuse_profile("profile -F -1", "argument -F/--frequency: must be positive");
	refuse_profile("profile 0", "argument duration: must be nonzero");
	refuse_profile("profile 0.0", "argument duration: must be nonzero");
	refuse_profile("profile -5", "argument duration: must be positive");
	refuse_profile("profile x", "argument duration: must be a number of seconds");
	refuse_profile("profile 1e3", "argument duration: must be a number of seconds");
	refuse_profile("profile nan", "argument duration: must be a number of seconds");
	refuse_profile("profile .", "argument duration: must be a number of seconds");
	refuse_profile("profile --stack-storage-size 0",
		       "argument --stack-storage-size: must be nonzero");
	refuse_profile("profile --hash-storage-size 0",
		       "argument --hash-storage-size: must be nonzero");
	refuse_profile("profile --max-depth 0", "argument --max-depth: must be nonzero");
	refuse_profile("profile -C x", "argument -C/--cpu: invalid int value: 'x'");
	refuse_profile("profile -C it's", "argument -C/--cpu: invalid int value: \"it's\"");
	refuse_profile("profile -C _", "argument -C/--cpu: invalid int value: ''");
	refuse_stackcount("stackcount -p x f", "argument -p/--pid: invalid int value: 'x'");
	refuse_stackcount("stackcount -c 1,x f", "argument -c/--cpu: invalid int value: '1,x'");
	refuse_stackcount("stackcount -D 0 f", "argument -D/--duration: must be nonzero");
}

static void test_limits(void **state)
{
	struct run run;

	(void)state;
	refuse_profile("profile -F 18446744073709551616",
		       "argument -F/--frequency: must be at most 18446744073709551615");
	refuse_profile("profile -F 99999999999999999999999999999999999999",
		       "argument -F/--frequency: must be at most 18446744073709551615");
	refuse_profile("profile -p 2147483648", "argument -p/--pid: must be at most 2147483647");
	refuse_profile("profile -C 2147483648", "argument -C/--cpu: must be at most 2147483647");
	refuse_profile("profile -C -9223372036854775809",
		       "argument -C/--cpu: must be at least -9223372036854775807");
	refuse_profile("profile --max-depth 1025", "argument --max-depth: must be at most 1024");
	refuse_profile("profile --hash-storage-size 4294967296",
		       "argument --hash-storage-size: must be at most 4294967295");
	refuse_profile("profile 0.0009", "argument duration: must be at least 0.001");
	refuse_profile("profile 1000000001", "argument duration: must be at most 1000000000");

	parse_profile(&run, "profile -c 18446744073709551615 --max-depth 1024 -C 2147483647 "
			    "-p 2147483647 1000000000");
	assert_int_equal(run.result, 0);
	assert_true(run.profile.period == UINT64_MAX);
	assert_int_equal(run.profile.shared.max_depth, 1024);
	assert_true(run.profile.shared.cpus.n == 1 && run.profile.shared.cpus.ids[0] == INT32_MAX);
	assert_int_equal(run.profile.shared.tgids.ids[0], INT32_MAX);
	assert_true(run.profile.shared.duration == 1e9);
	clear(&run);
}

static void test_good_numbers(void **state)
{
	struct run run;

	(void)state;
	parse_profile(&run, "profile -C -1 -F +0_9_9 -p 0 -i .5 1.25");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.profile.shared.cpus.n, 0);
	assert_int_equal(run.profile.frequency, 99);
	assert_int_equal(run.profile.shared.tgids.n, 1);
	assert_int_equal(run.profile.shared.tgids.ids[0], 0);
	assert_true(run.profile.shared.interval == 0.5);
	assert_true(run.profile.shared.duration == 1.25);
	clear(&run);

	/* Lists have no limit, and add up. */
	parse_profile(&run, "profile -p 1 -p 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,"
			    "22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.profile.shared.tgids.n, 42);
	assert_int_equal(run.profile.shared.tgids.ids[0], 1);
	assert_int_equal(run.profile.shared.tgids.ids[41], 41);
	clear(&run);

	/* Times have units. */
	parse_profile(&run, "profile -i 1.5m 2h");
	assert_int_equal(run.result, 0);
	assert_true(run.profile.shared.interval == 90);
	assert_true(run.profile.shared.duration == 7200);
	clear(&run);
	refuse_profile("profile s", "argument duration: must be a number of seconds");
	refuse_profile("profile 5ms", "argument duration: must be a number of seconds");
	refuse_profile("profile --from a --from b",
		       "argument --from: given twice, and only one can hold");

	parse_stackcount(&run, "stackcount -p 4,5 -c 0 -D 2.5 f");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.stackcount.shared.tgids.n, 2);
	assert_int_equal(run.stackcount.shared.cpus.n, 1);
	assert_int_equal(run.stackcount.shared.cpus.ids[0], 0);
	assert_true(run.stackcount.shared.duration == 2.5);
	clear(&run);
}

static void test_missing_values(void **state)
{
	(void)state;
	refuse_profile("profile -p", "argument -p/--pid: expected one argument");
	refuse_profile("profile -p -d", "argument -p/--pid: expected one argument");
	refuse_profile("profile -p -5,6", "argument -p/--pid: expected one argument");
	refuse_profile("profile --cgroupmap -x", "argument --cgroupmap: expected one argument");
	refuse_profile("profile -F -- sleep 1", "argument -F/--frequency: expected one argument");
}

static void test_unrecognized(void **state)
{
	(void)state;
	refuse_profile("profile --nosuch", "unrecognized arguments: --nosuch");
	refuse_profile("profile 5 6 7", "unrecognized arguments: 6 7");
	refuse_profile("profile -x 5 -d -y=1 6", "unrecognized arguments: -x -y=1 6");
	/* Errors in known options come first. */
	refuse_profile("profile --nosuch -p x", "argument -p/--pid: must be an integer");
	refuse_profile("profile --ebpf", "argument --ebpf: there is no BPF text to print: the "
					 "programs are compiled ahead of time");
}

/* No option may be ignored beside --from: each one is answered or refused. */
static void test_from_options(void **state)
{
	static const struct command_line *const lines[] = { &profile_command_line,
							    &stackcount_command_line };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (size_t row = 0; row < option_count(lines[i]); row++) {
			const char *name = option_at(lines[i], row)->name, *why = NULL;
			enum from_answer answer = from_option(name, &why);

			if (answer == FROM_UNDECIDED)
				fail_msg("--from with --%s: say in from_options.c what becomes of "
					 "it",
					 name);
			if ((answer == FROM_REFUSED) != (why != NULL))
				fail_msg("--%s: refused options, and only those, have a reason",
					 name);
		}
	}
}

/* Checks a line with --from as the commands do; `message` is the expected error. */
static void refuse_from(const char *line, const char *message)
{
	struct run run;
	bool stackcount = strncmp(line, "stackcount", 10) == 0;

	if (stackcount)
		parse_stackcount(&run, line);
	else
		parse_profile(&run, line);
	assert_int_equal(run.result, 0);
	run.result =
		from_options_check(stackcount ? &stackcount_command_line : &profile_command_line,
				   &run.is, &run.err);
	if (message) {
		refuse(&run, line, message);
		return;
	}
	if (run.result)
		fail_msg("'%s' says '%s'", line, run.err.text);
	clear(&run);
}

static void test_from_refusals(void **state)
{
	(void)state;
	refuse_from("profile --from x -p 1 -U -f -d --force -q", NULL);
	refuse_from("stackcount --from x -T -P -r c:malloc", NULL);
	refuse_from("profile --from x -C 0",
		    "-C/--cpu cannot be used with --from: a recording does "
		    "not hold on which CPU an event was");
	refuse_from("stackcount --from x -c 0", "-c/--cpu cannot be used with --from: a recording "
						"does not hold on which CPU an event was");
	refuse_from("profile --from x 5",
		    "duration cannot be used with --from: it ends a measurement; "
		    "--range takes a part of a recording");
	refuse_from("profile --from x --unwind-memory 64",
		    "--unwind-memory cannot be used with --from: the stacks were walked when the "
		    "recording was made");
	refuse_from("profile --from x -- sleep 1",
		    "-- sleep cannot be used with --from: nothing is measured");
}

static void test_required(void **state)
{
	struct run run;

	(void)state;
	refuse_stackcount("stackcount", "the following arguments are required: pattern");
	refuse_stackcount("stackcount --nosuch", "the following arguments are required: pattern");
	refuse_stackcount("stackcount -- vfs_read",
			  "the following arguments are required: pattern");
	parse_stackcount(&run, "stackcount --from x.rec");
	assert_int_equal(run.result, 0);
	assert_null(run.stackcount.pattern);
	assert_string_equal(run.stackcount.shared.from, "x.rec");
	clear(&run);
}

static void test_command(void **state)
{
	struct run run;

	(void)state;
	parse_profile(&run, "profile -F 99 -- sleep -d --nosuch -- 1");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.profile.frequency, 99);
	assert_false(run.profile.shared.delimited);
	assert_string_equal(run.is.command[0], "sleep");
	assert_string_equal(run.is.command[3], "--");
	assert_string_equal(run.is.command[4], "1");
	assert_null(run.is.command[5]);
	clear(&run);
	refuse_profile("profile --", "expected a command after --");
}

static void test_strings(void **state)
{
	struct run run;

	(void)state;
	parse_profile(&run, "profile -o a.svg --output=- -ob --format folded --cgroupmap - -e x");
	assert_int_equal(run.result, 0);
	assert_int_equal(run.profile.shared.outputs.n, 3);
	assert_string_equal(run.profile.shared.outputs.strings[0], "a.svg");
	assert_string_equal(run.profile.shared.outputs.strings[1], "-");
	assert_string_equal(run.profile.shared.outputs.strings[2], "b");
	assert_int_equal(run.profile.shared.formats.n, 1);
	assert_string_equal(run.profile.cgroupmap, "-");
	assert_string_equal(run.profile.event, "x");
	clear(&run);
	assert_int_equal(run.profile.shared.outputs.n, 0);
	assert_null(run.profile.shared.outputs.strings);
}

static void test_options_that_end_parsing(void **state)
{
	static const struct {
		const char *line;
		enum parsed parsed;
	} cases[] = {
		{ "profile -h", PARSED_BRIEF },
		{ "profile --help -p x", PARSED_HELP },
		{ "profile -dh 5 6", PARSED_BRIEF },
		{ "profile -V --nosuch", PARSED_VERSION },
		{ "profile --print-man", PARSED_MAN },
		{ "profile --print-completion", PARSED_COMPLETION },
		{ "profile --print-completion-zsh", PARSED_COMPLETION_ZSH },
		{ "profile --print-completion-fish", PARSED_COMPLETION_FISH },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run run;

		parse_profile(&run, cases[i].line);
		assert_int_equal(run.result, 0);
		assert_int_equal(run.is.parsed, cases[i].parsed);
		clear(&run);
	}
	refuse_profile("profile -p x -h", "argument -p/--pid: must be an integer");
	refuse_profile("profile -h --c",
		       "ambiguous option: --c could match --cgroup, --container, "
		       "--children, --cpu, --count, --columns, --collapse-recursion, --cgroupmap");
}

/* Argument vectors as a hostile caller may pass them. */
static void test_odd_vectors(void **state)
{
	char *none[] = { NULL }, huge[4000];
	char *argv[] = { (char *)"profile", huge, NULL };
	struct run run = { .profile = PROFILE_OPTIONS_DEFAULT };

	(void)state;
	assert_int_equal(options_parse(&profile_command_line, 0, none, &run.profile, &run.is,
				       &run.err),
			 0);
	memset(huge, 'x', sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	memcpy(huge, "--", 2);
	assert_true(options_parse(&profile_command_line, 2, argv, &run.profile, &run.is, &run.err) <
		    0);
	memcpy(huge, "-C\n", 3);
	assert_true(options_parse(&profile_command_line, 2, argv, &run.profile, &run.is, &run.err) <
		    0);
	assert_non_null(strstr(run.err.text, "invalid int value: '\\nxxx"));
	assert_int_equal(run.err.text[strlen(run.err.text) - 1], '\'');
	clear(&run);
}

static void test_program_name(void **state)
{
	(void)state;
	assert_string_equal(options_program("/usr/sbin/profile-x", "profile"), "profile-x");
	assert_string_equal(options_program("profile", "x"), "profile");
	assert_string_equal(options_program(NULL, "profile"), "profile");
	assert_string_equal(options_program("/usr/sbin/", "profile"), "profile");
}

/* The rows of both tables are consistent. */
static void check_table(const struct command_line *line)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);
		bool may_have_value = row->kind >= OPTION_STRING_OR_NOT;
		bool stores = row->kind == OPTION_FLAG || may_have_value;

		assert_non_null(row->name);
		assert_non_null(row->help);
		assert_int_equal(row->field != OPTION_NO_FIELD, stores);
		if (may_have_value && !row->positional)
			assert_non_null(row->metavar);
		else
			assert_null(row->metavar);
		for (size_t j = i + 1; j < option_count(line); j++) {
			assert_string_not_equal(row->name, option_at(line, j)->name);
			assert_true(!row->letter || row->letter != option_at(line, j)->letter);
			if (stores)
				assert_true(row->field != option_at(line, j)->field);
		}
	}
}

static void test_tables(void **state)
{
	(void)state;
	check_table(&profile_command_line);
	check_table(&stackcount_command_line);
}

/* --help and completion offer the names of all writers, in their order. */
static void test_formats(void **state)
{
	char words[] = SHARED_FORMATS, listed[] = SHARED_FORMATS_HELP;
	char *word = strtok(words, " ");
	size_t n = 0;

	(void)state;
	for (; writers[n]; n++, word = strtok(NULL, " "))
		assert_string_equal(word, writers[n]->name);
	assert_null(word);
	assert_true(n >= 9);
	word = strtok(listed, ", ");
	for (size_t i = 0; i < n; i++, word = strtok(NULL, ", ")) {
		if (i == n - 1) {
			assert_string_equal(word, "or");
			word = strtok(NULL, ", ");
		}
		assert_string_equal(word, writers[i]->name);
	}
	assert_null(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_forms_of_values),
		cmocka_unit_test(test_clusters),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_exclusion),
		cmocka_unit_test(test_stackcount_takes_both_sides),
		cmocka_unit_test(test_bad_numbers),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_good_numbers),
		cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_unrecognized),
		cmocka_unit_test(test_from_options),
		cmocka_unit_test(test_from_refusals),
		cmocka_unit_test(test_required),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_options_that_end_parsing),
		cmocka_unit_test(test_odd_vectors),
		cmocka_unit_test(test_program_name),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
