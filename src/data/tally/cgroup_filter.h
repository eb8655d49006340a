/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cgroups are meant, by what people call them. The wildcards are those of glob(7).
 */
#ifndef STACKTALLY_TALLY_CGROUP_FILTER_H
#define STACKTALLY_TALLY_CGROUP_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "tally/names.h"

/* All that are given must hold; NULL: not given. Borrowed. */
struct cgroup_filter {
	const char *cgroup;    /* a path, also without its first slash: it and those below it */
	const char *service;   /* a unit of systemd, also of a user; ".service" may be left out */
	const char *container; /* its name, or 6 and more digits of its id */
	const char *pod;       /* NAMESPACE/NAME, or NAME */
};

bool cgroup_filter_is_given(const struct cgroup_filter *filter);
/* Whether names of containers are asked for, and not only paths. */
bool cgroup_filter_by_names(const struct cgroup_filter *filter);
/* Whether it has wildcards, so that something may match later. */
bool cgroup_filter_is_pattern(const struct cgroup_filter *filter);

/* `cgroup` may be NULL: it does not match, unless nothing is given. */
bool cgroup_filter_matches(const struct cgroup_filter *filter, const struct names_cgroup *cgroup);

/* "service nginx.service, container web" */
void cgroup_filter_text(const struct cgroup_filter *filter, char *ret_text, size_t size);

#endif
