// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/quantity.h"

#include <stdio.h>
#include <string.h>

#include "base/duration.h"

#define NS_IN_US 1000u

bool quantity_is_time(const struct profile_meta *meta)
{
	return meta->timed || (meta->unit && strcmp(meta->unit, "nanoseconds") == 0);
}

/* Whether a word of another program needs no escape in any format. */
static bool is_word(const char *text)
{
	return text && *text &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_-./ ")] == '\0';
}

const char *quantity_unit(const struct profile_meta *meta)
{
	bool counted = !meta->unit || strcmp(meta->unit, "count") == 0;

	if (quantity_is_time(meta))
		return "ns";
	if (meta->measure || meta->unit)
		return is_word(counted ? meta->measure : meta->unit)
			       ? (counted ? meta->measure : meta->unit)
		       : meta->summed ? "sum"
				      : "counts";
	return meta->command && strcmp(meta->command, "stackcount") == 0 ? "events" : "samples";
}

const char *quantity_measure(const struct profile_meta *meta)
{
	bool counted = !meta->unit || strcmp(meta->unit, "count") == 0;

	return !counted && is_word(meta->measure) ? meta->measure : NULL;
}

const char *quantity_time_of(const struct profile_meta *meta)
{
	return meta->wall ? "on and off the CPU" : "off the CPU";
}

/* Whether text has microseconds of what we have measured. Others' numbers stay as they are. */
static bool has_microseconds(const struct profile_meta *meta)
{
	return meta->timed || (meta->summed && quantity_is_time(meta));
}

uint64_t quantity_number(const struct profile_meta *meta, uint64_t count)
{
	return has_microseconds(meta) ? count / NS_IN_US + (count % NS_IN_US >= NS_IN_US / 2)
				      : count;
}

uint64_t quantity_event_number(const struct profile_meta *meta, uint64_t events)
{
	return meta->summed ? events : quantity_number(meta, events);
}

const char *quantity_number_unit(const struct profile_meta *meta)
{
	return has_microseconds(meta) ? "us" : quantity_unit(meta);
}

static void grouped(uint64_t count, char ret_text[QUANTITY_SIZE])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = ret_text;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
}

static void bare_text(const struct profile_meta *meta, uint64_t count, char ret_text[QUANTITY_SIZE])
{
	if (quantity_is_time(meta))
		duration_text(count, ret_text, QUANTITY_SIZE);
	else
		grouped(count, ret_text);
}

/* Without the plural's s where it is one. */
static size_t unit_size(const char *unit, uint64_t count)
{
	size_t n = strlen(unit);

	return count == 1 && n > 1 && unit[n - 1] == 's' ? n - 1 : n;
}

void quantity_put_unit(struct bytes *bytes, const struct profile_meta *meta, uint64_t count)
{
	const char *unit = quantity_unit(meta);

	bytes_put(bytes, unit, unit_size(unit, count));
}

void quantity_text(const struct profile_meta *meta, uint64_t count, char ret_text[QUANTITY_SIZE])
{
	const char *unit = quantity_unit(meta);
	size_t used;

	bare_text(meta, count, ret_text);
	used = strlen(ret_text);
	if (!quantity_is_time(meta))
		snprintf(ret_text + used, QUANTITY_SIZE - used, " %.*s",
			 (int)unit_size(unit, count), unit);
}

void quantity_put(struct bytes *bytes, const struct profile_meta *meta, uint64_t count)
{
	char text[QUANTITY_SIZE];

	quantity_text(meta, count, text);
	bytes_string(bytes, text);
}

static bool measures(const struct profile_meta *meta, const char *measure, const char *unit)
{
	return meta->summed && meta->measure && meta->unit && strcmp(meta->measure, measure) == 0 &&
	       strcmp(meta->unit, unit) == 0;
}

static bool is_outstanding(const struct profile_meta *meta)
{
	return measures(meta, "outstanding", "bytes");
}

static bool is_time_of_calls(const struct profile_meta *meta)
{
	return measures(meta, "time", "nanoseconds");
}

const char *quantity_events(const struct profile_meta *meta)
{
	return is_outstanding(meta) ? "blocks" : is_time_of_calls(meta) ? "calls" : "events";
}

const char *quantity_awaited(const struct profile_meta *meta)
{
	if (meta->summed)
		return quantity_events(meta);
	return quantity_is_time(meta) ? "absences" : quantity_unit(meta);
}

void quantity_put_of(struct bytes *bytes, const struct profile_meta *meta)
{
	const char *measure = quantity_measure(meta);

	if (is_outstanding(meta)) {
		bytes_string(bytes, " outstanding");
	} else if (meta->timed) {
		bytes_char(bytes, ' ');
		bytes_string(bytes, quantity_time_of(meta));
	} else if (measure && !is_time_of_calls(meta)) {
		bytes_string(bytes, " of ");
		bytes_string(bytes, measure);
	}
}

void quantity_put_events(struct bytes *bytes, const struct profile_meta *meta, uint64_t events,
			 bool in_groups)
{
	const char *name = quantity_events(meta);
	char text[QUANTITY_SIZE];

	if (!meta->summed)
		return;
	bytes_string(bytes, strcmp(name, "blocks") == 0 ? " in " : " of ");
	if (in_groups) {
		grouped(events, text);
		bytes_string(bytes, text);
	} else {
		bytes_decimal(bytes, events);
	}
	bytes_char(bytes, ' ');
	bytes_put(bytes, name, strlen(name) - (events == 1));
}

void quantity_put_bare(struct bytes *bytes, const struct profile_meta *meta, uint64_t count)
{
	char text[QUANTITY_SIZE];

	bare_text(meta, count, text);
	bytes_string(bytes, text);
}
