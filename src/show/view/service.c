// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tally/cgroup_path.h"

static void name_service(const struct names_cgroup *cgroup, const struct cgroup_path *path,
			 char ret_name[SERVICE_NAME_SIZE])
{
	const char *container = names_cgroup_label(cgroup, LABEL_CONTAINER_NAME);
	const char *name = *path->unit	    ? path->unit
			   : container	    ? container
			   : *path->machine ? path->machine
			   : *path->last    ? path->last
					    : SERVICE_UNKNOWN;

	if (!*path->unit && !container && *path->container)
		snprintf(ret_name, SERVICE_NAME_SIZE, "%.*s", CGROUP_SHORT_ID, path->container);
	else
		snprintf(ret_name, SERVICE_NAME_SIZE, "%s", name);
}

void service_of_cgroup(const struct names_cgroup *cgroup, struct service *ret_service)
{
	struct cgroup_path path;

	cgroup_path_read(cgroup ? cgroup->path : NULL, &path);
	*ret_service = (struct service){ .labels = cgroup ? cgroup->labels : NULL,
					 .n_labels = cgroup ? cgroup->n_labels : 0 };
	name_service(cgroup, &path, ret_service->name);
}

static const char *given_name(const struct report_options *options)
{
	for (uint32_t i = 0; i < options->n_labels; i++)
		if (strcmp(options->labels[i].key, SERVICE_KEY_NAME) == 0)
			return options->labels[i].value;
	return NULL;
}

static bool is_same(const struct service *a, const struct service *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n_labels != b->n_labels)
		return false;
	for (uint32_t i = 0; i < a->n_labels; i++)
		if (strcmp(a->labels[i].key, b->labels[i].key) != 0 ||
		    strcmp(a->labels[i].value, b->labels[i].value) != 0)
			return false;
	return true;
}

/* The index of the service, which is new or known. */
static int add(struct services *services, const struct service *service, uint32_t *ret_index)
{
	int r;

	for (uint32_t i = 0; i < services->n; i++) {
		if (is_same(&services->list[i], service)) {
			*ret_index = i;
			return 0;
		}
	}
	r = grow(&services->list, &services->capacity, services->n + 1);
	if (r < 0)
		return r;
	services->list[services->n] = *service;
	*ret_index = services->n++;
	return 0;
}

/* The service of each cgroup of the profile, and last, of entries whose cgroup is not known. */
static int find_of_cgroups(const struct profile *profile, const char *name,
			   struct services *services, uint32_t *ret_of)
{
	for (uint32_t i = 0; i <= profile->n_cgroups; i++) {
		struct service service;
		int r;

		service_of_cgroup(i < profile->n_cgroups ? &profile->cgroups[i] : NULL, &service);
		if (name)
			snprintf(service.name, sizeof(service.name), "%s", name);
		r = add(services, &service, &ret_of[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static uint32_t cgroup_index(const struct profile *profile, uint64_t id)
{
	const struct names_cgroup *cgroup = profile_cgroup(profile, id);

	return cgroup ? (uint32_t)(cgroup - profile->cgroups) : profile->n_cgroups;
}

int services_find(const struct profile *profile, const struct report_options *options,
		  struct services *ret_services)
{
	uint32_t *of = calloc((size_t)profile->n_cgroups + 1, sizeof(*of));
	int r = -ENOMEM;

	*ret_services = (struct services){ 0 };
	ret_services->of_entry =
		calloc((size_t)profile->n_entries + 1, sizeof(*ret_services->of_entry));
	if (of && ret_services->of_entry)
		r = find_of_cgroups(profile, given_name(options), ret_services, of);
	for (uint32_t i = 0; r == 0 && i < profile->n_entries; i++)
		ret_services->of_entry[i] = of[cgroup_index(profile, profile->entries[i].cgroup)];
	free(of);
	return r;
}

void services_clear(struct services *services)
{
	free(services->list);
	free(services->of_entry);
	*services = (struct services){ 0 };
}
