// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "view/caption.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

void part_clear(struct part *part)
{
	tally_free(part->tally);
	names_free(part->names);
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
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_ids(out, "PID", &selection->tgids);
	put_ids(out, "TID", &selection->tids);
	if (selection->name)
		fprintf(out, ", threads named %s", selection->name);
	if (selection->cgroup)
		fprintf(out, ", cgroup %s", selection->cgroup);
	if (selection->no_kernel || selection->no_user)
		fprintf(out, ", %s stacks", selection->no_kernel ? "user" : "kernel");
	if (selection->depth)
		fprintf(out, ", %u frames", selection->depth);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* The condition that compares with that of a measurement, or NULL if there is none. */
static int add_filter(const struct selection *selection, struct part *part)
{
	const struct selection events = { .tgids = selection->tgids,
					  .tids = selection->tids,
					  .name = selection->name,
					  .cgroup = selection->cgroup };
	own(own_free) char *text = describe(&events);

	if (!text)
		return -ENOMEM;
	if (!*text)
		return 0;
	if (part->meta.filter ? asprintf(&part->filter, "%s%s", part->meta.filter, text) < 0
			      : asprintf(&part->filter, "%s", text + strlen(", ")) < 0) {
		part->filter = NULL;
		return -ENOMEM;
	}
	part->meta.filter = part->filter;
	return 0;
}

static int add_title(const struct selection *selection, struct part *part)
{
	const char *title = part->meta.title;
	own(own_free) char *text = describe(selection), *first = title ? strdup(title) : NULL;

	if (!title)
		return 0;
	if (!text || !first)
		return -ENOMEM;
	caption_end_title(first);
	if (asprintf(&part->title, "%s%s%s%s", first, *text ? " Of these: " : "",
		     *text ? text + strlen(", ") : "", *text ? "." : "") < 0) {
		part->title = NULL;
		return -ENOMEM;
	}
	part->meta.title = part->title;
	return 0;
}

int part_make(const struct selection *selection, const struct measurement *measurement,
	      struct part *ret_part)
{
	struct part *part = ret_part;
	int r = 0;

	*part = (struct part){ .meta = *measurement->meta };
	part->measurement =
		(struct measurement){ &part->meta, measurement->tally, measurement->names };
	r = add_title(selection, part);
	if (r < 0 || selection_is_all(selection))
		return r;
	if (tally_new(0, 0, &part->tally) < 0 || names_new(&part->names) < 0)
		return -ENOMEM;
	r = selection_make(selection, measurement->tally, measurement->names, part->tally,
			   part->names);
	if (r == 0)
		r = add_filter(selection, part);
	part->measurement.tally = part->tally;
	part->measurement.names = part->names;
	part->meta.user &= !selection->no_user;
	part->meta.kernel &= !selection->no_kernel;
	part->meta.has.inlines &= !selection->no_inlined;
	return r;
}

const char *part_cgroup(const char *path)
{
	size_t size = strlen(CGROUP_ROOT);

	if (path && strncmp(path, CGROUP_ROOT, size) == 0 &&
	    (path[size] == '/' || path[size] == '\0'))
		return path + size;
	return path;
}
