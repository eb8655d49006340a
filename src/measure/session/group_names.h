/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What there is to choose, for the message that a choice was mistaken: services, containers, pods.
 */
#ifndef STACKTALLY_SESSION_GROUP_NAMES_H
#define STACKTALLY_SESSION_GROUP_NAMES_H

#include <stddef.h>

#include "process/images.h"
#include "tally/cgroup_filter.h"

/* Lists pods if one was asked for, else containers, else services: with commas, or "none". */
void group_names_list(struct images *images, const struct cgroup_filter *asked, char *ret_text,
		      size_t size);

#endif
