// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/loaded.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"
#include "run/imported.h"

void loaded_clear(struct loaded *loaded)
{
	recording_free(loaded->recording);
}

int loaded_load(const char *path, struct loaded *loaded, struct error *err)
{
	/* Not to wait for a writer if the path is a FIFO. */
	own(own_fd) int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	int r;

	if (!path)
		return 0;
	if (fd < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	r = imported_load(fd, path, &loaded->recording, &loaded->imported, err);
	if (r < 0)
		return r;
	if (loaded->imported)
		loaded->recording->meta.title = path;
	loaded->measurement = (struct measurement){ .meta = &loaded->recording->meta,
						    .tally = loaded->recording->tally,
						    .names = loaded->recording->names };
	return 0;
}
