// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/cgroup_path.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS	"0123456789abcdef"
#define SERVICE ".service"
#define SCOPE	".scope"
#define MONITOR "conmon-"

/* Podman's pods, below its own cgroup and below a slice of systemd. */
#define PODMAN	   "/libpod_parent/"
#define PODMAN_POD "-libpod_pod_"

/* A name of the path. */
struct part {
	const char *at;
	size_t size;
};

static bool ends_with(struct part part, const char *end)
{
	size_t length = strlen(end);

	return part.size > length && memcmp(part.at + part.size - length, end, length) == 0;
}

/* Cuts the beginning of a name; false: it is another one. */
static bool begins_with(struct part *part, const char *begin)
{
	size_t length = strlen(begin);

	if (part->size <= length || memcmp(part->at, begin, length) != 0)
		return false;
	part->at += length;
	part->size -= length;
	return true;
}

static bool is_digit(char digit)
{
	return digit && strchr(DIGITS, digit);
}

/*
 * 64 digits, behind a runtime's prefix ("docker-", "cri-containerd-") or alone. The monitor of a
 * container, conmon, is not in it.
 */
static const char *find_container(struct part part)
{
	size_t digits = 0;

	if (memmem(part.at, part.size, MONITOR, strlen(MONITOR)))
		return NULL;
	for (size_t i = 0; i < part.size; i++) {
		digits = is_digit(part.at[i]) ? digits + 1 : 0;
		if (digits == CGROUP_CONTAINER_ID &&
		    (i + 1 == part.size || part.at[i + 1] == '.') &&
		    (i + 1 == digits || part.at[i - digits] == '-' || part.at[i - digits] == ':'))
			return part.at + i + 1 - digits;
	}
	return NULL;
}

/* A pod of Podman: its id alone, or in the name of a slice. */
static const char *find_podman_pod(const char *path, struct part part)
{
	const char *slice = memmem(part.at, part.size, PODMAN_POD, strlen(PODMAN_POD));
	size_t before = slice ? (size_t)(slice - part.at) + strlen(PODMAN_POD) : 0;
	const char *id = part.at + before;

	if (part.size - before < CGROUP_CONTAINER_ID || strspn(id, DIGITS) != CGROUP_CONTAINER_ID)
		return NULL;
	if (slice)
		return ends_with(part, ".slice") ? id : NULL;
	return part.size == CGROUP_CONTAINER_ID && part.at == path + strlen(PODMAN) &&
			       memcmp(path, PODMAN, strlen(PODMAN)) == 0
		       ? id
		       : NULL;
}

static int hex(char digit)
{
	return is_digit(digit) ? (int)(strchr(DIGITS, digit) - DIGITS) : -1;
}

/* systemd's names of units have other bytes as \xHH. Control characters stay escaped. */
static void put_name(struct part part, const char *end, char to[CGROUP_NAME_SIZE])
{
	size_t used = 0, size = part.size - strlen(end);
	const char *from = part.at;

	for (size_t i = 0; i < size && used + 1 < CGROUP_NAME_SIZE; i++) {
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

/*
 * "pod" and the UID, behind "kubepods-burstable-" or alone; systemd has "_" in place of "-". False:
 * it is no pod.
 */
static bool read_pod(struct part part, char ret_uid[CGROUP_POD_UID + 1])
{
	struct part uid = part;
	size_t n = 0;

	for (size_t i = 0; i + 3 < part.size; i++) {
		if ((i == 0 || part.at[i - 1] == '-') && memcmp(part.at + i, "pod", 3) == 0)
			uid = (struct part){ part.at + i + 3, part.size - i - 3 };
	}
	if (uid.at == part.at)
		return false;
	while (n < uid.size && n <= CGROUP_POD_UID &&
	       (is_digit(uid.at[n]) || uid.at[n] == '-' || uid.at[n] == '_'))
		n++;
	/* The UID of a pod that a file on its node defines has 32 digits and nothing else. */
	if ((n != CGROUP_POD_UID && n != 32) || (n < uid.size && uid.at[n] != '.'))
		return false;
	for (size_t i = 0; i < n; i++)
		ret_uid[i] = (char)(uid.at[i] == '_' ? '-' : uid.at[i]);
	ret_uid[n] = '\0';
	return true;
}

/* Whether it is a container of LXC or nspawn. */
static bool read_machine(struct part part, char ret_name[CGROUP_NAME_SIZE])
{
	struct part name = part;

	if (begins_with(&name, "lxc.payload."))
		put_name(name, "", ret_name);
	else if (begins_with(&name, "systemd-nspawn@") && ends_with(name, SERVICE))
		put_name(name, SERVICE, ret_name);
	return *ret_name;
}

static void read_unit(struct part part, bool contained, char ret_name[CGROUP_NAME_SIZE])
{
	if (ends_with(part, SERVICE))
		put_name(part, SERVICE, ret_name);
	else if (!contained && ends_with(part, SCOPE))
		put_name(part, SCOPE, ret_name);
}

/* Before the id, in the same name: "docker-ID.scope"; or the name above it: "docker/ID". */
static void read_runtime(const char *whole, const char *container,
			 char ret_runtime[CGROUP_RUNTIME_SIZE])
{
	const char *end = container, *at;
	size_t size;

	while (end > whole && strchr("-:/", end[-1]))
		end--;
	at = end;
	while (at > whole && at[-1] != '/')
		at--;
	size = (size_t)(end - at);
	if (size < CGROUP_RUNTIME_SIZE)
		memcpy(ret_runtime, at, size);
}

static void read_part(const char *whole, struct part part, struct cgroup_path *path)
{
	bool contained = *path->container || *path->machine, found;
	const char *pod = contained ? NULL : find_podman_pod(whole, part);
	const char *container = contained || pod ? NULL : find_container(part);

	if (pod)
		memcpy(path->pod, pod, CGROUP_CONTAINER_ID);
	if (container) {
		memcpy(path->container, container, CGROUP_CONTAINER_ID);
		read_runtime(whole, container, path->runtime);
	}
	found = pod || container ||
		(!contained &&
		 (read_pod(part, path->pod_uid) || read_machine(part, path->machine)));
	if (found)
		path->size = (size_t)(part.at + part.size - whole);
	if (container || (found && *path->machine))
		path->unit[0] = '\0';
	else
		read_unit(part, contained, path->unit);
}

void cgroup_path_read(const char *path, struct cgroup_path *ret_path)
{
	struct part part = { path, 0 };

	*ret_path = (struct cgroup_path){ 0 };
	while (part.at && *part.at) {
		part.at += strspn(part.at, "/");
		part.size = strcspn(part.at, "/");
		read_part(path, part, ret_path);
		if (part.at[part.size] == '\0' && part.size && !ends_with(part, ".slice"))
			put_name(part, "", ret_path->last);
		part.at += part.size;
	}
}
