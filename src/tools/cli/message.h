/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All writing to stderr. The message level is the only mutable global of the program.
 *
 * Each call writes one line with one write(2); a terminal that is narrower gets it in several,
 * broken at blanks. Control characters, which hostile processes put into names, are shown as `?`.
 */
#ifndef STACKTALLY_CLI_MESSAGE_H
#define STACKTALLY_CLI_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/error.h"

struct command_line;

enum message_level {
	MESSAGE_QUIET = -1, /* errors and warnings of losses only */
	MESSAGE_NORMAL = 0,
	MESSAGE_VERBOSE = 1, /* -v */
};

void message_set_level(enum message_level level);
enum message_level message_level(void);

/* Writes "PROGRAM: text", at any level. Returns the exit code of the error. */
int message_error(const char *program, const struct error *err);
/*
 * Writes argparse's "PROGRAM: error: text", and how to get help in place of its usage block, which
 * would be many lines. Returns the exit code.
 */
int message_usage_error(const struct command_line *line, const struct error *err);
/* The same, with arguments that were probably meant; or NULL. */
int message_usage_error_instead(const struct command_line *line, const struct error *err,
				const char *instead);
/* Writes a line without a prefix, at any level: the WARNING lines that scripts know. */
void message_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a line from MESSAGE_NORMAL on: the closing line, advice. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Writes a progress line from MESSAGE_NORMAL on. The next progress or other line overwrites it; an
 * empty one erases it. ASCII that fits a terminal line; only if stderr is a terminal.
 */
void message_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether message_verbose() writes: for facts that are costly to find out. */
bool message_is_verbose(void);
/* Writes a line from MESSAGE_VERBOSE on. */
void message_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * For libbpf_set_print(): writes libbpf's messages, except debug ones, from MESSAGE_VERBOSE on.
 */
int message_libbpf(int level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
