/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of options drives parsing, usage, --help, the man page and the shell completion.
 *
 * Parsing follows Python's argparse, which scripts written for bcc's tools rely on: options and
 * positionals in any order, clusters of short flags (-adf), values attached (-F99, --freq=99) or
 * apart, unique prefixes of long options, `--` before a command, and argparse's messages.
 */
#ifndef STACKTALLY_CLI_OPTIONS_H
#define STACKTALLY_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/id_list.h"

enum option_kind {
	OPTION_FLAG,	   /* bool: set */
	OPTION_HELP,	   /* prints help and stops */
	OPTION_VERSION,
	OPTION_POSITIVE,   /* uint64_t: > 0, else "must be nonzero" */
	OPTION_COUNT,	   /* uint64_t: >= 0 */
	OPTION_INT,	   /* int64_t, "invalid int value: 'x'" */
	OPTION_SECONDS,	   /* double > 0, decimals allowed */
	OPTION_STRING,	   /* const char * */
	OPTION_STRINGS,	   /* struct string_list, repeatable */
	OPTION_IDS,	   /* struct id_list: comma list of ints >= 0 */
};

struct option_row {
	const char *section;   /* headline in --help and man page; NULL: bcc's own options */
	const char *name;      /* long name without dashes; NULL for positionals: then metavar */
	char letter;	       /* 0: none */
	enum option_kind kind;
	size_t field;	       /* offsetof() in the target struct */
	size_t seen;	       /* offsetof() of a bool set when given, or OPTION_NO_FIELD */
	const char *metavar;   /* of the value */
	const char *help;      /* one sentence or two, without a final full stop (argparse's style) */
	const char *exclusive; /* options with the same tag exclude one another */
	bool positional, required, hidden;
	const char *completes; /* what the value is, for completion: "pid", "tid", "file", "dir", "event", "format", or a space-separated list of words; NULL */
};

#define OPTION_NO_FIELD SIZE_MAX

struct string_list {
	const char **strings;
	uint32_t n;
};

struct option_example {
	const char *command; /* without the program's name */
	const char *says;
};

/* All there is to say about a command. */
struct command_line {
	const char *program;	 /* basename, for usage and messages: "profile" */
	const char *description; /* one line */
	const struct option_row *rows; /* n_rows of them */
	size_t n_rows;
	const struct option_example *examples; /* ends with command NULL */
	bool takes_command;	 /* `-- COMMAND ...` is understood */
	const char *manual;	 /* roff text of further man page sections, or NULL */
};

enum parsed {
	PARSED_RUN,	/* options are set: go on */
	PARSED_HELP,	/* --help: print options_help() to stdout, exit 0 */
	PARSED_VERSION,
	PARSED_MAN,	/* hidden --print-man: options_man() */
	PARSED_COMPLETION, /* hidden --print-completion: options_completion() */
};

/*
 * Parses argv into `target`. `ret_command` receives the argv after `--` (NULL when there is none).
 * Values in `target` point into argv or are allocated for the life of the process. On a usage
 * error `err` holds argparse's message without the "PROGRAM: error: " in front.
 */
int options_parse(const struct command_line *line, int argc, char **argv, void *target,
		  char ***ret_command, enum parsed *ret_parsed, struct error *err);

/* The usage block, wrapped as argparse does at 80 columns; for usage errors and --help. */
void options_usage(const struct command_line *line, FILE *out);
void options_help(const struct command_line *line, FILE *out);
void options_man(const struct command_line *line, FILE *out);	    /* man page, section 8, roff */
void options_completion(const struct command_line *line, FILE *out); /* bash */

#endif
