/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of options drives parsing, usage, --help, the man page and the shell completion.
 *
 * Parsing follows Python's argparse, because scripts written for bcc's tools rely on it: options
 * and positionals in any order, clusters of short flags (-adf), values attached (-F99, --freq=99)
 * or separate, unique prefixes of long options, `--` before a command, and argparse's messages.
 *
 * Must not know: the meaning of an option. Its row says where its value is stored.
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
	OPTION_COMPLETION_ZSH,
	OPTION_COMPLETION_FISH,
	OPTION_REFUSED,	      /* a flag of bcc's that is not supported: `help` is the message */
	OPTION_STRING_OR_NOT, /* const char *: --name=VALUE, or "" for --name alone */
	OPTION_POSITIVE,      /* uint64_t: > 0, else "must be nonzero" */
	OPTION_COUNT,	      /* uint64_t: >= 0 */
	OPTION_INT,	      /* int64_t, "invalid int value: 'x'" */
	OPTION_SECONDS,	      /* double > 0, decimals allowed */
	OPTION_STRING,	      /* const char * */
	OPTION_STRINGS,	      /* struct string_list, repeatable */
	OPTION_IDS,	      /* struct id_list: comma list of ints >= 0 */
	OPTION_CPUS,	      /* struct id_list: "7", "0-3,8"; below 0: empty, which is all */
	OPTION_IDS_INT,	      /* as OPTION_IDS, with OPTION_INT's message for other text */
};

struct option_row {
	const char *section; /* headline in --help and man page; NULL: none */
	const char *name;    /* long name without dashes, or the name of a positional */
	char letter;	     /* short name; 0: none */
	enum option_kind kind;
	size_t field;	       /* offsetof() in the target struct, or OPTION_NO_FIELD */
	uint64_t max;	       /* of numbers; 0: the largest that fits the field */
	const char *metavar;   /* the name of the value */
	const char *help;      /* without a final full stop, in argparse's style */
	const char *exclusive; /* options with the same tag exclude each other */
	bool positional, required, hidden;
	bool bcc;	    /* one of bcc's: its prefixes are not made ambiguous by ours */
	const char *unless; /* names of options, each of which makes this one not required */
	/*
	 * The kind of the value, for completion: "pid", "tid", "comm", "file", "dir",
	 * "tracepoint"; or the possible words, at least two, separated by spaces; or NULL.
	 */
	const char *completes;
};

#define OPTION_NO_FIELD SIZE_MAX

struct string_list {
	const char **strings;
	uint32_t n, capacity;
};

/* Rows that stand together; several command lines may have the same. */
struct option_rows {
	const struct option_row *rows;
	size_t n;
};

#define OPTION_ROWS(array)                                                                         \
	{                                                                                          \
		(array), sizeof(array) / sizeof(*(array))                                          \
	}

struct option_example {
	const char *command; /* arguments, without the program's name */
	const char *says;    /* its explanation */
};

/* One section of the man page, in roff. */
struct manual_section {
	const char *title;
	const char *text; /* ends with a newline */
};

/* The command line of one command. */
struct command_line {
	const char *program;	 /* basename, for usage and messages: "profile" */
	const char *description; /* one line */
	const struct option_rows *const
		*tables; /* the rows one table after the other: by section */
	size_t n_tables;
	const struct option_example *examples; /* ends with command NULL */
	const struct option_example *brief;    /* for -h: what people need most; the same */
	bool takes_command;		       /* `-- COMMAND ...` is understood */
	/* Ends with title NULL. The first comes before the options, the rest after them. */
	const struct manual_section *manual;
	const char *see_also; /* roff, the last section; or NULL */
};

enum parsed {
	PARSED_RUN,   /* run the command */
	PARSED_BRIEF, /* -h; for this and the following: call options_answer() */
	PARSED_HELP,
	PARSED_VERSION,
	PARSED_MAN,	   /* hidden --print-man */
	PARSED_COMPLETION, /* hidden --print-completion, -zsh, -fish */
	PARSED_COMPLETION_ZSH,
	PARSED_COMPLETION_FISH,
};

#define OPTIONS_MAX 128 /* rows of a command line */

/* How many rows the tables of a command line have, and each of them by its number. */
size_t option_count(const struct command_line *line);
const struct option_row *option_at(const struct command_line *line, size_t number);

/* What a command line says besides the values of its options. */
struct options_parsed {
	enum parsed parsed;
	char **command;		 /* the argv after `--`, or NULL */
	bool given[OPTIONS_MAX]; /* by the number of the row */
};

/* The basename of argv[0], for usage and messages; `otherwise` if there is none. */
const char *options_program(const char *argv0, const char *otherwise);

/*
 * Parses argv into `target`, which the caller has filled with the defaults and empty lists.
 * Strings in `target` point into argv; call options_clear() to free its lists, also after a
 * failure. 0, -ENOMEM, or -EINVAL for a usage error: then `err` holds argparse's message without
 * its "PROGRAM: error: ".
 */
int options_parse(const struct command_line *line, int argc, char **argv, void *target,
		  struct options_parsed *ret_parsed, struct error *err);
void options_clear(const struct command_line *line, void *target);

/* The spelling of an option in messages: "-p/--pid", "--event", "duration". Returns the buffer. */
#define OPTION_NAME_SIZE 128
const char *option_name(const struct option_row *row, char buffer[static OPTION_NAME_SIZE]);

/* For -h: the examples that people need most, on one screen. */
void options_brief(const struct command_line *line, FILE *out);
/* The usage block and the options by section, in argparse's layout at 80 columns. */
void options_help(const struct command_line *line, FILE *out);
void options_man(const struct command_line *line, FILE *out);	     /* man page, section 8, roff */
void options_completion(const struct command_line *line, FILE *out); /* bash */
void options_completion_zsh(const struct command_line *line, FILE *out);
void options_completion_fish(const struct command_line *line, FILE *out);

/* Prints the help, version, man page or completion that was asked for. */
void options_answer(const struct command_line *line, enum parsed parsed, FILE *out);

#endif
