/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of options drives parsing, usage, --help, the man page and the shell completion.
 *
 * Parsing follows Python's argparse, which scripts written for bcc's tools rely on: options and
 * positionals in any order, clusters of short flags (-adf), values attached (-F99, --freq=99) or
 * apart, unique prefixes of long options, `--` before a command, and argparse's messages.
 *
 * Nothing here knows what an option means: a table says where its value goes and what it is called.
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
	OPTION_FLAG, /* bool: set */
	OPTION_HELP, /* stops parsing, as do VERSION, MAN and COMPLETION */
	OPTION_VERSION,
	OPTION_MAN,
	OPTION_COMPLETION,
	OPTION_REFUSED,	      /* a flag bcc has and we do not: `help` is the message */
	OPTION_STRING_OR_NOT, /* const char *: --name=VALUE, or --name alone, which is "" */
	OPTION_POSITIVE,      /* uint64_t: > 0, else "must be nonzero" */
	OPTION_COUNT,	      /* uint64_t: >= 0 */
	OPTION_INT,	      /* int64_t, "invalid int value: 'x'" */
	OPTION_SECONDS,	      /* double > 0, decimals allowed */
	OPTION_STRING,	      /* const char * */
	OPTION_STRINGS,	      /* struct string_list, repeatable */
	OPTION_IDS,	      /* struct id_list: comma list of ints >= 0 */
	OPTION_IDS_INT,	      /* the same with OPTION_INT's message for what is no number */
};

struct option_row {
	const char *section; /* headline in --help and man page; NULL: bcc's own options */
	const char *name;    /* long name without dashes; of positionals: what they are called */
	char letter;	     /* 0: none */
	enum option_kind kind;
	size_t field;	     /* offsetof() in the target struct, or OPTION_NO_FIELD */
	uint64_t max;	     /* of numbers, 0: what fits the field */
	const char *metavar; /* of the value */
	const char *help;    /* one sentence or two, without a final full stop (argparse's style) */
	const char *exclusive; /* options with the same tag exclude one another */
	bool positional, required, hidden;
	const char *unless; /* name of the option that lifts `required` when it is given */
	/*
	 * What the value is, for completion: "pid", "tid", "comm", "file", "dir", "tracepoint"; or
	 * a space-separated list of two and more words; or NULL.
	 */
	const char *completes;
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

/* Roff text of one part of the man page. */
struct manual_section {
	const char *title;
	const char *text; /* ends with a newline */
};

/* All there is to say about a command. */
struct command_line {
	const char *program;	       /* basename, for usage and messages: "profile" */
	const char *description;       /* one line */
	const struct option_row *rows; /* n_rows of them, bcc's first, sections together */
	size_t n_rows;
	const struct option_example *examples; /* ends with command NULL */
	bool takes_command;		       /* `-- COMMAND ...` is understood */
	/* Ends with title NULL. The first comes before the options, the rest after them. */
	const struct manual_section *manual;
	const char *see_also; /* roff, the last section; or NULL */
};

enum parsed {
	PARSED_RUN,  /* options are set: go on */
	PARSED_HELP, /* what options_answer() prints */
	PARSED_VERSION,
	PARSED_MAN,	   /* hidden --print-man */
	PARSED_COMPLETION, /* hidden --print-completion */
};

/* The part of argv[0] that usage and messages show. */
const char *options_program(const char *argv0, const char *otherwise);

/*
 * Parses argv into `target`, which the caller has filled with the defaults (lists empty).
 * `ret_command` receives the argv after `--` (NULL when there is none). Strings in `target` point
 * into argv; options_clear() frees its lists, after a failure too. On a usage error `err` holds
 * argparse's message without the "PROGRAM: error: " in front.
 */
int options_parse(const struct command_line *line, int argc, char **argv, void *target,
		  char ***ret_command, enum parsed *ret_parsed, struct error *err);
void options_clear(const struct command_line *line, void *target);

/* The usage block, wrapped as argparse does at 80 columns; for usage errors and --help. */
void options_usage(const struct command_line *line, FILE *out);
void options_help(const struct command_line *line, FILE *out);
void options_man(const struct command_line *line, FILE *out);	     /* man page, section 8, roff */
void options_completion(const struct command_line *line, FILE *out); /* bash */

/* Prints what was asked for with --help and the like; nothing for PARSED_RUN. */
void options_answer(const struct command_line *line, enum parsed parsed, FILE *out);

#endif
