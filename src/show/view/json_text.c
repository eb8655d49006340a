// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/json_text.h"

#include "view/facts.h"

static bool is_special(char byte)
{
	return byte == '"' || byte == '\\' || byte == '<';
}

void json_string_n(struct bytes *bytes, const char *string, size_t size)
{
	const char *end = string + size;

	bytes_char(bytes, '"');
	while (string < end) {
		const char *plain = string;

		while (string < end && !is_special(*string))
			string++;
		bytes_name(bytes, plain, (size_t)(string - plain));
		if (string == end)
			break;
		if (*string == '<') {
			bytes_string(bytes, "\\u003c");
		} else {
			bytes_char(bytes, '\\');
			bytes_char(bytes, *string);
		}
		string++;
	}
	bytes_char(bytes, '"');
}

void json_key(struct bytes *bytes, const char *key)
{
	bytes_char(bytes, '"');
	bytes_string(bytes, key);
	bytes_string(bytes, "\":");
}

/* The object that is being written: all members but the first follow a comma. */
static void member(struct bytes *bytes, const char *key, bool first)
{
	if (!first)
		bytes_char(bytes, ',');
	json_key(bytes, key);
}

static void number(struct bytes *bytes, const char *key, uint64_t value)
{
	member(bytes, key, false);
	bytes_decimal(bytes, value);
}

static void string_or_null(struct bytes *bytes, const char *key, const char *string)
{
	member(bytes, key, false);
	if (string)
		json_string(bytes, string);
	else
		bytes_string(bytes, "null");
}

static void put_losses(struct bytes *bytes, const struct profile *profile)
{
	const struct tally_losses *losses = profile->losses;

	member(bytes, "losses", false);
	bytes_char(bytes, '{');
	member(bytes, "events", true);
	bytes_decimal(bytes, losses->events);
	number(bytes, "lost", tally_lost(losses));
	number(bytes, "ring_full", losses->lost_ring);
	number(bytes, "counts_full", losses->lost_counts);
	number(bytes, "memory_full", losses->lost_memory);
	number(bytes, "nested", losses->lost_nested);
	number(bytes, "missed_stack_samples", profile->missed_counts);
	number(bytes, "throttled", losses->throttled);
	number(bytes, "unsampled_ns", losses->unsampled);
	number(bytes, "unseen", losses->unseen);
	number(bytes, "due", losses->due);
	number(bytes, "never_came", tally_never_came(losses));
	number(bytes, "due_throttled", losses->due_throttled);
	number(bytes, "due_stolen", losses->due_stolen);
	number(bytes, "due_late", losses->due_late);
	if (profile->meta->timed) {
		number(bytes, "off_cpu_ns", losses->lost_time);
		number(bytes, "off_cpu_threads", losses->lost_threads);
		number(bytes, "off_cpu_returns", losses->lost_ends);
		number(bytes, "off_cpu_unwalked", losses->unwalked);
	}
	if (profile->meta->summed)
		number(bytes, "failed", losses->failed);
	if (profile->meta->summed || losses->unread)
		number(bytes, "unread", losses->unread);
	if (losses->unreturned)
		number(bytes, "calls_unreturned", losses->unreturned);
	if (losses->unentered)
		number(bytes, "calls_unentered", losses->unentered);
	if (losses->lost_calls)
		number(bytes, "calls_lost", losses->lost_calls);
	if (losses->unallocated)
		number(bytes, "blocks_unallocated", losses->unallocated);
	if (losses->lost_blocks)
		number(bytes, "blocks_lost", losses->lost_blocks);
	if (losses->lost_bytes)
		number(bytes, "block_bytes_lost", losses->lost_bytes);
	if (losses->replaced_blocks)
		number(bytes, "blocks_replaced", losses->replaced_blocks);
	if (losses->unmapped)
		number(bytes, "unmapped_unknown", losses->unmapped);
	if (losses->lost_values)
		number(bytes, "values_lost", losses->lost_values);
	bytes_char(bytes, '}');
}

static void put_tables(struct bytes *bytes, const struct profile_unwinding *is)
{
	member(bytes, "tables", true);
	bytes_decimal(bytes, is->tables);
	number(bytes, "rows", is->rows);
	number(bytes, "bytes", is->bytes);
	number(bytes, "compiled", is->compiled);
	number(bytes, "compile_ns", is->compile_ns);
	number(bytes, "cached", is->cached);
	number(bytes, "cached_ns", is->cached_ns);
	number(bytes, "waited", is->waited);
	number(bytes, "waited_completed", is->waited_completed);
}

/* One of the members of an object whose values are counts; those that are 0 are left out. */
static void put_count(struct bytes *bytes, const char **comma, const char *key, uint64_t count)
{
	if (count == 0)
		return;
	bytes_string(bytes, *comma);
	*comma = ",";
	json_key(bytes, key);
	bytes_decimal(bytes, count);
}

/* Samples of interpreted programs, and why functions of them are not known. */
static void put_programs(struct bytes *bytes, const struct ends *ends)
{
	const char *comma = "";

	number(bytes, "programs", ends->programs);
	member(bytes, "program_reasons", false);
	bytes_char(bytes, '{');
	for (uint32_t i = 0; i < SCRIPT_N_REASONS; i++)
		put_count(bytes, &comma, script_reason_name(i), ends->by_reason[i]);
	bytes_char(bytes, '}');
}

/* Samples by the reason why the walk of their user stack ended, and the most frequent functions. */
static void put_ends(struct bytes *bytes, const struct ends *ends)
{
	const char *comma = "";

	member(bytes, "user_stacks", false);
	bytes_char(bytes, '{');
	member(bytes, "samples", true);
	bytes_decimal(bytes, ends->samples);
	number(bytes, "complete", ends->complete);
	number(bytes, "assumed", ends->assumed);
	member(bytes, "ends", false);
	bytes_char(bytes, '{');
	for (int end = 0; end < TALLY_N_ENDS; end++)
		put_count(bytes, &comma, tally_end_name((enum tally_end)end), ends->by_end[end]);
	bytes_char(bytes, '}');
	if (ends->programs)
		put_programs(bytes, ends);
	member(bytes, "incomplete", false);
	bytes_char(bytes, '[');
	for (uint32_t i = 0; i < ends->n_top; i++) {
		const struct ends_place *place = &ends->top[i];

		bytes_string(bytes, i > 0 ? ",{" : "{");
		member(bytes, "count", true);
		bytes_decimal(bytes, place->count);
		string_or_null(bytes, "end", tally_end_name(place->end));
		string_or_null(bytes, "function", place->function);
		string_or_null(bytes, "module", place->module);
		bytes_char(bytes, '}');
	}
	bytes_string(bytes, "]}");
}

void json_measurement(struct bytes *bytes, const struct profile *profile)
{
	const struct profile_meta *meta = profile->meta;
	char time[FACTS_TIME_SIZE];

	bytes_char(bytes, '{');
	member(bytes, "command", true);
	json_string(bytes, meta->command ? meta->command : "");
	string_or_null(bytes, "command_line", meta->command_line);
	string_or_null(bytes, "host", meta->hostname);
	string_or_null(bytes, "kernel", meta->kernel_release);
	if (meta->start_time_ns)
		facts_time(meta->start_time_ns, time);
	string_or_null(bytes, "start_time", meta->start_time_ns ? time : NULL);
	number(bytes, "duration_ns", meta->duration_ns);
	string_or_null(bytes, "event", meta->event);
	number(bytes, "frequency", meta->frequency);
	number(bytes, "period", meta->period);
	number(bytes, "sample_ns", profile_sample_ns(meta));
	if (meta->timed)
		bytes_string(bytes, meta->wall ? ",\"wall\":true" : ",\"off_cpu\":true");
	if (meta->measure || meta->unit) {
		string_or_null(bytes, "measure", meta->measure);
		string_or_null(bytes, "unit", meta->unit);
	}
	number(bytes, "samples", profile->total);
	if (meta->summed)
		number(bytes, "events", profile->events);
	put_losses(bytes, profile);
	if (profile->ends.samples > 0)
		put_ends(bytes, &profile->ends);
	if (meta->unwinding.tables > 0) {
		member(bytes, "unwinding", false);
		bytes_char(bytes, '{');
		put_tables(bytes, &meta->unwinding);
		bytes_char(bytes, '}');
	}
	bytes_char(bytes, '}');
}
