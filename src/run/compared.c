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

int compared_load(const char *path, struct compared *compared, struct error *err)
{
	/* Nobody may be writing to what turns out to be a FIFO. */
	own(own_fd) int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	int r;

	if (!path)
		return 0;
	if (fd < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (is_recording(fd)) {
		r = recording_load(fd, path, &compared->recording, err);
		if (r < 0)
			return r;
		compared->meta = &compared->recording->meta;
		compared->tally = compared->recording->tally;
		compared->names = compared->recording->names;
		return 0;
	}
	r = baseline_load(fd, path, &compared->base, err);
	if (r < 0)
		return r;
	compared->meta = &compared->base->meta;
	compared->tally = compared->base->tally;
	compared->names = compared->base->names;
	return 0;
}
