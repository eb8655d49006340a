// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/message.h"
#include "cli/options.h"

static const struct option_row rows[] = {
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_HELP,
	  .field = OPTION_NO_FIELD,
	  .help = "show this help message and exit" },
};
static const struct option_rows table = OPTION_ROWS(rows);
static const struct option_rows *const tables[] = { &table };
static const struct command_line line = {
	.program = "profile", .description = "", .tables = tables, .n_tables = 1
};

/* Reads the text that `print` writes to stderr. */
static void capture(void (*print)(void), char *text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	print();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

static void print_messages(void)
{
	message_line("WARNING: %d", 1);
	message_note("note %s", "a\033[2J\nb");
	message_verbose("verbose");
}

static void print_privilege_error(void)
{
	struct error err = { 0 };

	error_privilege(&err, -1, "no %s", "CAP_BPF");
	assert_int_equal(message_error("profile", &err), EXIT_CLASS_PRIVILEGE);
}

static void print_usage_error(void)
{
	struct error err = { 0 };

	error_usage(&err, "unrecognized arguments: x\r");
	assert_int_equal(message_usage_error(&line, &err), EXIT_CLASS_USAGE);
}

static void print_long(void)
{
	struct error err = { .exit_class = EXIT_CLASS_RUNTIME };

	memset(err.text, 'y', sizeof(err.text) - 1);
	message_error("profile", &err);
	message_line("%*d", 5000, 1);
}

static void libbpf_says(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void libbpf_says(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_libbpf(level, format, args);
	va_end(args);
}

static void print_libbpf(void)
{
	libbpf_says(0, "libbpf: bad %d\n", 1);
	libbpf_says(2, "libbpf: relocation\n");
}

static void test_levels(void **state)
{
	char text[8000];

	(void)state;
	message_set_level(MESSAGE_QUIET);
	capture(print_messages, text, sizeof(text));
	assert_string_equal(text, "WARNING: 1\n");
	message_set_level(MESSAGE_NORMAL);
	capture(print_messages, text, sizeof(text));
	assert_string_equal(text, "WARNING: 1\nnote a?[2J?b\n");
	capture(print_libbpf, text, sizeof(text));
	assert_string_equal(text, "");
	message_set_level(MESSAGE_VERBOSE);
	assert_int_equal(message_level(), MESSAGE_VERBOSE);
	capture(print_messages, text, sizeof(text));
	assert_string_equal(text, "WARNING: 1\nnote a?[2J?b\nverbose\n");
	capture(print_libbpf, text, sizeof(text));
	assert_string_equal(text, "libbpf: bad 1\n");
	message_set_level(MESSAGE_NORMAL);
}

static void test_errors(void **state)
{
	char text[8000];

	(void)state;
	capture(print_privilege_error, text, sizeof(text));
	assert_string_equal(text, "profile: no CAP_BPF\n");
	capture(print_usage_error, text, sizeof(text));
	assert_string_equal(text, "profile: error: unrecognized arguments: x?\n"
				  "Try 'profile --help'.\n");
}

static void print_wide(void)
{
	message_note("%s", "17 % of user frames have no symbol: profile --symbols tells how");
	message_note(
		"%s",
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 is as wide as "
		"eight letters are");
	message_note("%s",
		     "0123456789012345678901234567890123456789012345678901234567890 has no blank");
}

/* What a terminal of so many columns shows of print_wide(). */
static void show(unsigned short columns, char *text, size_t size)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO), other;
	const struct winsize window = { .ws_row = 24, .ws_col = columns };
	size_t used = 0;

	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(other >= 0 && ioctl(other, TIOCSWINSZ, &window) == 0);
	assert_true(dup2(other, STDERR_FILENO) >= 0);
	close(other);
	print_wide();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	for (ssize_t n = 1; n > 0 && used<size - 1; used += n> 0 ? (size_t)n : 0)
		n = read(terminal, text + used, size - 1 - used);
	text[used] = '\0';
	close(terminal);
}

static void test_terminal(void **state)
{
	char text[2000];

	(void)state;
	show(46, text, sizeof(text));
	assert_string_equal(
		text, "17 % of user frames have no symbol: profile\r\n  --symbols tells how\r\n"
		      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 is as wide "
		      "as eight letters are\r\n"
		      "0123456789012345678901234567890123456789012345678901234567890\r\n"
		      "  has no blank\r\n");
	show(0, text, sizeof(text));
	assert_non_null(strstr(text, "no symbol: profile --symbols tells how\r\n"));
}

/* Cut, but still whole lines. */
static void test_long_lines(void **state)
{
	char text[8000];

	(void)state;
	capture(print_long, text, sizeof(text));
	assert_true(strlen(text) < 4500);
	assert_int_equal(strncmp(text, "profile: yyy", 12), 0);
	assert_int_equal(text[strlen(text) - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
