// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/message.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/options.h"

static enum message_level level_now = MESSAGE_NORMAL;

void message_set_level(enum message_level level)
{
	level_now = level;
}

enum message_level message_level(void)
{
	return level_now;
}

/* One write for the whole text, so that lines of several processes do not mix. */
static void put(const char *text, size_t size)
{
	fwrite(text, 1, size, stderr);
}

#define LEAST_COLUMNS 40 /* narrower terminals break lines themselves */

/* The columns of the terminal that stderr is; 0: it is none, or narrow. */
static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_COLUMNS
		       ? size.ws_col
		       : 0;
}

/* Cuts what does not fit, and shows as `?` what could control a terminal or is not UTF-8. */
static void put_line(const char *before, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void put_line(const char *before, const char *format, va_list args)
{
	char line[2200];
	size_t used, columns = terminal_columns();
	struct bytes clean, folded;

	used = (size_t)snprintf(line, sizeof(line) / 2, "%s", before);
	if (used >= sizeof(line) / 2)
		used = sizeof(line) / 2 - 1;
	vsnprintf(line + used, sizeof(line) - used, format, args);
	bytes_start(&clean, NULL);
	bytes_name(&clean, line, strlen(line));
	bytes_start(&folded, NULL);
	bytes_wrap(&folded, clean.start, clean.used, columns ? columns : clean.used);
	bytes_char(&folded, '\n');
	put(folded.start, folded.used);
	bytes_clear(&folded);
	bytes_clear(&clean);
}

static __attribute__((format(printf, 2, 3))) void put_format(const char *before, const char *format,
							     ...)
{
	va_list args;

	va_start(args, format);
	put_line(before, format, args);
	va_end(args);
}

int message_error(const char *program, const struct error *err)
{
	if (*err->text)
		put_format(program, ": %s", err->text);
	return err->exit_class ? (int)err->exit_class : EXIT_CLASS_RUNTIME;
}

int message_usage_error(const struct command_line *line, const struct error *err)
{
	return message_usage_error_instead(line, err, NULL);
}

int message_usage_error_instead(const struct command_line *line, const struct error *err,
				const char *instead)
{
	put_format(line->program, ": error: %s", err->text);
	if (instead)
		put_format("Try '", "%s', or '%s --help'.", instead, line->program);
	else
		put_format("Try '", "%s --help'.", line->program);
	return err->exit_class ? (int)err->exit_class : EXIT_CLASS_USAGE;
}

void message_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line("", format, args);
	va_end(args);
}

void message_note(const char *format, ...)
{
	va_list args;

	if (level_now < MESSAGE_NORMAL)
		return;
	va_start(args, format);
	put_line("", format, args);
	va_end(args);
}

void message_progress(const char *format, ...)
{
	char line[72];
	va_list args;

	if (level_now < MESSAGE_NORMAL)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* Blanks rather than sequences: every terminal knows them. */
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
	fprintf(stderr, "%-*s\r", (int)sizeof(line) - 1, line);
}

bool message_is_verbose(void)
{
	return level_now >= MESSAGE_VERBOSE;
}

void message_verbose(const char *format, ...)
{
	va_list args;

	if (level_now < MESSAGE_VERBOSE)
		return;
	va_start(args, format);
	put_line("", format, args);
	va_end(args);
}

int message_libbpf(int level, const char *format, va_list args)
{
	enum { LIBBPF_LEVEL_DEBUG = 2 }; /* LIBBPF_DEBUG: thousands of lines of relocations */

	/* A verifier's log has many lines and ends with one of its own. */
	if (level_now >= MESSAGE_VERBOSE && level < LIBBPF_LEVEL_DEBUG)
		return vfprintf(stderr, format, args);
	return 0;
}
