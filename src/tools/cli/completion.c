// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The completion for bash, which needs no other package. Bash splits words at `:` and `=`, so the
 * word before the cursor is taken from COMP_LINE, and the part that bash regards as finished is
 * removed from the candidates.
 */
#include <string.h>

#include "cli/options.h"

/* Fills `all` with the words of a kind. */
static const char values_text[] =
	"\t-)\n"
	"\t\treturn\n"
	"\t\t;;\n"
	"\tpid)\n"
	"\t\tfor word in /proc/[0-9]*; do all+=(\"$list${word##*/}\"); done\n"
	"\t\t;;\n"
	"\ttid)\n"
	"\t\tfor word in /proc/[0-9]*/task/[0-9]*; do all+=(\"$list${word##*/}\"); done\n"
	"\t\t;;\n"
	"\tcomm)\n"
	/* A process chooses its name, and may choose one that a shell would run. */
	"\t\twhile IFS= read -r word; do\n"
	"\t\t\tprintf -v word %q \"$word\"\n"
	"\t\t\tall+=(\"$word\")\n"
	"\t\tdone < <(cat /proc/[0-9]*/comm 2> /dev/null | sort -u)\n"
	"\t\t;;\n"
	"\tfile)\n"
	"\t\tcompopt -o filenames 2> /dev/null\n"
	"\t\tmapfile -t all < <(compgen -f -- \"$value\")\n"
	"\t\t;;\n"
	"\tdir)\n"
	"\t\tcompopt -o filenames 2> /dev/null\n"
	"\t\tmapfile -t all < <(compgen -d -- \"$value\")\n"
	"\t\t;;\n"
	"\ttracepoint)\n"
	"\t\tif [[ $value == t:* ]]; then\n"
	"\t\t\tfor word in /sys/kernel/tracing /sys/kernel/debug/tracing; do\n"
	"\t\t\t\t[[ -r $word/available_events ]] || continue\n"
	"\t\t\t\tmapfile -t all < \"$word/available_events\"\n"
	"\t\t\t\tall=(\"${all[@]/#/t:}\")\n"
	"\t\t\t\tbreak\n"
	"\t\t\tdone\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\t*)\n"
	"\t\tread -r -a all <<< \"$kind\"\n"
	"\t\t;;\n"
	"\tesac\n";

/* Keeps the words that begin with the value, without the part that bash regards as finished. */
static const char reply_text[] = "\tfor word in \"${all[@]}\"; do\n"
				 "\t\t[[ $word == \"$value\"* ]] && COMPREPLY+=(\"$word\")\n"
				 "\tdone\n"
				 "\tif [[ $value == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
				 "\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"${value%:*}:\"}\")\n"
				 "\tfi\n"
				 "\tif [[ $before && $COMP_WORDBREAKS != *=* ]]; then\n"
				 "\t\tCOMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
				 "\tfi\n";

static void put_pattern(const struct option_row *row, FILE *out)
{
	if (row->letter)
		fprintf(out, "-%c | ", row->letter);
	fprintf(out, "--%s", row->name);
}

static bool is_value(const struct option_row *row)
{
	return !row->positional && !row->hidden && row->metavar &&
	       row->kind != OPTION_STRING_OR_NOT;
}

/* Sets `kind` to the kind of $option's value, to - if it may be any text. */
static void put_kinds(const struct command_line *line, FILE *out)
{
	fputs("\tcase $option in\n", out);
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (!is_value(row))
			continue;
		fputc('\t', out);
		put_pattern(row, out);
		fprintf(out, ") kind='%s' ;;\n", row->completes ? row->completes : "-");
	}
	fputs("\tesac\n", out);
}

static void put_options(const struct command_line *line, FILE *out)
{
	fputs("\t\tall=(\n", out);
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional || row->hidden)
			continue;
		fputs("\t\t\t", out);
		if (row->letter)
			fprintf(out, "-%c ", row->letter);
		fprintf(out, "--%s\n", row->name);
	}
	fputs("\t\t)\n\t\t;;\n", out);
}

static const char *positional_kind(const struct command_line *line)
{
	for (size_t i = 0; i < option_count(line); i++)
		if (option_at(line, i)->positional)
			return option_at(line, i)->completes ? option_at(line, i)->completes : "-";
	return "-";
}

static void put_command(FILE *out)
{
	fputs("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\t[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
	      "\t\tif ((i + 1 == COMP_CWORD)); then\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$value\")\n"
	      "\t\telse\n"
	      "\t\t\tcompopt -o filenames 2> /dev/null\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$value\")\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tdone\n",
	      out);
}

void options_completion(const struct command_line *line, FILE *out)
{
	fprintf(out,
		"# bash completion for %s; generated from the table of options\n"
		"_stacktally_%s()\n"
		"{\n"
		"\tlocal typed=${COMP_LINE:0:COMP_POINT} option='' kind='' before='' list='' word "
		"i\n"
		"\tlocal value=${typed##*[[:space:]]}\n"
		"\tlocal -a all=() words=()\n"
		"\n"
		"\tCOMPREPLY=()\n",
		line->program, line->program);
	if (line->takes_command)
		put_command(out);
	fputs("\n"
	      "\tread -r -a words <<< \"${typed%\"$value\"}\"\n"
	      "\tif [[ $value == --*=* ]]; then\n"
	      "\t\toption=${value%%=*}\n"
	      "\t\tbefore=$option=\n"
	      "\t\tvalue=${value#*=}\n"
	      "\telif ((${#words[@]} > 1)); then\n"
	      "\t\toption=${words[-1]}\n"
	      "\tfi\n",
	      out);
	put_kinds(line, out);
	fprintf(out,
		"\tif [[ ! $kind && $value == -* ]]; then\n"
		"\t\tkind=option\n"
		"\telif [[ ! $kind ]]; then\n"
		"\t\tkind='%s'\n"
		"\tfi\n"
		"\n"
		"\t[[ $kind == [pt]id && $value == *,* ]] && list=${value%%,*},\n"
		"\tcase $kind in\n"
		"\toption)\n",
		positional_kind(line));
	put_options(line, out);
	fputs(values_text, out);
	fputs(reply_text, out);
	fprintf(out, "}\ncomplete -F _stacktally_%s %s\n", line->program, line->program);
}
