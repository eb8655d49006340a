// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parser works as argparse does: first every argument is told apart as an option or a value
 * (an ambiguous prefix is an error whatever else is wrong), then they are taken from left to
 * right, then what was not understood and what is missing is reported.
 */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_match.h"
#include "cli/option_name.h"
#include "cli/value.h"

struct parser {
	const struct command_line *line;
	char **argv; /* without the program's name */
	int argc;    /* before `--` */
	void *target;
	bool stopped; /* by --help and the like */
	struct options_parsed *is;
	struct string_list unrecognized;
	struct error *err;
};

static int out_of_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static bool takes_value(const struct option_row *row)
{
	return row->kind >= OPTION_POSITIVE;
}

/* Attached to it, at least. */
static bool may_take_value(const struct option_row *row)
{
	return takes_value(row) || row->kind == OPTION_STRING_OR_NOT;
}

static int wrong_argument(const struct parser *parser, const struct option_row *row,
			  const char *what)
{
	char name[OPTION_NAME_SIZE];

	return error_usage(parser->err, "argument %s: %s", option_name(row, name), what);
}

static int ignored_value(const struct parser *parser, const struct option_row *row,
			 const char *value)
{
	char repr[200], what[300];

	value_repr(value, repr, sizeof(repr));
	snprintf(what, sizeof(what), "ignored explicit argument %s", repr);
	return wrong_argument(parser, row, what);
}

static int check_exclusive(const struct parser *parser, const struct option_row *row)
{
	char name[OPTION_NAME_SIZE], what[OPTION_NAME_SIZE + 40];

	for (size_t i = 0; row->exclusive && i < option_count(parser->line); i++) {
		const struct option_row *other = option_at(parser->line, i);

		if (other == row || !parser->is->given[i] || !other->exclusive ||
		    strcmp(other->exclusive, row->exclusive))
			continue;
		snprintf(what, sizeof(what), "not allowed with argument %s",
			 option_name(other, name));
		return wrong_argument(parser, row, what);
	}
	return 0;
}

/*
 * An option of bcc's that is given again replaces the value before, as scripts that add their own
 * expect, or adds to a list. One of ours is refused: without the file or the name that is dropped,
 * the report would answer another question.
 */
static bool is_given_again(const struct parser *parser, const struct option_row *row)
{
	return !row->bcc && (row->kind == OPTION_STRING || row->kind == OPTION_STRING_OR_NOT) &&
	       parser->is->given[option_number(parser->line, row)];
}

static int take(struct parser *parser, const struct option_row *row, const char *value)
{
	struct value_error why;
	void *field = NULL;
	int r;

	switch (row->kind) {
	case OPTION_HELP:
		parser->is->parsed = PARSED_HELP;
		break;
	case OPTION_VERSION:
		parser->is->parsed = PARSED_VERSION;
		break;
	case OPTION_MAN:
		parser->is->parsed = PARSED_MAN;
		break;
	case OPTION_COMPLETION:
		parser->is->parsed = PARSED_COMPLETION;
		break;
	case OPTION_COMPLETION_ZSH:
		parser->is->parsed = PARSED_COMPLETION_ZSH;
		break;
	case OPTION_COMPLETION_FISH:
		parser->is->parsed = PARSED_COMPLETION_FISH;
		break;
	default:
		if (row->field != OPTION_NO_FIELD)
			field = (char *)parser->target + row->field;
		if (is_given_again(parser, row))
			return wrong_argument(parser, row, "given twice, and only one can hold");
		r = value_store(row, value, field, &why);
		if (r == -EINVAL)
			return wrong_argument(parser, row, why.text);
		if (r)
			return out_of_memory(parser->err);
		r = check_exclusive(parser, row);
		parser->is->given[option_number(parser->line, row)] = true;
		return r;
	}
	parser->stopped = true;
	return 0;
}

/*
 * Walks the options of one argument, a cluster of letters or a single one, and takes them with
 * `apply`. Without it, only finds out whether they can be: argparse reports what is wrong with
 * the whole argument before it takes its first letter.
 */
static int walk(struct parser *parser, int index, struct option_match match, bool apply,
		int *ret_next)
{
	const char *value = NULL, *rest;
	struct option_match ignored;
	int r = 0;

	*ret_next = index + 1;
	while (!parser->stopped) {
		if (match.attached && !may_take_value(match.row)) {
			rest = match.attached;
			if (match.is_long || !*rest)
				return ignored_value(parser, match.row, rest);
			if (apply)
				r = take(parser, match.row, NULL);
			if (r)
				return r;
			value = NULL;
			if (!option_by_letter(parser->line, *rest))
				return ignored_value(parser, match.row, rest);
			match.row = option_by_letter(parser->line, *rest);
			match.attached = rest[1] ? rest + 1 : NULL;
			continue;
		}
		if (match.attached) {
			value = match.attached;
		} else if (takes_value(match.row)) {
			if (index + 1 >= parser->argc ||
			    option_match(parser->line, parser->argv[index + 1], &ignored,
					 parser->err) != ARGUMENT_VALUE)
				return wrong_argument(parser, match.row, "expected one argument");
			value = parser->argv[index + 1];
			*ret_next = index + 2;
		}
		r = apply ? take(parser, match.row, value) : 0;
		break;
	}
	if (parser->is->parsed == PARSED_HELP && !match.is_long && parser->line->brief)
		parser->is->parsed = PARSED_BRIEF;
	return r;
}

static int unrecognized(struct parser *parser, const char *argument)
{
	struct option_row row = { .kind = OPTION_STRINGS };

	if (value_store(&row, argument, &parser->unrecognized, NULL))
		return out_of_memory(parser->err);
	return 0;
}

/* Appends to a list of words that may be cut. */
static void join(char *text, size_t size, const char *separator, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? separator : "", word);
}

static int refuse_unrecognized(const struct parser *parser)
{
	char extras[800] = "";

	for (uint32_t i = 0; i < parser->unrecognized.n; i++)
		join(extras, sizeof(extras), " ", parser->unrecognized.strings[i]);
	return error_usage(parser->err, "unrecognized arguments: %s", extras);
}

/* An argument that does not fit may be the value of an unknown option; the error names that one. */
static int take_positional(struct parser *parser, const char *argument)
{
	for (size_t i = 0; i < option_count(parser->line); i++) {
		const struct option_row *row = option_at(parser->line, i);
		int r;

		if (!row->positional || parser->is->given[i])
			continue;
		r = take(parser, row, argument);
		return r < 0 && parser->unrecognized.n ? refuse_unrecognized(parser) : r;
	}
	return unrecognized(parser, argument);
}

static int take_all(struct parser *parser)
{
	struct option_match match;
	int class, next, r;

	for (int i = 0; i < parser->argc; i++) {
		class = option_match(parser->line, parser->argv[i], &match, parser->err);
		if (class < 0)
			return class;
	}
	for (int i = 0; i < parser->argc && !parser->stopped; i = next) {
		next = i + 1;
		if (option_match(parser->line, parser->argv[i], &match, parser->err) ==
		    ARGUMENT_VALUE)
			r = take_positional(parser, parser->argv[i]);
		else if (!match.row)
			r = unrecognized(parser, parser->argv[i]);
		else
			r = walk(parser, i, match, false, &next)
				    ?: walk(parser, i, match, true, &next);
		if (r)
			return r;
	}
	return 0;
}

static bool is_lifted(const struct parser *parser, const struct option_row *row)
{
	const char *word = row->unless;

	while (word && *word) {
		size_t size = strcspn(word, " ");
		const struct option_row *other = option_by_name(parser->line, word, size);

		if (other && parser->is->given[option_number(parser->line, other)])
			return true;
		word += size + (word[size] == ' ');
	}
	return false;
}

static int check_complete(const struct parser *parser)
{
	char names[500] = "", name[OPTION_NAME_SIZE];

	for (size_t i = 0; i < option_count(parser->line); i++) {
		const struct option_row *row = option_at(parser->line, i);

		if (row->required && !parser->is->given[i] && !is_lifted(parser, row))
			join(names, sizeof(names), ", ", option_name(row, name));
	}
	if (*names)
		return error_usage(parser->err, "the following arguments are required: %s", names);
	return parser->unrecognized.n ? refuse_unrecognized(parser) : 0;
}

/* Cuts off `--` and what follows. */
static int split_command(struct parser *parser)
{
	for (int i = 0; parser->line->takes_command && i < parser->argc; i++) {
		if (strcmp(parser->argv[i], "--"))
			continue;
		if (i + 1 < parser->argc)
			parser->is->command = parser->argv + i + 1;
		else
			return error_usage(parser->err, "expected a command after --");
		parser->argc = i;
	}
	return 0;
}

int options_parse(const struct command_line *line, int argc, char **argv, void *target,
		  struct options_parsed *ret_parsed, struct error *err)
{
	struct options_parsed parsed = { .parsed = PARSED_RUN };
	struct parser parser = { .line = line,
				 .argv = argv + (argc > 0),
				 .argc = argc > 0 ? argc - 1 : 0,
				 .target = target,
				 .is = &parsed,
				 .err = err };
	int r;

	if (option_count(line) > OPTIONS_MAX)
		return error_set(err, -E2BIG, "more than %d options", OPTIONS_MAX);
	r = split_command(&parser);
	if (!r)
		r = take_all(&parser);
	if (!r && !parser.stopped)
		r = check_complete(&parser);
	free(parser.unrecognized.strings);
	if (r)
		return r;
	*ret_parsed = parsed;
	return 0;
}

void options_clear(const struct command_line *line, void *target)
{
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);
		void *field;

		if (row->field == OPTION_NO_FIELD)
			continue;
		field = (char *)target + row->field;
		if (row->kind == OPTION_IDS || row->kind == OPTION_IDS_INT ||
		    row->kind == OPTION_CPUS) {
			free(((struct id_list *)field)->ids);
			*(struct id_list *)field = (struct id_list){ 0 };
		} else if (row->kind == OPTION_STRINGS) {
			free(((struct string_list *)field)->strings);
			*(struct string_list *)field = (struct string_list){ 0 };
		}
	}
}
