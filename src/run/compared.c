// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/compared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "recording/format.h"

void compared_clear(struct compared *compared)
{
	recording_free(compared->recording);
	baseline_free(compared->base);
}

static bool is_recording(int fd)
{
	char magic[RECORDING_MAGIC_SIZE];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0;
}

static int load_recording(int fd, const char *path, struct compared *compared, struct error *err)
{
	int r = recording_load(fd, path, &compared->recording, err);

	if (r < 0)
		return r;
	compared->measurement = (struct measurement){ .meta = &compared->recording->meta,
						      .tally = compared->recording->tally,
						      .names = compared->recording->names };
	return 0;
}

static int load_baseline(int fd, const char *path, struct compared *compared, struct error *err)
{
	int r = baseline_load(fd, path, &compared->base, err);

	if (r < 0)
		return r;
	compared->measurement = (struct measurement){ .meta = &compared->base->meta,
						      .tally = compared->base->tally,
						      .names = compared->base->names };
	return 0;
}

int compared_load(const char *path, struct compared *compared, struct error *err)
{
	/* Not to wait for a writer if the path is a FIFO. */
	own(own_fd) int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (!path)
		return 0;
	if (fd < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	return is_recording(fd) ? load_recording(fd, path, compared, err)
				: load_baseline(fd, path, compared, err);
}
