// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/caption.h"

#include <string.h>
#include <time.h>

#include "view/facts.h"
#include "view/markup.h"
#include "view/quantity.h"

/* Bytes of the command line in a title. */
#define MAX_COMMAND 80

/* The end of a word of a command line, in which a shell's quotes hide blanks. */
static const char *word_end(const char *word)
{
	char quote = 0;

	for (; *word && (quote || *word != ' '); word++)
		if (*word == '\'')
			quote ^= *word;
		else if (*word == '\\' && !quote && word[1])
			word++;
	return word;
}

/* How many words the option has that only says where a report goes; 0: it is another word. */
static int words_of_output(const char *word, size_t size)
{
	static const struct {
		const char *name;
		int words;
	} outputs[] = { { "-q", 1 }, { "--quiet", 1 }, { "-o", 2 }, { "--output", 2 } };

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (size == strlen(outputs[i].name) && memcmp(word, outputs[i].name, size) == 0)
			return outputs[i].words;
	return size > 9 && memcmp(word, "--output=", 9) == 0;
}

/*
 * The command line, which tells what was measured of which processes: without a directory, and
 * without the files that were written.
 */
static void put_words(struct bytes *bytes, const char *line)
{
	const char *end = word_end(line), *at;
	bool ours = true; /* not of a command behind "--" */
	int skip = 0;

	for (at = end; at > line && at[-1] != '/';)
		at--;
	bytes_put(bytes, at, (size_t)(end - at));
	for (at = end; *at == ' '; at = end) {
		size_t size;

		end = word_end(++at);
		size = (size_t)(end - at);
		ours = ours && !(size == 2 && memcmp(at, "--", 2) == 0);
		if (ours && !skip)
			skip = words_of_output(at, size);
		if (skip) {
			skip--;
			continue;
		}
		bytes_char(bytes, ' ');
		bytes_put(bytes, at, size);
	}
}

static void put_command(struct bytes *bytes, const char *line)
{
	struct bytes words;
	size_t size = MAX_COMMAND;

	bytes_start(&words, NULL);
	put_words(&words, line);
	/* Not within a character. */
	while (words.used > MAX_COMMAND && size > 0 &&
	       ((unsigned char)words.start[size] & 0xc0) == 0x80)
		size--;
	bytes_put(bytes, words.start, words.used > MAX_COMMAND ? size : words.used);
	if (words.used > MAX_COMMAND)
		bytes_string(bytes, "\xe2\x80\xa6");
	if (words.failed)
		bytes->failed = words.failed;
	bytes_clear(&words);
}

void caption_title(struct bytes *bytes, const struct profile *profile)
{
	const struct profile_meta *meta = profile->meta;

	if (profile->caption) {
		bytes_name(bytes, profile->caption, strlen(profile->caption));
		return;
	}
	if (profile->base)
		bytes_string(bytes, "Difference: ");
	if (meta->command_line || meta->command)
		put_command(bytes, meta->command_line ? meta->command_line : meta->command);
	else
		bytes_string(bytes, "Flame graph");
	if (!meta->event)
		return;
	bytes_string(bytes, " \xc2\xb7 ");
	bytes_string(bytes, meta->event);
	if (meta->frequency) {
		bytes_string(bytes, " at ");
		bytes_decimal(bytes, meta->frequency);
		bytes_string(bytes, " Hz");
	} else if (meta->period > 1) {
		bytes_string(bytes, ", one in ");
		markup_count(bytes, meta->period);
	}
}

static void put_part(struct bytes *bytes, const char *part)
{
	if (!part || !*part)
		return;
	bytes_string(bytes, part);
	bytes_string(bytes, " \xc2\xb7 ");
}

void caption_subtitle(struct bytes *bytes, const struct profile *profile)
{
	const struct profile_meta *meta = profile->meta;
	uint64_t lost = tally_lost(profile->losses);
	time_t start = (time_t)(meta->start_time_ns / 1000000000u);
	char text[64];
	struct tm utc;

	put_part(bytes, meta->hostname);
	put_part(bytes, meta->kernel_release);
	if (meta->start_time_ns && gmtime_r(&start, &utc)) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
		put_part(bytes, text);
	}
	if (meta->duration_ns) {
		snprintf(text, sizeof(text), "%.1f s", (double)meta->duration_ns / 1e9);
		put_part(bytes, text);
	}
	quantity_put(bytes, meta, profile->total);
	quantity_put_of(bytes, meta);
	quantity_put_events(bytes, meta, profile->events, true);
	if (profile->base) {
		bytes_string(bytes, ", compared with ");
		quantity_put_bare(bytes, profile->base->meta, profile->base->total);
		if (profile->base->meta->duration_ns) {
			snprintf(text, sizeof(text), " in %.1f s",
				 (double)profile->base->meta->duration_ns / 1e9);
			bytes_string(bytes, text);
		}
	}
	if (lost) {
		bytes_string(bytes, ", ");
		markup_count(bytes, lost);
		bytes_string(bytes, " lost");
	}
}

void caption_end_title(char *title)
{
	static const char hint[] = "... Hit Ctrl-C to end.";
	size_t size = strlen(title), cut = sizeof(hint) - 1;

	if (size >= cut && strcmp(title + size - cut, hint) == 0)
		memcpy(title + size - cut, ".", sizeof("."));
}
