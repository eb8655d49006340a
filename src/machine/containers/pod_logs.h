/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods by the directories in which the kubelet keeps their logs: NAMESPACE_NAME_UID.
 */
#ifndef STACKTALLY_CONTAINERS_POD_LOGS_H
#define STACKTALLY_CONTAINERS_POD_LOGS_H

#include "containers/container_config.h"
#include "files/file_opener.h"

#define POD_LOGS "/var/log/pods"

/*
 * The names of the pod with this UID; they stay as they are if there is none. `way`: of POD_LOGS.
 * 0 or -EAGAIN: its file system did not respond.
 */
int pod_logs_find(struct file_opener *opener, struct file_way way, const char *uid,
		  char namespace[CONTAINER_TEXT_SIZE], char pod[CONTAINER_TEXT_SIZE]);

#endif
