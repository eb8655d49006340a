// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define NS 1000000000u

void facts_time(uint64_t time_ns, char ret_text[FACTS_TIME_SIZE])
{
	time_t seconds = (time_t)(time_ns / NS);
	struct tm utc;
	size_t at;

	gmtime_r(&seconds, &utc);
	at = strftime(ret_text, FACTS_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(ret_text + at, FACTS_TIME_SIZE - at, ".%09" PRIu64 "Z", time_ns % NS);
}

uint64_t facts_lost(const struct tally_losses *losses)
{
	return losses->lost_ring + losses->lost_counts + losses->lost_nested;
}

void facts_each(const struct profile *profile,
		void (*tell)(void *context, const char *name, const char *text), void *context)
{
	const struct profile_meta *meta = profile->meta;
	const struct tally_losses *losses = profile->losses;
	char text[200];

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
		snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 " s", meta->duration_ns / NS,
			 meta->duration_ns % NS / (NS / 1000));
		tell(context, "duration", text);
	}
	if (meta->event)
		tell(context, "event", meta->event);
	if (meta->frequency || meta->period) {
		snprintf(text, sizeof(text), meta->frequency ? "%" PRIu64 " Hz" : "1 in %" PRIu64,
			 meta->frequency ? meta->frequency : meta->period);
		tell(context, "rate", text);
	}
	snprintf(text, sizeof(text), "%" PRIu64, profile->total);
	tell(context, "samples", text);
	snprintf(text, sizeof(text),
		 "%" PRIu64 " (ring full %" PRIu64 ", counts full %" PRIu64 ", nested %" PRIu64
		 "), stacks missed in %" PRIu64 " samples, throttled %" PRIu64 " times",
		 facts_lost(losses), losses->lost_ring, losses->lost_counts, losses->lost_nested,
		 profile->missed_counts, losses->throttled);
	tell(context, "lost", text);
}
