// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/process_view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"

#define STATUS_SIZE	 8192u
#define START_TIME_FIELD 22 /* in /proc/PID/stat */

int process_view_open(pid_t tgid, struct process_view *ret_view)
{
	struct process_view view = PROCESS_VIEW_NONE;
	char name[32];

	if (tgid <= 0)
		return -ESRCH;
	snprintf(name, sizeof(name), "/proc/%d", (int)tgid);
	view.dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (view.dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	view.root = openat(view.dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*ret_view = view;
	return 0;
}

void process_view_close(struct process_view *view)
{
	own_fd(&view->dir);
	own_fd(&view->root);
	*view = PROCESS_VIEW_NONE;
}

/* Reads a small file of /proc/PID and terminates it. Returns its size or a negative errno. */
static ssize_t read_small(int dir, const char *name, char *buffer, size_t size)
{
	own(own_fd) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (n < size - 1) {
		ssize_t r = read(fd, buffer + n, size - 1 - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	buffer[n] = '\0';
	return (ssize_t)n;
}

/* The text behind "\nKEY:", or NULL. */
static const char *status_field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

static int parse_status(const char *status, struct process_identity *identity)
{
	const char *uid = status_field(status, "\nUid:");
	const char *ids = status_field(status, "\nNStgid:");
	unsigned int effective;

	if (!uid || sscanf(uid, "%*u %u", &effective) != 1)
		return -EPROTO;
	identity->uid = effective;
	identity->innermost = 0;
	while (ids) { /* one id for each nested namespace, the innermost last */
		char *end;
		unsigned long id = strtoul(ids, &end, 10);

		if (end == ids || id == 0 || id > INT32_MAX)
			break;
		identity->innermost = (pid_t)id;
		ids = *end == '\t' ? end + 1 : NULL;
	}
	return 0;
}

int process_view_identity(const struct process_view *view, struct process_identity *ret_identity)
{
	struct process_identity identity = { 0 };
	own(own_free) char *text = malloc(STATUS_SIZE);
	const char *at;
	ssize_t n;
	int r;

	if (!text)
		return -ENOMEM;
	n = read_small(view->dir, "status", text, STATUS_SIZE);
	if (n < 0)
		return (int)n;
	r = parse_status(text, &identity);
	if (r < 0)
		return r;
	n = read_small(view->dir, "stat", text, STATUS_SIZE);
	if (n < 0)
		return (int)n;
	/* Field 2 is the comm in parentheses, which may contain blanks and parentheses. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < START_TIME_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EPROTO;
	identity.start_time = strtoull(at + 1, NULL, 10);
	*ret_identity = identity;
	return 0;
}
