/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which service a sample belongs to, by the path of its cgroup: a unit of systemd, or a container
 * of Docker, containerd, CRI-O or Podman, whose 64 digits are in the path.
 */
#ifndef STACKTALLY_VIEW_SERVICE_H
#define STACKTALLY_VIEW_SERVICE_H

#include <stdint.h>

#include "view/report_options.h"

#define SERVICE_NAME_SIZE    128
#define SERVICE_CONTAINER_ID 64 /* hexadecimal digits */
/* OpenTelemetry's name for what has none. */
#define SERVICE_UNKNOWN "unknown_service"
/* The keys of labels, as in OpenTelemetry's semantic conventions. */
#define SERVICE_KEY_NAME      "service.name"
#define SERVICE_KEY_CONTAINER "container.id"
#define SERVICE_KEY_HOST      "host.name"

struct service {
	char name[SERVICE_NAME_SIZE];
	char container[SERVICE_CONTAINER_ID + 1]; /* "": none */
};

/* Of a path of the cgroup file system, which may be NULL. */
void service_of_cgroup(const char *path, struct service *ret_service);

/* The services of a profile. */
struct services {
	struct service *list;
	uint32_t n, capacity;
	uint32_t *of_entry; /* an index of `list` for each entry of the profile */
};

/*
 * A label service.name of the options is the name of all. 0 or -ENOMEM; services_clear() is due in
 * both cases.
 */
int services_find(const struct profile *profile, const struct report_options *options,
		  struct services *ret_services);
void services_clear(struct services *services);

#endif
