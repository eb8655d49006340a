/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which service a sample belongs to, by its cgroup: a unit of systemd, or a container, by its name
 * or the beginning of its id (tally/cgroup_path.h).
 */
#ifndef STACKTALLY_VIEW_SERVICE_H
#define STACKTALLY_VIEW_SERVICE_H

#include <stdint.h>

#include "tally/cgroup_path.h"
#include "view/profile.h"
#include "view/report_options.h"

#define SERVICE_NAME_SIZE CGROUP_NAME_SIZE
/* OpenTelemetry's name for what has none. */
#define SERVICE_UNKNOWN "unknown_service"
/* The keys of labels, as in OpenTelemetry's semantic conventions. */
#define SERVICE_KEY_NAME "service.name"
#define SERVICE_KEY_HOST "host.name"

struct service {
	char name[SERVICE_NAME_SIZE];
	const struct names_label *labels; /* of its cgroup, borrowed */
	uint32_t n_labels;
};

/* `cgroup` is borrowed, and may be NULL. */
void service_of_cgroup(const struct names_cgroup *cgroup, struct service *ret_service);

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
