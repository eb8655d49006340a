/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that container runtimes keep say of containers: OCI's config.json with the
 * annotations of containerd and CRI-O, Docker's config.v2.json, and the list of all containers of
 * Podman and CRI-O. The files are JSON, and may be hostile: to be read in a confined child.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINER_CONFIG_H
#define STACKTALLY_CONTAINERS_CONTAINER_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "tally/cgroup_path.h"

#define CONTAINER_TEXT_SIZE  256
#define CONTAINER_CONFIG_MAX (8u << 20) /* bytes of a file; larger ones are not read */

enum container_text {
	CONTAINER_NAME,
	CONTAINER_IMAGE,
	CONTAINER_POD,
	CONTAINER_NAMESPACE,
	CONTAINER_POD_UID,
	CONTAINER_POD_CONTAINER,
	CONTAINER_N_TEXTS
};

/* "": not known. Without control characters. */
struct container_texts {
	char of[CONTAINER_N_TEXTS][CONTAINER_TEXT_SIZE];
};

enum container_file {
	CONTAINER_OCI,
	CONTAINER_DOCKER,
	CONTAINER_SANDBOX, /* OCI's of the container that holds a pod of Podman: its host name is
			      the name of the pod */
	CONTAINER_N_FILES
};

/* Adds what the file's text says and is not known yet. What stands behind that is not read. */
void container_config_read(enum container_file kind, const char *text, size_t size,
			   struct container_texts *texts);

#define CONTAINER_LIST_MAX 4096u /* elements of a list; the rest is not read */

/* An element of the list. */
struct container_listed {
	char id[CGROUP_CONTAINER_ID + 1];
	char name[CONTAINER_TEXT_SIZE], image[CONTAINER_TEXT_SIZE];
};

void container_list_read(const char *text, size_t size,
			 void (*visit)(void *context, const struct container_listed *listed),
			 void *context);

#endif
