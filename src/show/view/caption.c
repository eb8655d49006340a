// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/caption.h"

#include <string.h>
#include <time.h>

#include "view/facts.h"
#include "view/markup.h"
#include "view/quantity.h"

/* Bytes of the command line in a title. */
#define MAX_COMMAND 80

/* The command line, which tells what was measured of which processes, without a directory. */
static void put_command(struct bytes *bytes, const char *line)
{
	const char *end = line + strcspn(line, " "), *start = end;
	size_t size;

	while (start > line && start[-1] != '/')
		start--;
	size = strlen(start);
	if (size <= MAX_COMMAND) {
		bytes_put(bytes, start, size);
		return;
	}
	/* Not within a character. */
	for (size = MAX_COMMAND; size > 0 && ((unsigned char)start[size] & 0xc0) == 0x80;)
		size--;
	bytes_put(bytes, start, size);
	bytes_string(bytes, "\xe2\x80\xa6");
}

void caption_title(struct bytes *bytes, const struct profile *profile)
{
	const struct profile_meta *meta = profile->meta;

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
