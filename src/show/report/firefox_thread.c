// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "report/firefox_internal.h"
#include "view/json_text.h"
#include "view/quantity.h"

/* The stack of each entry of the group, in tables of its thread. */
static int make_stacks(struct firefox *firefox, const struct entry_group *group)
{
	int r = 0;

	firefox_tables_reset(&firefox->tables);
	for (uint32_t i = 0; r == 0 && i < group->n; i++) {
		uint32_t entry = firefox->groups.order[group->first + i];
		uint32_t n = stack_list(firefox->profile, &firefox->profile->entries[entry],
					firefox->list);

		r = firefox_tables_add(&firefox->tables, firefox->list, n,
				       &firefox->stack_of[entry]);
	}
	return r;
}

static void put_number(struct bytes *bytes, const char *key, uint64_t value)
{
	bytes_char(bytes, ',');
	json_key(bytes, key);
	bytes_decimal(bytes, value);
}

/* Names and ids. The first thread of a process has the number of the process. */
static void put_identity(struct firefox *firefox, const struct tally_entry *who)
{
	struct bytes *bytes = &firefox->bytes;
	bool is_main = who->tid == 0 || who->tid == who->tgid;
	size_t size = strnlen(who->comm, sizeof(who->comm));

	bytes_string(bytes, "{\"processType\":\"default\",\"processName\":");
	json_string_n(bytes, who->comm, size);
	bytes_string(bytes, ",\"name\":");
	json_string_n(bytes, who->comm, size);
	bytes_string(bytes, ",\"isMainThread\":");
	bytes_string(bytes, is_main ? "true" : "false");
	bytes_string(bytes, ",\"pid\":\"");
	bytes_decimal(bytes, who->tgid);
	bytes_char(bytes, '"');
	put_number(bytes, "tid", who->tid ? who->tid : who->tgid);
	bytes_string(bytes, ",\"processStartupTime\":0,\"processShutdownTime\":null,"
			    "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
			    "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
			    "\"phase\":[],\"category\":[],\"length\":0}");
}

/* The reader knows three. */
static const char *weight_type(const struct profile_meta *meta)
{
	return quantity_is_time(meta)			   ? "tracing-ms"
	       : strcmp(quantity_unit(meta), "bytes") == 0 ? "bytes"
							   : "samples";
}

/* Each record weighs so many samples, or bytes, or ms of time. */
static void put_weights(struct firefox *firefox, uint32_t n)
{
	bool timed = quantity_is_time(firefox->profile->meta);
	struct bytes *bytes = &firefox->bytes;
	char weight[32];

	bytes_string(bytes, "],\"weightType\":\"");
	bytes_string(bytes, weight_type(firefox->profile->meta));
	bytes_string(bytes, "\",\"weight\":[");
	snprintf(weight, sizeof(weight), "%.9g",
		 timed ? (double)firefox->samples.each / 1e6 : (double)firefox->samples.each);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_string(bytes, weight);
	}
	bytes_char(bytes, ']');
}

static void put_samples(struct firefox *firefox, uint32_t first)
{
	struct bytes *bytes = &firefox->bytes;
	uint32_t n = 0;

	bytes_string(bytes, ",\n\"samples\":{\"stack\":[");
	for (uint32_t i = first; i != UINT32_MAX; i = firefox->next_of[i]) {
		if (n++ > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, firefox->stack_of[firefox->records[i].entry]);
	}
	bytes_string(bytes, "],\"time\":[");
	for (uint32_t i = first; i != UINT32_MAX; i = firefox->next_of[i]) {
		char ms[64];

		snprintf(ms, sizeof(ms), i == first ? "%.3f" : ",%.3f",
			 firefox->records[i].at * 1e3);
		bytes_string(bytes, ms);
	}
	put_weights(firefox, n);
	put_number(bytes, "length", n);
	bytes_char(bytes, '}');
}

int firefox_put_thread(struct firefox *firefox, uint32_t group)
{
	const struct entry_group *of = &firefox->groups.list[group];
	int r = make_stacks(firefox, of);

	if (r < 0)
		return r;
	put_identity(firefox, of->heaviest);
	put_samples(firefox, firefox->first_of[group]);
	firefox_tables_put(&firefox->tables, &firefox->bytes);
	bytes_char(&firefox->bytes, '}');
	return firefox->bytes.failed;
}
