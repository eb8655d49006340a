// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/next_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "cli/message.h"

struct process {
	uint32_t tgid;
	uint64_t count;
};

/* The process with the largest count; its tgid is 0 if no process has an id here. */
static int find_busiest(const struct tally *tally, struct process *ret_busiest)
{
	own(own_free) struct process *list = NULL;
	own(index_free) struct index index = { 0 };
	struct process busiest = { 0 };
	uint32_t n = 0, capacity = 0;

	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];
		uint64_t hash = hash_u64(entry->tgid);
		struct index_cursor cursor;
		uint32_t at = index_first(&index, hash, &cursor);

		while (at != INDEX_NONE && list[at].tgid != entry->tgid)
			at = index_next(&index, &cursor);
		if (at == INDEX_NONE) {
			int r = grow(&list, &capacity, (size_t)n + 1);

			if (r == 0)
				r = index_add(&index, hash, n);
			if (r < 0)
				return r;
			at = n++;
			list[at] = (struct process){ .tgid = entry->tgid };
		}
		list[at].count += entry->count;
		if (entry->tgid && list[at].count > busiest.count)
			busiest = list[at];
	}
	*ret_busiest = busiest;
	return 0;
}

static bool is_narrowed(const struct plan *plan)
{
	return plan->filter.tgids.n || plan->filter.tids.n || plan->command;
}

int next_steps_tell(const struct run_report *report)
{
	const struct plan *plan = report->request->plan;
	bool stackcount =
		strcmp(report->meta.command ? report->meta.command : "", "stackcount") == 0;
	struct process busiest;
	char one[100] = "";
	int r = find_busiest(report->tally, &busiest);

	if (r < 0)
		return r;
	if (busiest.tgid && !is_narrowed(plan))
		snprintf(one, sizeof(one), "-p %u alone; ", busiest.tgid);
	else if (busiest.tgid && !report->meta.timed && !stackcount && !report->saved &&
		 !plan->command)
		snprintf(one, sizeof(one), "--off-cpu: what it waits for; ");
	message_note("next: %s-o x.html: flame graph; --format text: all stacks", one);
	return 0;
}
