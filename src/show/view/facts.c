// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/own.h"
#include "view/quantity.h"

void facts_time(uint64_t time_ns, char ret_text[FACTS_TIME_SIZE])
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm utc;
	size_t at;

	gmtime_r(&seconds, &utc);
	at = strftime(ret_text, FACTS_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(ret_text + at, FACTS_TIME_SIZE - at, ".%09" PRIu64 "Z", time_ns % NS_PER_SECOND);
}

/* Bytes of a name that a fact shows: names are untrusted and may be long. */
#define MAX_NAME    100
#define LOSSES_SIZE 600

static void tell_ends(const struct profile_meta *meta, const struct ends *ends,
		      void (*tell)(void *context, const char *name, const char *text),
		      void *context)
{
	char text[2 * MAX_NAME + 100];
	int used;

	if (ends->samples == 0)
		return;
	used = snprintf(text, sizeof(text), "%" PRIu64 "%s, %.2f %% complete",
			quantity_event_number(meta, ends->samples), meta->timed ? " us" : "",
			100.0 * (double)ends->complete / (double)ends->samples);
	if (ends->assumed)
		snprintf(text + used, sizeof(text) - (size_t)used,
			 "; in %" PRIu64 " a register was taken to be unchanged by a function "
			 "called",
			 quantity_event_number(meta, ends->assumed));
	tell(context, "user stacks", text);
	for (uint32_t i = 0; i < ends->n_top; i++) {
		const struct ends_place *place = &ends->top[i];

		snprintf(text, sizeof(text), "%" PRIu64 " for %s, in %.*s of %.*s",
			 quantity_event_number(meta, place->count), tally_end_name(place->end),
			 MAX_NAME, place->function ? place->function : "[unknown]", MAX_NAME,
			 place->module ? place->module : "[unknown]");
		tell(context, "incomplete", text);
	}
}

static void tell_unwinding(const struct profile_unwinding *is,
			   void (*tell)(void *context, const char *name, const char *text),
			   void *context)
{
	char text[200];

	if (is->tables == 0)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " tables, %" PRIu64 " rows, %" PRIu64 " bytes; %" PRIu64
		 " compiled in %.1f ms, %" PRIu64 " from disk in %.1f ms; %" PRIu64
		 " stacks finished in user space, %" PRIu64 " of them completed",
		 is->tables, is->rows, is->bytes, is->compiled, (double)is->compile_ns / 1e6,
		 is->cached, (double)is->cached_ns / 1e6, is->waited, is->waited_completed);
	tell(context, "unwinding", text);
}

static void put_loss(char text[static LOSSES_SIZE], uint64_t n, const char *before,
		     const char *after)
{
	size_t used = strlen(text);

	if (n)
		snprintf(text + used, LOSSES_SIZE - used, "%s%s%" PRIu64 "%s", used ? ", " : "",
			 before, n, after);
}

/* Only what was lost is told. */
static void tell_losses(const struct profile *profile,
			void (*tell)(void *context, const char *name, const char *text),
			void *context)
{
	const struct tally_losses *losses = profile->losses;
	char text[LOSSES_SIZE] = "";

	put_loss(text, tally_lost(losses), "", " in all");
	put_loss(text, losses->lost_ring, "ring full ", "");
	put_loss(text, losses->lost_counts, "counts full ", "");
	put_loss(text, losses->lost_memory, "memory full ", "");
	put_loss(text, losses->lost_nested, "nested ", "");
	put_loss(text, profile->missed_counts, "stacks missed in ", "");
	put_loss(text, losses->throttled, "throttled ", " times");
	put_loss(text, losses->unsampled, "CPUs that came online ", " ns");
	put_loss(text, losses->unseen, "not seen ", " of any process");
	put_loss(text, losses->lost_time, "time ", " ns");
	put_loss(text, losses->lost_threads, "threads not followed ", " times");
	put_loss(text, losses->lost_ends, "returns to a CPU seen late ", "");
	put_loss(text, losses->failed, "values below 0: ", "");
	put_loss(text, losses->unread, "values not read: ", "");
	put_loss(text, losses->lost_values, "values lost: ", "");
	put_loss(text, losses->unreturned, "calls that did not return: ", "");
	put_loss(text, losses->unentered, "returns of calls that began before: ", "");
	put_loss(text, losses->lost_calls, "calls lost: ", "");
	put_loss(text, losses->unallocated, "blocks freed that were not seen before: ", "");
	put_loss(text, losses->replaced_blocks,
		 "blocks allocated again before they were freed: ", "");
	put_loss(text, losses->unmapped, "pages of no known mapping unmapped: ", " times");
	put_loss(text, losses->lost_blocks, "blocks lost: ", "");
	put_loss(text, losses->lost_bytes, "", " bytes of blocks lost");
	tell(context, "lost", *text ? text : "nothing");
	if (tally_never_came(losses)) {
		*text = '\0';
		put_loss(text, tally_never_came(losses), "", " samples that were due");
		tell(context, "never came", text);
	}
	if (losses->unwalked) {
		*text = '\0';
		put_loss(text, losses->unwalked, "", " switches, which others stand for");
		tell(context, "not walked", text);
	}
}

/* What is left out of the stacks, and how much of the whole that is. */
static void tell_left_out(const struct profile *profile,
			  void (*tell)(void *context, const char *name, const char *text),
			  void *context)
{
	own(bytes_clear) struct bytes text = { 0 };
	char counts[QUANTITY_SIZE];

	bytes_start(&text, NULL);
	frame_filter_text(profile->filter, &text);
	if (text.used && profile->left_out) {
		quantity_text(profile->meta, profile->left_out, counts);
		bytes_string(&text, "; left out: ");
		bytes_string(&text, counts);
	}
	bytes_char(&text, '\0');
	if (!text.failed && text.used > 1)
		tell(context, "shown", text.start);
}

/* What a difference is to: "slow.stacktally, 483 samples in 10.0 s, 2026-11-27T01:10:28Z on vm:
 * profile 10" */
static void tell_base(const struct profile *profile,
		      void (*tell)(void *context, const char *name, const char *text),
		      void *context)
{
	const struct profile_meta *meta = profile->base->meta;
	own(bytes_clear) struct bytes line = { 0 };
	char text[FACTS_TIME_SIZE];

	if (profile->base_name) {
		bytes_name(&line, profile->base_name, strlen(profile->base_name));
		bytes_string(&line, ", ");
	}
	quantity_put(&line, meta, profile->base->total);
	if (meta->duration_ns) {
		snprintf(text, sizeof(text), " in %.1f s",
			 (double)meta->duration_ns / NS_PER_SECOND);
		bytes_string(&line, text);
	}
	if (meta->start_time_ns) {
		facts_time(meta->start_time_ns, text);
		text[19] = '\0'; /* without the parts of a second */
		bytes_string(&line, ", ");
		bytes_string(&line, text);
		bytes_char(&line, 'Z');
	}
	if (meta->hostname) {
		bytes_string(&line, " on ");
		bytes_name(&line, meta->hostname, strlen(meta->hostname));
	}
	if (meta->command_line) {
		bytes_string(&line, ": ");
		bytes_name(&line, meta->command_line, strlen(meta->command_line));
	}
	bytes_char(&line, '\0');
	if (!line.failed)
		tell(context, "compared with", line.start);
}

void facts_each(const struct profile *profile,
		void (*tell)(void *context, const char *name, const char *text), void *context)
{
	const struct profile_meta *meta = profile->meta;
	char text[300];

	if (meta->command_line || meta->command)
		tell(context, "command line",
		     meta->command_line ? meta->command_line : meta->command);
	if (meta->hostname)
		tell(context, "host", meta->hostname);
	if (meta->kernel_release)
		tell(context, "kernel", meta->kernel_release);
	if (meta->start_time_ns) {
		facts_time(meta->start_time_ns, text);
		tell(context, "time", text);
	}
	if (meta->duration_ns) {
		snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 " s",
			 meta->duration_ns / NS_PER_SECOND,
			 meta->duration_ns % NS_PER_SECOND / NS_PER_MS);
		tell(context, "duration", text);
	}
	if (meta->event)
		tell(context, "event", meta->event);
	if (meta->frequency || meta->period) {
		snprintf(text, sizeof(text), meta->frequency ? "%" PRIu64 " Hz" : "1 in %" PRIu64,
			 meta->frequency ? meta->frequency : meta->period);
		tell(context, "rate", text);
	}
	if (quantity_is_time(meta))
		quantity_text(meta, profile->total, text);
	else
		snprintf(text, sizeof(text), "%" PRIu64, profile->total);
	tell(context,
	     meta->timed	      ? quantity_time_of(meta)
	     : quantity_measure(meta) ? quantity_measure(meta)
				      : quantity_unit(meta),
	     text);
	if (meta->summed) {
		snprintf(text, sizeof(text), "%" PRIu64, profile->events);
		tell(context, quantity_events(meta), text);
	}
	if (profile->base)
		tell_base(profile, tell, context);
	tell_left_out(profile, tell, context);
	tell_losses(profile, tell, context);
	tell_ends(meta, &profile->ends, tell, context);
	tell_unwinding(&meta->unwinding, tell, context);
}
