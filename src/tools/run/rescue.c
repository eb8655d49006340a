// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/message.h"
#include "recording/recording.h"
#include "run/file_owner.h"

#define SUFFIX ".stacktally"

static int save(int fd, const struct measurement *measurement)
{
	FILE *out = fdopen(fd, "w");
	int r;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	r = recording_save(out, measurement->meta, measurement->tally, measurement->names,
			   measurement->timeline, NULL);
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	return r;
}

/* The path of the recording, allocated; NULL: it cannot be there. */
static char *save_in(const char *directory, const struct measurement *measurement)
{
	own(own_free) char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/stacktally-XXXXXX" SUFFIX, directory) < 0) {
		path = NULL;
		return NULL;
	}
	fd = mkostemps(path, (int)strlen(SUFFIX), O_CLOEXEC);
	if (fd < 0)
		return NULL;
	file_owner_give(fd);
	if (save(fd, measurement) == 0)
		return take_ptr(path);
	unlink(path);
	return NULL;
}

void rescue(const struct measurement *measurement)
{
	const char *directories[] = { getenv("TMPDIR"), "/var/tmp", "/tmp", "." };

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		own(own_free) char *path = NULL;

		if (directories[i] && *directories[i])
			path = save_in(directories[i], measurement);
		if (!path)
			continue;
		message_line("The measurement is kept in %s: report from it with --from", path);
		return;
	}
	message_line("The measurement is lost: it fits neither TMPDIR, /var/tmp, /tmp nor the "
		     "working directory");
}
