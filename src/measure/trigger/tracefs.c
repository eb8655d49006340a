// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/own.h"
#include "trigger/refused.h"

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct place {
	const char *type;
	long magic;
	const char *paths[2];
};

static const struct place TRACEFS = { "tracefs",
				      TRACEFS_MAGIC,
				      { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" } };
static const struct place DEBUGFS = { "debugfs", DEBUGFS_MAGIC, { "/sys/kernel/debug", NULL } };

/* Linux 5.2: 24dcb3d90a1f (fsopen), 93766fbd2696 (fsmount). */
static int mount_privately(const char *type)
{
	own(own_fd) int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	long fd;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int open_place(const struct place *place, struct error *err)
{
	int code = -ENOENT, r;

	for (size_t i = 0; i < 2 && place->paths[i]; i++) {
		own(own_fd) int fd = open(place->paths[i], DIRECTORY_FLAGS);
		struct statfs about;

		if (fd < 0 && (errno == EACCES || errno == EPERM))
			code = -errno;
		if (fd >= 0 && fstatfs(fd, &about) == 0 && about.f_type == place->magic)
			return take_fd(&fd);
	}
	r = mount_privately(place->type);
	if (r >= 0)
		return r;
	if (code != -ENOENT)
		return refused_file(err, code, "cannot read %s at %s", place->type,
				    place->paths[0]);
	if (r == -EPERM || r == -EACCES)
		return error_privilege(
			err, r,
			"%s is not mounted: mount it as root (mount -t %s nodev %s); "
			"to read it then takes root or CAP_DAC_READ_SEARCH",
			place->type, place->type, place->paths[0]);
	return refused(err, r, "%s is not mounted (mount -t %s nodev %s) and cannot be privately",
		       place->type, place->type, place->paths[0]);
}

int tracefs_open(struct error *err)
{
	return open_place(&TRACEFS, err);
}

int debugfs_open(struct error *err)
{
	return open_place(&DEBUGFS, err);
}

FILE *tracefs_file(int directory, const char *path)
{
	int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}
