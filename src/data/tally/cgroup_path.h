/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the path of a cgroup says of who runs in it, as systemd, the kubelet, and Docker,
 * containerd, CRI-O, Podman and LXC name their cgroups.
 *
 * What runs in a container, or belongs to a user, may make cgroups of any name below its own. So
 * the outermost container counts, and whether a cgroup is what its name says, its owner tells.
 */
#ifndef STACKTALLY_TALLY_CGROUP_PATH_H
#define STACKTALLY_TALLY_CGROUP_PATH_H

#include <stddef.h>

#define CGROUP_NAME_SIZE    128
#define CGROUP_CONTAINER_ID 64 /* hexadecimal digits */
#define CGROUP_SHORT_ID	    12 /* of these, which runtimes show */
#define CGROUP_POD_UID	    36
#define CGROUP_RUNTIME_SIZE 24

/* "" is what the path does not say. Names are cut at their sizes, and have no escapes. */
struct cgroup_path {
	/* The innermost unit that is no slice, without ".service" or ".scope"; with a container,
	 * the service in it. */
	char unit[CGROUP_NAME_SIZE];
	char last[CGROUP_NAME_SIZE]; /* the last name, unless it is a slice */
	char container[CGROUP_CONTAINER_ID + 1];
	char machine[CGROUP_NAME_SIZE];	   /* a container that has a name only: of LXC, of nspawn */
	char pod_uid[CGROUP_POD_UID + 1];  /* of Kubernetes */
	char pod[CGROUP_CONTAINER_ID + 1]; /* the id of a pod of Podman */
	/* What stands before the container's id, as runtimes have it: "docker", "cri-containerd".
	 */
	char runtime[CGROUP_RUNTIME_SIZE];
	/* Bytes of the path up to the cgroup that all of this but unit and last is read from; 0:
	 * there is none. */
	size_t size;
};

/* `path` may be NULL: it says nothing. */
void cgroup_path_read(const char *path, struct cgroup_path *ret_path);

#endif
