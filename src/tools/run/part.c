// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "run/ranged.h"
#include "view/caption.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define GROUPS_SIZE 1024 /* bytes of what a filter says */

void part_clear(struct part *part)
{
	tally_free(part->tally);
	names_free(part->names);
	timeline_clear(&part->timeline);
	free(part->title);
	free(part->filter);
	*part = (struct part){ 0 };
}

static void put_ids(FILE *out, const char *what, const struct id_list *list)
{
	if (!list->n)
		return;
	fprintf(out, ", %s%s", what, list->n > 1 ? "s" : "");
	for (uint32_t i = 0; i < list->n; i++)
		fprintf(out, "%s%d", i ? ", " : " ", list->ids[i]);
}

/* Each condition, behind a comma. The words are those of a measurement with such a filter. */
static char *describe(const struct selection *selection)
{
	char *text = NULL, groups[GROUPS_SIZE];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_ids(out, "PID", &selection->tgids);
	put_ids(out, "TID", &selection->tids);
	if (selection->name)
		fprintf(out, ", threads named %s", selection->name);
	cgroup_filter_text(&selection->groups, groups, sizeof(groups));
	if (*groups)
		fprintf(out, ", %s", groups);
	if (selection->no_kernel || selection->no_user)
		fprintf(out, ", %s stacks", selection->no_kernel ? "user" : "kernel");
	if (selection->depth)
		fprintf(out, ", %u frames", selection->depth);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Whether a condition, behind a comma, is one of the filter: it was measured with it. */
static bool has_condition(const char *filter, const char *condition)
{
	size_t size = strlen(condition) - strlen(", ");

	for (const char *at = filter; at;) {
		if (strncmp(at, condition + strlen(", "), size) == 0 &&
		    (at[size] == '\0' || at[size] == ','))
			return true;
		at = strstr(at, ", ");
		at = at ? at + strlen(", ") : NULL;
	}
	return false;
}

/* Adds a condition to the filter, unless it is there. */
static int add_condition(const struct selection *condition, struct part *part)
{
	own(own_free) char *text = describe(condition);
	char *filter;
	int n;

	if (!text)
		return -ENOMEM;
	if (!*text || has_condition(part->meta.filter, text))
		return 0;
	n = part->meta.filter ? asprintf(&filter, "%s%s", part->meta.filter, text)
			      : asprintf(&filter, "%s", text + strlen(", "));
	if (n < 0)
		return -ENOMEM;
	free(part->filter);
	part->meta.filter = part->filter = filter;
	return 0;
}

/* The conditions that compare with those of a measurement. */
static int add_filter(const struct selection *selection, struct part *part)
{
	const struct selection conditions[] = {
		{ .tgids = selection->tgids },
		{ .tids = selection->tids },
		{ .name = selection->name },
		{ .groups.cgroup = selection->groups.cgroup },
		{ .groups.service = selection->groups.service },
		{ .groups.container = selection->groups.container },
		{ .groups.pod = selection->groups.pod },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(conditions) / sizeof(conditions[0]); i++)
		r = add_condition(&conditions[i], part);
	return r;
}

/* "Of these:" what was selected, and the seconds that were. */
static int add_title(const struct selection *selection, const struct timeline_span *span,
		     struct part *part)
{
	const char *title = part->meta.title;
	own(own_free) char *text = describe(selection), *first = title ? strdup(title) : NULL;
	char seconds[64] = "";

	if (!title)
		return 0;
	if (!text || !first)
		return -ENOMEM;
	if (span)
		snprintf(seconds, sizeof(seconds), ", %.2f s to %.2f s",
			 (double)span->begin_ns / (double)NS_PER_SECOND,
			 (double)span->end_ns / (double)NS_PER_SECOND);
	caption_end_title(first);
	if (asprintf(&part->title, "%s%s%s%s%s", first, *text || span ? " Of these: " : "",
		     *text ? text + strlen(", ") : "",
		     *text || !span ? seconds : seconds + strlen(", "),
		     *text || span ? "." : "") < 0) {
		part->title = NULL;
		return -ENOMEM;
	}
	part->meta.title = part->title;
	return 0;
}

/* Fills tally, names and timeline; `span` is the whole time, or of it what the counts are of. */
static int select_part(const struct selection *selection, struct timeline_span span,
		       const struct measurement *measurement, struct part *part)
{
	const struct timeline *timeline = measurement->timeline;
	uint32_t n = tally_n_entries(measurement->tally);
	own(own_free) uint32_t *entry_of = reallocarray(NULL, (size_t)n + 1, sizeof(*entry_of));
	int r;

	if (!entry_of || tally_new(0, 0, &part->tally) < 0 || names_new(&part->names) < 0)
		return -ENOMEM;
	r = selection_make(selection, measurement->tally, measurement->names, part->tally,
			   part->names, entry_of);
	if (r < 0 || !timeline || timeline->n_slices == 0)
		return r;
	return timeline_part(timeline, span, entry_of, tally_n_entries(part->tally),
			     &part->timeline);
}

static int make(const struct selection *selection, const struct timeline_span *span,
		const struct measurement *measurement, struct part *part)
{
	struct timeline_span whole = { 0, UINT64_MAX };
	int r = add_title(selection, span, part);

	if (r < 0 || selection_is_all(selection))
		return r;
	r = select_part(selection, span ? *span : whole, measurement, part);
	if (r == 0)
		r = add_filter(selection, part);
	part->measurement =
		(struct measurement){ &part->meta, part->tally, part->names, &part->timeline };
	part->meta.user &= !selection->no_user;
	part->meta.kernel &= !selection->no_kernel;
	part->meta.has.inlines &= !selection->no_inlined;
	if (span) {
		part->meta.start_time_ns += part->meta.start_time_ns ? span->begin_ns : 0;
		part->meta.duration_ns = span->end_ns - span->begin_ns;
	}
	return r;
}

int part_make(const struct part_wanted *wanted, const struct measurement *measurement,
	      struct part *ret_part, struct error *err)
{
	struct part *part = ret_part;
	struct selection selection = wanted->selection;
	own(own_free) struct timeline_count *counts = NULL;
	struct timeline_span span;
	int r = 0;

	*part = (struct part){ .meta = *measurement->meta };
	part->measurement = *measurement;
	part->measurement.meta = &part->meta;
	if (wanted->range.given)
		r = ranged_counts(measurement, &wanted->range, wanted->name, &span, &counts, err);
	if (r < 0)
		return r;
	selection.counts = counts;
	r = make(&selection, counts ? &span : NULL, measurement, part);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

const char *part_cgroup(const char *path)
{
	size_t size = strlen(CGROUP_ROOT);

	if (path && strncmp(path, CGROUP_ROOT, size) == 0 &&
	    (path[size] == '/' || path[size] == '\0'))
		return path + size;
	return path;
}

struct cgroup_filter part_groups(const struct cgroup_filter *filter)
{
	struct cgroup_filter groups = *filter;

	groups.cgroup = part_cgroup(filter->cgroup);
	return groups;
}
