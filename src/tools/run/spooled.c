// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/spooled.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/program.h"
#include "import/baseline.h"

#define CHUNK 65536

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
}

const char *spooled_name(const char *path)
{
	return is_standard_input(path) ? "standard input" : path;
}

static int open_path(const char *path)
{
	/* A socket cannot be opened again by its name. */
	if (is_standard_input(path))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	/* Not to wait for a writer if the path is a FIFO. */
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Reads once there is something; 0 at the end, or a negative errno. */
static ssize_t read_some(int fd, char *bytes, size_t size)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	for (;;) {
		ssize_t n = read(fd, bytes, size);

		if (n >= 0)
			return n;
		if (errno == EAGAIN && poll(&ready, 1, -1) < 0 && errno != EINTR)
			return -errno;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int copy(int from, int to)
{
	char bytes[CHUNK];
	uint64_t total = 0;

	for (;;) {
		ssize_t n = read_some(from, bytes, sizeof(bytes));
		int r;

		if (n <= 0)
			return (int)n;
		total += (uint64_t)n;
		r = total > BASELINE_FILE_MAX ? -E2BIG : write_all(to, bytes, (size_t)n);
		if (r < 0)
			return r;
	}
}

static int spool(int from, const char *name, int *ret_fd, struct error *err)
{
	own(own_fd) int fd = memfd_create("spooled", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : copy(from, fd);

	if (r == -E2BIG)
		return error_set(err, r, "cannot read %s: more than %zu MiB: write it to a file",
				 name, BASELINE_FILE_MAX >> 20);
	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", name, strerror(-r));
	*ret_fd = take_fd(&fd);
	return 0;
}

/* ---- perf's data ---- */

static bool is_perf_data(int fd)
{
	char magic[8];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (memcmp(magic, "PERFILE2", sizeof(magic)) == 0 ||
		memcmp(magic, "2ELIFREP", sizeof(magic)) == 0);
}

#define PERF_SCRIPT "perf", "script", "--no-inline", "-i", "/proc/self/fd/3"

/* `setpriv` does what is behind it as the user who owns the file. */
static int start_perf(const struct stat *owner, int fd, int *ret_out, pid_t *ret_pid)
{
	char user[16], group[16];
	const char *const as_owner[] = { "setpriv", "--reuid",	      user,	   "--regid",
					 group,	    "--clear-groups", PERF_SCRIPT, NULL };
	const char *const as_we_are[] = { PERF_SCRIPT, NULL };
	bool of_another = geteuid() == 0 && owner->st_uid != 0;
	const struct program perf = { .argv = of_another ? as_owner : as_we_are };

	snprintf(user, sizeof(user), "%u", owner->st_uid);
	snprintf(group, sizeof(group), "%u", owner->st_gid);
	return program_start(&perf, fd, ret_out, ret_pid);
}

static int read_perf_data(int fd, const char *name, int *ret_fd, struct error *err)
{
	own(own_fd) int out = -1, text = -1;
	struct stat status;
	pid_t pid;
	int r = fstat(fd, &status) < 0 ? -errno : start_perf(&status, fd, &out, &pid), ended;

	if (r < 0)
		return error_set(err, r,
				 "cannot read %s: perf's data, which takes perf: install it, or "
				 "pipe `perf script` of another machine into --from -",
				 name);
	r = spool(out, name, &text, err);
	close(take_fd(&out));
	ended = program_end(pid);
	if (r < 0)
		return r;
	if (ended < 0)
		return error_set(err, ended,
				 "cannot read %s: `perf script -i %s` failed: run it to see why",
				 name, name);
	*ret_fd = take_fd(&text);
	return 0;
}

static int open_plain(const char *path, int *ret_fd, struct error *err)
{
	own(own_fd) int fd = open_path(path);
	const char *name = spooled_name(path);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set(err, -errno, "cannot read %s: %s", name, strerror(errno));
	if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
		return spool(fd, name, ret_fd, err);
	/* A shell may have read the beginning of what it passes on. */
	if (S_ISREG(status.st_mode) && lseek(fd, 0, SEEK_CUR) > 0)
		return spool(fd, name, ret_fd, err);
	if (isatty(fd))
		return error_set(err, -EINVAL, "cannot read %s: it is a terminal", name);
	if (!S_ISREG(status.st_mode))
		return error_set(err, -EINVAL, "cannot read %s: not a regular file", name);
	*ret_fd = take_fd(&fd);
	return 0;
}

int spooled_open(const char *path, int *ret_fd, struct error *err)
{
	own(own_fd) int fd = -1;
	int r = open_plain(path, &fd, err);

	if (r == 0 && is_perf_data(fd))
		return read_perf_data(fd, spooled_name(path), ret_fd, err);
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}
