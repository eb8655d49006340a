// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/process_view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"

#define STATUS_SIZE	 8192u
#define START_TIME_FIELD 22 /* in /proc/PID/stat */

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

/* The id of the process that a thread is of, by its directory in /proc. 0 or a negative errno. */
static int process_group_of(int dir, pid_t *ret_tgid)
{
	own(own_free) char *text = malloc(STATUS_SIZE);
	const char *at;
	ssize_t n;

	if (!text)
		return -ENOMEM;
	n = read_small(dir, "status", text, STATUS_SIZE);
	if (n < 0)
		return (int)n;
	at = status_field(text, "\nTgid:");
	return at && sscanf(at, "%d", ret_tgid) == 1 ? 0 : -EPROTO;
}

int process_check_id(pid_t id, struct error *err)
{
	own(own_fd) int dir = -1;
	char path[32];
	pid_t tgid;

	if (id <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d", (int)id);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || process_group_of(dir, &tgid) < 0 || tgid == id)
		return 0;
	return error_set(err, -ESRCH,
			 "%d is a thread of process %d: -L %d measures the thread, -p %d the "
			 "whole process",
			 (int)id, (int)tgid, (int)id, (int)tgid);
}

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens /proc/TID, if that is a thread of the process which has memory. */
static bool open_thread(pid_t tgid, const char *tid, struct process_view *view)
{
	own(own_fd) int dir = -1, root = -1;
	char path[40];
	pid_t of;

	snprintf(path, sizeof(path), "/proc/%.20s", tid);
	dir = open_directory(AT_FDCWD, path);
	if (dir < 0 || process_group_of(dir, &of) < 0 || of != tgid)
		return false;
	root = open_directory(dir, "root");
	if (root < 0)
		return false;
	view->leader = view->dir;
	view->thread = (pid_t)atoi(tid);
	view->dir = take_fd(&dir);
	view->root = take_fd(&root);
	return true;
}

/* The leader has ended: looks for a thread that runs. All share their memory and their root. */
static void open_other_thread(pid_t tgid, struct process_view *view)
{
	int fd = openat(view->dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *threads = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!threads) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(threads)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    atoi(entry->d_name) != tgid && open_thread(tgid, entry->d_name, view))
			break;
	closedir(threads);
}

int process_view_open(pid_t tgid, struct process_view *ret_view)
{
	struct process_view view = PROCESS_VIEW_NONE;
	char name[32];

	if (tgid <= 0)
		return -ESRCH;
	snprintf(name, sizeof(name), "/proc/%d", (int)tgid);
	view.dir = open_directory(AT_FDCWD, name);
	if (view.dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	view.thread = tgid;
	view.root = open_directory(view.dir, "root");
	if (view.root < 0 && errno == ENOENT)
		open_other_thread(tgid, &view);
	*ret_view = view;
	return 0;
}

pid_t process_view_thread(pid_t tgid)
{
	own(process_view_close) struct process_view view = PROCESS_VIEW_NONE;

	return process_view_open(tgid, &view) == 0 ? view.thread : tgid;
}

void process_view_close(struct process_view *view)
{
	own_fd(&view->dir);
	own_fd(&view->root);
	own_fd(&view->leader);
	*view = PROCESS_VIEW_NONE;
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
	n = read_small(view->leader >= 0 ? view->leader : view->dir, "stat", text, STATUS_SIZE);
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
