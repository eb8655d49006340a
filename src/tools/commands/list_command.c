// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/list_command.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "cli/message.h"
#include "commands/command.h"
#include "trigger/listing.h"
#include "trigger/spec.h"

#define N_COSTS 3

static const char *const COSTS[N_COSTS] = {
	[PROBE_COST_LOW] = "low",
	[PROBE_COST_MEDIUM] = "medium",
	[PROBE_COST_HIGH] = "high",
};

static void probe(void *to, const struct listed *listed)
{
	uint64_t *n = to;

	n[listed->cost]++;
	bytes_print_name(stdout, listed->pattern);
	printf("  %s  ", COSTS[listed->cost]);
	bytes_print_name(stdout, listed->where);
	putchar('\n');
}

static void detail(void *to, const char *text)
{
	(void)to;
	fputs("    ", stdout);
	bytes_print_name(stdout, text);
	putchar('\n');
}

static void note(void *to, const char *text)
{
	(void)to;
	message_note("%s", text);
}

int list_command(const char *program, const struct spec_request *request)
{
	uint64_t n[N_COSTS] = { 0 }, total;
	const struct listing listing = { .probe = probe, .detail = detail, .note = note, .to = n };
	struct error err = { 0 };

	if (spec_list(request, &listing, &err) < 0)
		return message_error(program, &err);
	total = n[PROBE_COST_LOW] + n[PROBE_COST_MEDIUM] + n[PROBE_COST_HIGH];
	message_note("%" PRIu64 " place%s would be probed; nothing is attached", total,
		     total == 1 ? "" : "s");
	return command_answered();
}
