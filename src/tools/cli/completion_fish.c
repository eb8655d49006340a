// SPDX-License-Identifier: GPL-2.0-or-later
/* The completion for fish: a line for each option. */
#include "cli/completion_words.h"

static void put_value(const struct option_row *row, FILE *out)
{
	if (completion_is(row, "file"))
		fputs(" -r -F", out);
	else if (completion_is(row, "dir"))
		fputs(" -x -a '(__fish_complete_directories)'", out);
	else if (completion_has_words(row))
		fprintf(out, " -x -a '%s'", row->completes);
	else if (completion_is(row, "pid"))
		fputs(" -x -a '(__fish_complete_pids)'", out);
	else if (completion_is(row, "comm"))
		fputs(" -x -a '(cat /proc/[0-9]*/comm 2>/dev/null | sort -u)'", out);
	else if (completion_is(row, "tracepoint"))
		fputs(" -x -a '(__stacktally_events)'", out);
	else
		fputs(" -x", out);
}

static void put_option(const struct command_line *line, const struct option_row *row, FILE *out)
{
	char says[COMPLETION_SAYS_SIZE];

	fprintf(out, "complete -c %s -n 'not __stacktally_has_command'", line->program);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	fprintf(out, " -l %s", row->name);
	if (completion_has_value(row))
		put_value(row, out);
	fprintf(out, " -d '%s'\n", completion_says(row, says));
}

static void put_command(const struct command_line *line, FILE *out)
{
	fputs("function __stacktally_has_command\n"
	      "    contains -- -- (commandline -opc)\n"
	      "end\n"
	      "function __stacktally_complete_command\n"
	      "    set -l words (commandline -opc)\n"
	      "    set -e words[1..(contains -i -- -- $words)]\n"
	      "    complete -C (string join ' ' -- $words (commandline -ct))\n"
	      "end\n",
	      out);
	fprintf(out,
		"complete -c %s -n __stacktally_has_command -x "
		"-a '(__stacktally_complete_command)'\n",
		line->program);
}

void options_completion_fish(const struct command_line *line, FILE *out)
{
	const struct option_row *positional = completion_positional(line);

	fprintf(out, "# fish completion for %s; generated from the table of options\n",
		line->program);
	fprintf(out, "complete -c %s -f\n", line->program);
	put_command(line, out);
	if (positional && completion_is(positional, "tracepoint"))
		fprintf(out,
			"function __stacktally_events\n"
			"    for directory in /sys/kernel/tracing /sys/kernel/debug/tracing\n"
			"        test -r $directory/available_events; or continue\n"
			"        string replace -r '^' t: <$directory/available_events\n"
			"        break\n"
			"    end\n"
			"end\n"
			"complete -c %s -n 'not __stacktally_has_command' -a "
			"'(__stacktally_events)'\n",
			line->program);
	for (size_t i = 0; i < option_count(line); i++) {
		const struct option_row *row = option_at(line, i);

		if (!row->positional && !row->hidden)
			put_option(line, row, out);
	}
}
