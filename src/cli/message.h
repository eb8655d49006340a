/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only writer to stderr. Verbosity is the one mutable global of the program.
 *
 * Each call writes one whole line at once. Names in messages come from processes that may be
 * hostile: control characters are shown as `?`.
 */
#ifndef STACKTALLY_CLI_MESSAGE_H
#define STACKTALLY_CLI_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/error.h"

struct command_line;

enum message_level {
	MESSAGE_QUIET = -1, /* errors and warnings of loss only */
	MESSAGE_NORMAL = 0,
	MESSAGE_VERBOSE = 1, /* -v */
};

void message_set_level(enum message_level level);
enum message_level message_level(void);

/* "NAME: text" with the name of the command, at any level. Returns the exit code of the error. */
int message_error(const char *program, const struct error *err);
/* The usage block and "NAME: error: text", as argparse does. Returns the exit code. */
int message_usage_error(const struct command_line *line, const struct error *err);
/* A line as it is, at any level: the WARNING lines that scripts know. */
void message_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line from MESSAGE_NORMAL on: the closing line, advice. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * What is going on, from MESSAGE_NORMAL on: each one overwrites the one before, as the next line
 * does. Short ASCII; an empty one leaves nothing behind. For a terminal only.
 */
void message_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line from MESSAGE_VERBOSE on. */
/* Whether message_verbose() prints: for what is costly to find out. */
bool message_is_verbose(void);
void message_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * What libbpf says: shown from MESSAGE_VERBOSE on, its debug messages never. Fits
 * libbpf_set_print(), whose level is an enum.
 */
int message_libbpf(int level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
