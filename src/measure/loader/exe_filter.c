// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/exe_filter.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "bpf/wire.h"
#include "files/path.h"
#include "stacktally.skel.h"

/* The kernel's own form of a device number. */
static uint64_t kernel_device(dev_t device)
{
	return (uint64_t)major(device) << 20 | minor(device);
}

/* The path of a name in PATH; false: it is nowhere. */
static bool find_in_path(const char *name, char path[PATH_MAX])
{
	const char *directories = getenv("PATH");

	for (const char *at = directories ? directories : "/usr/bin:/bin", *end; *at; at = end) {
		end = strchrnul(at, ':');
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - at), at, name);
		if (access(path, X_OK) == 0)
			return true;
		end += *end == ':';
	}
	return false;
}

static int find(const char *exe, char path[PATH_MAX], struct stat *ret_status)
{
	if (strchr(exe, '/'))
		snprintf(path, PATH_MAX, "%s", exe);
	else if (!find_in_path(exe, path))
		return -ENOENT;
	if (stat(path, ret_status) < 0)
		return -errno;
	return S_ISREG(ret_status->st_mode) ? 0 : -EACCES;
}

static void add_path(struct wire_exe *wanted, uint32_t i, const char *path)
{
	if (path && path[0] == '/' && strlen(path) < sizeof(wanted->paths[i]))
		snprintf(wanted->paths[i], sizeof(wanted->paths[i]), "%s", path);
}

/* Whether the process executes the file, or one that was at its path. */
static bool executes(const char *pid, const struct stat *wanted, const char *real)
{
	const size_t size = real ? strlen(real) : 0;
	char link[64], path[PATH_MAX];
	struct stat status;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%.20s/exe", pid);
	if (path_stat_link(link, &status) == 0 && status.st_ino == wanted->st_ino &&
	    status.st_dev == wanted->st_dev)
		return true;
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || !size)
		return false;
	path[n] = '\0';
	return strncmp(path, real, size) == 0 && strcmp(path + size, " (deleted)") == 0;
}

static int fill_running(const struct stat *wanted, const char *real, struct bpf_map *map,
			struct error *err)
{
	own(own_directory) DIR *proc = opendir("/proc");
	uint32_t state = WIRE_MEMBER;
	struct dirent *entry;

	if (!proc)
		return error_set(err, -errno, "cannot list /proc: %s", strerror(errno));
	while ((entry = readdir(proc))) {
		uint32_t tgid = (uint32_t)atoi(entry->d_name);

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !executes(entry->d_name, wanted, real))
			continue;
		if (bpf_map_update_elem(bpf_map__fd(map), &tgid, &state, BPF_ANY) < 0)
			return error_set(err, -errno, "cannot follow process %u: %s", tgid,
					 strerror(errno));
	}
	return 0;
}

int exe_filter_fill(const char *exe, struct stacktally *skeleton, struct error *err)
{
	struct wire_exe wanted = { 0 };
	own(own_free) char *real = NULL;
	char path[PATH_MAX];
	struct stat status;
	uint32_t zero = 0;
	int r = find(exe, path, &status);

	if (r < 0)
		return error_set(err, r, "--exe %.300s: %s", exe,
				 r == -EACCES ? "it is no regular file" : strerror(-r));
	real = realpath(path, NULL);
	add_path(&wanted, 0, path);
	add_path(&wanted, 1, real);
	wanted.files[0].inode = status.st_ino;
	wanted.files[0].device = kernel_device(status.st_dev);
	if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.exe), &zero, &wanted, BPF_ANY) < 0)
		return error_set(err, -errno, "cannot follow %.300s: %s", exe, strerror(errno));
	return fill_running(&status, real, skeleton->maps.executing, err);
}

void exe_filter_tick(const char *exe, struct stacktally *skeleton)
{
	int map = bpf_map__fd(skeleton->maps.exe);
	struct wire_exe wanted;
	char path[PATH_MAX];
	struct stat status;
	uint32_t zero = 0;

	if (find(exe, path, &status) < 0 || bpf_map_lookup_elem(map, &zero, &wanted) < 0)
		return;
	for (uint32_t i = 0; i < WIRE_EXE_FILES; i++)
		if (wanted.files[i].inode == status.st_ino &&
		    wanted.files[i].device == kernel_device(status.st_dev))
			return;
	/* The oldest one is the last. */
	memmove(&wanted.files[1], &wanted.files[0], sizeof(wanted.files) - sizeof(wanted.files[0]));
	wanted.files[0].inode = status.st_ino;
	wanted.files[0].device = kernel_device(status.st_dev);
	bpf_map_update_elem(map, &zero, &wanted, BPF_ANY);
}
