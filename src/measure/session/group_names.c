// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/group_names.h"

#include <stdio.h>
#include <string.h>

#include "tally/cgroup_path.h"

#define NAME_SIZE 520
#define MORE	  ", ..."

struct listing {
	const struct cgroup_filter *asked;
	char *text;
	size_t used, size;
	char last[NAME_SIZE]; /* cgroups of one are next to each other */
};

static void name_container(const struct names_cgroup *cgroup, char ret_name[NAME_SIZE])
{
	const char *name = names_cgroup_label(cgroup, LABEL_CONTAINER_NAME);
	const char *id = names_cgroup_label(cgroup, LABEL_CONTAINER_ID);

	snprintf(ret_name, NAME_SIZE, "%.*s", name ? NAME_SIZE - 1 : CGROUP_SHORT_ID,
		 name ? name
		 : id ? id
		      : "");
}

static void name_pod(const struct names_cgroup *cgroup, char ret_name[NAME_SIZE])
{
	const char *namespace = names_cgroup_label(cgroup, LABEL_NAMESPACE);
	const char *pod = names_cgroup_label(cgroup, LABEL_POD);

	if (pod)
		snprintf(ret_name, NAME_SIZE, "%.255s/%.255s", namespace ? namespace : "", pod);
}

static void name_service(const struct names_cgroup *cgroup, char ret_name[NAME_SIZE])
{
	const char *last = strrchr(cgroup->path, '/');
	size_t size = last ? strlen(last) : 0, suffix = strlen(".service");

	if (size > suffix && strcmp(last + size - suffix, ".service") == 0)
		snprintf(ret_name, NAME_SIZE, "%.*s", NAME_SIZE - 1, last + 1);
}

/* Names that do not fit are left out, which three dots tell. */
static void visit(void *context, const struct names_cgroup *cgroup)
{
	struct listing *listing = context;
	char name[NAME_SIZE] = "";

	if (listing->asked->pod)
		name_pod(cgroup, name);
	else if (listing->asked->container)
		name_container(cgroup, name);
	else
		name_service(cgroup, name);
	if (!*name || strcmp(name, listing->last) == 0 || !listing->size)
		return;
	memcpy(listing->last, name, sizeof(name));
	if (listing->used + strlen(name) + sizeof(", ") + sizeof(MORE) > listing->size) {
		snprintf(listing->text + listing->used, listing->size - listing->used, MORE);
		listing->size = 0;
		return;
	}
	listing->used +=
		(size_t)snprintf(listing->text + listing->used, listing->size - listing->used,
				 "%s%s", listing->used ? ", " : "", name);
}

void group_names_list(struct images *images, const struct cgroup_filter *asked, char *ret_text,
		      size_t size)
{
	struct listing listing = { .asked = asked, .text = ret_text, .size = size };

	snprintf(ret_text, size, "none");
	images_walk_cgroups(images, cgroup_filter_by_names(asked), visit, &listing);
}
