// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/own.h"

/* More processes or threads are not watched: then the measurement ends by its duration. */
#define MAX_WATCHED 1024u

struct targets {
	const struct plan *plan;
	int tgids; /* the BPF programs' map, borrowed */
	/* Processes that have not ended yet, by pidfd; threads by their directory in /proc. */
	int *processes, *threads;
	uint32_t n_processes, n_threads;
	bool watched; /* the above is complete */
	bool ended;
};

/* ---- processes and threads ---- */

static bool process_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static bool thread_ended(int dir)
{
	return faccessat(dir, "stat", F_OK, 0) < 0;
}

static int open_process(int id)
{
	int fd = (int)syscall(SYS_pidfd_open, id, 0);

	return fd < 0 ? -errno : fd;
}

static int open_thread(int id)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", id);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Watches those that have not ended. False if they cannot be watched. */
static bool watch(const struct id_list *list, int (*open_one)(int), int **ret_fds, uint32_t *ret_n)
{
	if (!list->n)
		return true;
	*ret_fds = list->n > MAX_WATCHED ? NULL : calloc(list->n, sizeof(int));
	if (!*ret_fds)
		return false;
	for (uint32_t i = 0; i < list->n; i++) {
		int fd = list->ids[i] > 0 ? open_one(list->ids[i]) : -EINVAL;

		if (fd >= 0)
			(*ret_fds)[(*ret_n)++] = fd;
		else if (fd != -ESRCH && fd != -ENOENT)
			return false; /* CPUs that idle, or a kernel before 5.3 */
	}
	return true;
}

/* Closes those that have ended. */
static void drop_ended(int *fds, uint32_t *n, bool (*has_ended)(int))
{
	for (uint32_t i = 0; i < *n;) {
		if (!has_ended(fds[i])) {
			i++;
			continue;
		}
		close(fds[i]);
		fds[i] = fds[--*n];
	}
}

/* The BPF programs remove those that end. */
static bool has_followed(const struct targets *targets)
{
	uint32_t first;

	return targets->plan->filter.follow_forks &&
	       bpf_map_get_next_key(targets->tgids, NULL, &first) == 0;
}

bool targets_ended(struct targets *targets)
{
	const struct plan_filter *filter = targets ? &targets->plan->filter : NULL;

	if (!targets || !targets->watched || targets->ended)
		return targets && targets->ended;
	drop_ended(targets->processes, &targets->n_processes, process_ended);
	drop_ended(targets->threads, &targets->n_threads, thread_ended);
	targets->ended = (filter->tgids.n && targets->n_processes == 0 && !has_followed(targets)) ||
			 (filter->tids.n && targets->n_threads == 0);
	return targets->ended;
}

bool targets_describe(const struct targets *targets, char *ret_text, size_t size)
{
	const struct plan_filter *filter = targets ? &targets->plan->filter : NULL;

	if (!targets)
		return false;
	if (targets->ended && filter->tgids.n == 1 && !targets->n_processes)
		snprintf(ret_text, size, "process %d%s ended, and with it the measurement",
			 filter->tgids.ids[0], filter->follow_forks ? " and its children" : "");
	else if (targets->ended)
		snprintf(ret_text, size, "all chosen %s ended, and with them the measurement",
			 filter->tgids.n && !targets->n_processes ? "processes" : "threads");
	else
		return false;
	return true;
}

int targets_open(const struct plan *plan, int tgids, struct targets **ret_targets,
		 struct error *err)
{
	struct targets *targets = calloc(1, sizeof(*targets));
	const struct plan_filter *filter = &plan->filter;

	if (!targets)
		return error_set(err, -ENOMEM, "out of memory");
	targets->plan = plan;
	targets->tgids = tgids;
	*ret_targets = targets;
	/* A launched command ends the measurement itself. */
	targets->watched =
		!plan->command &&
		watch(&filter->tgids, open_process, &targets->processes, &targets->n_processes) &&
		watch(&filter->tids, open_thread, &targets->threads, &targets->n_threads);
	return 0;
}

static void close_all(int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
}

void targets_close(struct targets *targets)
{
	if (!targets)
		return;
	close_all(targets->processes, targets->n_processes);
	close_all(targets->threads, targets->n_threads);
	free(targets);
}
