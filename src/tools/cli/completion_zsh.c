// SPDX-License-Identifier: GPL-2.0-or-later
/* The completion for zsh: an autoloaded function, which leaves the work to _arguments. */
#include "cli/completion_words.h"

static const char head_text[] =
	"local -a comms events pids=(/proc/<->(:t))\n"
	"local at=${words[(i)--]} directory\n"
	"if (( at < CURRENT )); then # the command that is measured\n"
	"\twords=(\"${(@)words[at+1,-1]}\")\n"
	"\t(( CURRENT -= at ))\n"
	"\t_normal\n"
	"\treturn\n"
	"fi\n"
	"for directory in /sys/kernel/tracing /sys/kernel/debug/tracing; do\n"
	"\t[[ $PREFIX == t:* && -r $directory/available_events ]] || continue\n"
	"\tevents=(t:${^${(f)\"$(<$directory/available_events)\"}})\n"
	"\tbreak\n"
	"done\n"
	"comms=(${(fu)\"$(cat /proc/[0-9]*/comm 2> /dev/null)\"})\n";

/* ":PID:_pids", the name of the value and what completes it. */
static void put_action(const struct option_row *row, FILE *out)
{
	fprintf(out, ":%s:", row->metavar ? row->metavar : row->name);
	if (completion_has_words(row))
		fprintf(out, "(%s)", row->completes);
	else if (completion_is(row, "pid"))
		fputs("compadd -a pids", out);
	else if (completion_is(row, "comm"))
		fputs("compadd -a comms", out);
	else if (completion_is(row, "file"))
		fputs("_files", out);
	else if (completion_is(row, "dir"))
		fputs("_files -/", out);
	else if (completion_is(row, "tracepoint"))
		fputs("compadd -a events", out);
	else
		fputc(' ', out);
}

static void put_spelling(const struct option_row *row, bool by_letter, FILE *out)
{
	char says[COMPLETION_SAYS_SIZE];
	bool value = completion_has_value(row);

	fputs("\t'*", out);
	if (by_letter)
		fprintf(out, "-%c%s", row->letter, value ? "+" : "");
	else
		fprintf(out, "--%s%s", row->name, value ? "=" : "");
	fprintf(out, "[%s]", completion_says(row, says));
	if (value)
		put_action(row, out);
	fputs("' \\\n", out);
}

void options_completion_zsh(const struct command_line *line, FILE *out)
{
	const struct option_row *positional = completion_positional(line);

	fprintf(out,
		"#compdef %s\n"
		"# zsh completion for %s; generated from the table of options\n",
		line->program, line->program);
	fputs(head_text, out);
	fputs("_arguments -s \\\n", out);
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (row->positional || row->hidden)
			continue;
		if (row->letter)
			put_spelling(row, true, out);
		put_spelling(row, false, out);
	}
	fputs("\t'::", out);
	if (positional) {
		fputs(positional->name, out);
		fputc(':', out);
		fputs(completion_is(positional, "tracepoint") ? "compadd -a events" : " ", out);
	}
	fputs("'\n", out);
}
