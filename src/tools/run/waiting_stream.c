// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/waiting_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

#define PATIENCE_MS 1000

struct waiting {
	int fd;
	const char *name;
	bool said;
};

bool waiting_stream_is_needed(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode));
}

int waiting_stream_open_fifo(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK);

	if (fd < 0 && errno == ENXIO) {
		message_note("%s: waiting for a reader to open this FIFO", path);
		fd = open(path, flags);
	} else if (fd >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
		close(fd);
		return -errno;
	}
	return fd < 0 ? -errno : fd;
}

/* Whether the reader takes something, until it has been said that it does not. */
static void see_reader(struct waiting *waiting)
{
	struct pollfd poll_fd = { .fd = waiting->fd, .events = POLLOUT };

	if (waiting->said || poll(&poll_fd, 1, PATIENCE_MS) != 0)
		return;
	waiting->said = true;
	message_note("waiting for the reader of %s", waiting->name);
}

static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
	struct waiting *waiting = cookie;
	size_t done = 0;

	while (done < size) {
		/* No more than a pipe that can be written to has room for. */
		size_t most = waiting->said || size - done < PIPE_BUF ? size - done : PIPE_BUF;
		ssize_t n;

		see_reader(waiting);
		n = write(waiting->fd, bytes + done, most);
		if (n < 0)
			break; /* fewer bytes than asked for: the stream has failed */
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int close_stream(void *cookie)
{
	struct waiting *waiting = cookie;
	int r = close(waiting->fd);

	free(waiting);
	return r;
}

FILE *waiting_stream_open(int fd, const char *name)
{
	const cookie_io_functions_t functions = { .write = write_all, .close = close_stream };
	struct waiting *waiting = malloc(sizeof(*waiting));
	FILE *stream;

	if (!waiting)
		return NULL;
	*waiting = (struct waiting){ .fd = fd, .name = name };
	stream = fopencookie(waiting, "w", functions);
	if (!stream)
		free(waiting);
	return stream;
}
