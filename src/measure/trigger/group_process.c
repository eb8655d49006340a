// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/group_process.h"

#include <limits.h>
#include <stdio.h>

#include "base/own.h"
#include "process/cgroups.h"
#include "process/images.h"

DEFINE_OWN(struct images, images_free)

struct search {
	const struct cgroup_filter *filter;
	const char *mount;
	pid_t found;
};

/* The first process that is listed; those outside of our pid namespace are listed as 0. */
static void visit(void *context, const struct names_cgroup *cgroup)
{
	struct search *search = context;
	own(own_file) FILE *file = NULL;
	char path[2 * PATH_MAX];
	int pid;

	if (search->found || !cgroup_filter_matches(search->filter, cgroup))
		return;
	snprintf(path, sizeof(path), "%s%s/cgroup.procs", search->mount, cgroup->path);
	file = fopen(path, "re");
	while (file && !search->found && fscanf(file, "%d", &pid) == 1)
		search->found = pid > 0 ? pid : 0;
}

pid_t group_process(const struct cgroup_filter *filter)
{
	own(own_images_free) struct images *images = NULL;
	own(own_free) char *mount = cgroups_mount_point();
	struct search search = { .filter = filter, .mount = mount };

	if (!mount || !cgroup_filter_is_given(filter) || images_new(NULL, &images) < 0)
		return 0;
	images_walk_cgroups(images, cgroup_filter_by_names(filter), visit, &search);
	return search.found;
}
