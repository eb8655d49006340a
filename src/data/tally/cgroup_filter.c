// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/cgroup_filter.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tally/cgroup_path.h"

#define ID_LEAST  6 /* digits of an id that stand for it */
#define WILDCARDS "*?["

/* The options, for texts. */
#define N_PARTS 4
struct part {
	const char *what, *value;
};

static void list_parts(const struct cgroup_filter *filter, struct part ret_parts[N_PARTS])
{
	ret_parts[0] = (struct part){ "cgroup", filter->cgroup };
	ret_parts[1] = (struct part){ "service", filter->service };
	ret_parts[2] = (struct part){ "container", filter->container };
	ret_parts[3] = (struct part){ "pod", filter->pod };
}

bool cgroup_filter_is_given(const struct cgroup_filter *filter)
{
	return filter->cgroup || filter->service || cgroup_filter_by_names(filter);
}

bool cgroup_filter_by_names(const struct cgroup_filter *filter)
{
	return filter->container || filter->pod;
}

bool cgroup_filter_is_pattern(const struct cgroup_filter *filter)
{
	struct part parts[N_PARTS];

	list_parts(filter, parts);
	for (int i = 0; i < N_PARTS; i++)
		if (parts[i].value && strpbrk(parts[i].value, WILDCARDS))
			return true;
	return false;
}

void cgroup_filter_text(const struct cgroup_filter *filter, char *ret_text, size_t size)
{
	struct part parts[N_PARTS];
	size_t used = 0;

	list_parts(filter, parts);
	ret_text[0] = '\0';
	for (int i = 0; i < N_PARTS; i++)
		if (parts[i].value && used < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s %s",
						 used ? ", " : "", parts[i].what, parts[i].value);
}

/* Backslashes are parts of systemd's names. A name with brackets may be meant as it is. */
static bool is_like(const char *pattern, const char *text)
{
	return strcmp(pattern, text) == 0 ||
	       fnmatch(pattern, text, FNM_NOESCAPE | FNM_PATHNAME) == 0;
}

/* The path, or that of a cgroup above it, is like the pattern. */
static bool has_path(const char *pattern, const char *path)
{
	char wanted[PATH_MAX], above[PATH_MAX];
	size_t size;

	snprintf(wanted, sizeof(wanted), "%s", pattern + strspn(pattern, "/"));
	size = strlen(wanted);
	while (size > 0 && wanted[size - 1] == '/')
		wanted[--size] = '\0';
	snprintf(above, sizeof(above), "%s", path + strspn(path, "/"));
	for (char *end = above + strlen(above); size > 0 && end; end = strrchr(above, '/')) {
		*end = '\0';
		if (is_like(wanted, above))
			return true;
	}
	return size == 0;
}

/* One of the names of the path is that of the unit; those in a container are its own affair. */
static bool has_unit(const char *pattern, const char *path)
{
	char unit[CGROUP_NAME_SIZE + 8], name[CGROUP_NAME_SIZE];
	const char *suffix = strrchr(pattern, '.');
	bool whole = suffix && (strcmp(suffix, ".service") == 0 || strcmp(suffix, ".scope") == 0 ||
				strcmp(suffix, ".slice") == 0 || strcmp(suffix, ".socket") == 0 ||
				strcmp(suffix, ".mount") == 0 || strcmp(suffix, ".swap") == 0);
	struct cgroup_path says;

	snprintf(unit, sizeof(unit), "%s%s", pattern, whole ? "" : ".service");
	cgroup_path_read(path, &says);
	for (size_t size; *(path += strspn(path, "/")); path += size) {
		size = strcspn(path, "/");
		snprintf(name, sizeof(name), "%.*s", (int)size, path);
		if (is_like(unit, name))
			return true;
		if (*says.container && strstr(name, says.container))
			break;
	}
	return false;
}

static bool is_container(const char *pattern, const struct names_cgroup *cgroup)
{
	const char *name = names_cgroup_label(cgroup, LABEL_CONTAINER_NAME);
	const char *of_pod = names_cgroup_label(cgroup, LABEL_POD_CONTAINER);
	const char *id = names_cgroup_label(cgroup, LABEL_CONTAINER_ID);
	size_t size = strlen(pattern);

	return (name && is_like(pattern, name)) || (of_pod && is_like(pattern, of_pod)) ||
	       (id && size >= ID_LEAST && strncmp(id, pattern, size) == 0);
}

static bool is_pod(const char *pattern, const struct names_cgroup *cgroup)
{
	const char *pod = names_cgroup_label(cgroup, LABEL_POD);
	const char *namespace = names_cgroup_label(cgroup, LABEL_NAMESPACE);
	char whole[2 * CGROUP_NAME_SIZE + 2];

	if (!pod)
		return false;
	snprintf(whole, sizeof(whole), "%s/%s", namespace ? namespace : "", pod);
	return is_like(pattern, strchr(pattern, '/') ? whole : pod);
}

bool cgroup_filter_matches(const struct cgroup_filter *filter, const struct names_cgroup *cgroup)
{
	if (!cgroup || !cgroup->path)
		return !cgroup_filter_is_given(filter);
	return (!filter->cgroup || has_path(filter->cgroup, cgroup->path)) &&
	       (!filter->service || has_unit(filter->service, cgroup->path)) &&
	       (!filter->container || is_container(filter->container, cgroup)) &&
	       (!filter->pod || is_pod(filter->pod, cgroup));
}
