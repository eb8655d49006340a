// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define DIGITS	 "0123456789abcdef"
#define SHORT_ID 12 /* digits of a container's id that its runtime shows */
#define SLICE	 ".slice"

static bool ends_with(const char *text, size_t size, const char *end)
{
	size_t length = strlen(end);

	return size > length && memcmp(text + size - length, end, length) == 0;
}

/* 64 digits, behind a runtime's prefix ("docker-", "cri-containerd-") or alone. */
static const char *find_container(const char *part, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = strchr(DIGITS, part[i]) && part[i] ? digits + 1 : 0;
		if (digits == SERVICE_CONTAINER_ID &&
		    (i + 1 == size || part[i + 1] == '.' || part[i + 1] == '/') &&
		    (i + 1 == digits || part[i - digits] == '-' || part[i - digits] == ':'))
			return part + i + 1 - digits;
	}
	return NULL;
}

static int hex(char digit)
{
	const char *at = digit ? strchr(DIGITS, digit) : NULL;

	return at ? (int)(at - DIGITS) : -1;
}

/* systemd's names of units have other bytes as \xHH. Control characters stay escaped. */
static void put_name(const char *from, size_t size, char to[SERVICE_NAME_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < size && used + 1 < SERVICE_NAME_SIZE; i++) {
		int byte = from[i];

		if (i + 3 < size && from[i] == '\\' && from[i + 1] == 'x' &&
		    hex(from[i + 2]) >= 0 && hex(from[i + 3]) >= 0) {
			int escaped = hex(from[i + 2]) << 4 | hex(from[i + 3]);

			if (escaped >= ' ' && escaped != 127) {
				byte = escaped;
				i += 3;
			}
		}
		to[used++] = (char)byte;
	}
	to[used] = '\0';
}

void service_of_cgroup(const char *path, struct service *ret_service)
{
	size_t end = path ? strlen(path) : 0;

	*ret_service = (struct service){ .name = SERVICE_UNKNOWN };
	/* The innermost part that is a container, or a unit and not a slice. */
	while (end > 0) {
		size_t at = end;
		const char *part, *container;

		while (at > 0 && path[at - 1] != '/')
			at--;
		part = path + at;
		container = find_container(part, end - at);
		if (container) {
			memcpy(ret_service->container, container, SERVICE_CONTAINER_ID);
			memcpy(ret_service->name, container, SHORT_ID);
			ret_service->name[SHORT_ID] = '\0';
			return;
		}
		if (ends_with(part, end - at, ".service"))
			return put_name(part, end - at - strlen(".service"), ret_service->name);
		if (ends_with(part, end - at, ".scope"))
			return put_name(part, end - at - strlen(".scope"), ret_service->name);
		end = at > 0 ? at - 1 : 0;
	}
	/* Without systemd, the name of the group. */
	end = path ? strlen(path) : 0;
	for (size_t at = end; at > 0; at--) {
		if (path[at - 1] != '/')
			continue;
		if (end > at && !ends_with(path + at, end - at, SLICE))
			put_name(path + at, end - at, ret_service->name);
		return;
	}
}

static const char *given_name(const struct report_options *options)
{
	for (uint32_t i = 0; i < options->n_labels; i++)
		if (strcmp(options->labels[i].key, SERVICE_KEY_NAME) == 0)
			return options->labels[i].value;
	return NULL;
}

/* The index of the service, which is new or known. */
static int add(struct services *services, const struct service *service, uint32_t *ret_index)
{
	int r;

	for (uint32_t i = 0; i < services->n; i++) {
		if (strcmp(services->list[i].name, service->name) == 0 &&
		    strcmp(services->list[i].container, service->container) == 0) {
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

		service_of_cgroup(i < profile->n_cgroups ? profile->cgroups[i].path : NULL,
				  &service);
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
	uint32_t low = 0, high = profile->n_cgroups;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (profile->cgroups[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < profile->n_cgroups && profile->cgroups[low].id == id ? low
									  : profile->n_cgroups;
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
