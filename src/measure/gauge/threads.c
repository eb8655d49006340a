// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "bpf/wire.h"
#include "process/cgroups.h"
#include "stacktally.skel.h"

#define PATH_SIZE 4096

/* What is looked up once for all threads. */
struct search {
	const struct plan *plan;
	const struct stacktally *skeleton;
	uint32_t flags;	   /* enum wire_flags */
	const char *mount; /* where cgroup2 is mounted; or NULL */
	int (*each)(void *context, const struct found_thread *thread);
	void *context;
};

/* Of a process. */
struct process {
	uint32_t tgid;
	uint64_t cgroup; /* id, or 0: not known */
};

/* The first `size` - 1 bytes of a file in /proc; empty if it cannot be read. */
static void read_proc(uint32_t id, const char *name, char *text, size_t size)
{
	own(own_fd) int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", id, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	text[n < 0 ? 0 : n] = '\0';
}

/* The path of the process's cgroup (v2), "" for the root; false: not known. */
static bool cgroup_path(uint32_t tgid, char *ret_path, size_t size)
{
	char text[PATH_SIZE], *path;

	read_proc(tgid, "cgroup", text, sizeof(text));
	path = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!path)
		return false;
	path = strchr(path, '/');
	if (!path)
		return false;
	path[strcspn(path, "\n")] = '\0';
	snprintf(ret_path, size, "%s", strcmp(path, "/") == 0 ? "" : path);
	return true;
}

static bool is_in(const struct bpf_map *map, const void *id)
{
	uint64_t value;

	return bpf_map_lookup_elem(bpf_map__fd(map), id, &value) == 0;
}

static bool is_member(const struct bpf_map *map, uint32_t id)
{
	uint32_t state;

	return bpf_map_lookup_elem(bpf_map__fd(map), &id, &state) == 0 && state == WIRE_MEMBER;
}

/* Whether the filters by cgroup want the process; gives its cgroup. */
static bool cgroup_is_wanted(const struct search *search, struct process *process)
{
	const struct plan_filter *filter = &search->plan->filter;
	bool chosen = cgroup_filter_is_given(&filter->groups);
	char path[PATH_SIZE], whole[2 * PATH_SIZE];
	struct stat status;

	if (!search->plan->per_cgroup && !chosen && !filter->cgroupmap)
		return true;
	if (!search->mount || !cgroup_path(process->tgid, path, sizeof(path)))
		return !chosen && !filter->cgroupmap;
	snprintf(whole, sizeof(whole), "%s%s", search->mount, path);
	if (stat(whole, &status) == 0) /* the inode is the id */
		process->cgroup = status.st_ino;
	return (!chosen || is_in(search->skeleton->maps.cgroups, &process->cgroup)) &&
	       (!filter->cgroupmap || is_in(search->skeleton->maps.cgroupmap, &process->cgroup));
}

static bool mount_namespace_is_wanted(const struct search *search, uint32_t tgid)
{
	struct stat status;
	char path[64];
	uint64_t id;

	if (!search->plan->filter.mntnsmap)
		return true;
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", tgid);
	if (stat(path, &status) < 0)
		return false;
	id = status.st_ino;
	return is_in(search->skeleton->maps.mntnsmap, &id);
}

/* Ourselves and our helpers. */
static bool is_own(uint32_t tgid)
{
	char text[1024], *end;
	int parent;

	if (tgid == (uint32_t)getpid())
		return true;
	read_proc(tgid, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

static bool user_is_wanted(const struct search *search, uint32_t tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	return !(search->flags & WIRE_FILTER_USER) ||
	       (stat(path, &status) == 0 && status.st_uid == search->skeleton->rodata->config.user);
}

static bool process_is_wanted(const struct search *search, struct process *process)
{
	if (search->flags & WIRE_NOT_SELF && is_own(process->tgid))
		return false;
	if (search->flags & WIRE_FILTER_TGID &&
	    !is_member(search->skeleton->maps.tgids, process->tgid))
		return false;
	if (search->flags & WIRE_FILTER_EXE &&
	    !is_member(search->skeleton->maps.executing, process->tgid))
		return false;
	return user_is_wanted(search, process->tgid) &&
	       mount_namespace_is_wanted(search, process->tgid) &&
	       cgroup_is_wanted(search, process);
}

/*
 * By the thread's `stat`: "TID (COMM) STATE ...". The comm may have any characters, even ") ". Not
 * by /proc/TID/stat, for which the kernel adds up the times of all threads of the process.
 */
static bool read_state(uint32_t tid, struct found_thread *ret_thread)
{
	char text[1024], name[40], *comm, *end;
	size_t size;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	read_proc(tid, name, text, sizeof(text));
	comm = strchr(text, '(');
	end = strrchr(text, ')');
	if (!comm || !end || end < comm || sscanf(end + 1, " %c", &ret_thread->state) != 1)
		return false;
	size = (size_t)(end - comm - 1);
	if (size > sizeof(ret_thread->comm) - 1)
		size = sizeof(ret_thread->comm) - 1;
	memcpy(ret_thread->comm, comm + 1, size);
	return true;
}

static bool read_times(uint32_t tid, struct found_thread *ret_thread)
{
	unsigned long long ran = 0, turns = 0;
	char text[128];

	read_proc(tid, "schedstat", text, sizeof(text));
	if (sscanf(text, "%llu %*u %llu", &ran, &turns) != 2)
		return false;
	ret_thread->tid = tid;
	ret_thread->ran = ran;
	ret_thread->turns = turns;
	return true;
}

bool threads_read(uint32_t tid, struct found_thread *ret_thread)
{
	return read_state(tid, ret_thread) && read_times(tid, ret_thread);
}

bool threads_has_run(const struct found_thread *thread)
{
	struct found_thread now;

	return !read_times(thread->tid, &now) || now.ran != thread->ran ||
	       now.turns != thread->turns;
}

static int visit_thread(const struct search *search, const struct process *process, uint32_t tid)
{
	struct found_thread thread = { .tgid = process->tgid };

	if (search->flags & WIRE_FILTER_TID && !is_member(search->skeleton->maps.tids, tid))
		return 0;
	if (!threads_read(tid, &thread))
		return 0;
	thread.cgroup = search->plan->per_cgroup ? process->cgroup : 0;
	return search->each(search->context, &thread);
}

/* Calls `each` for the threads of processes until it returns false; returns what it did last. */
static bool each_of(const struct id_list *tgids, bool (*each)(uint32_t tid, uint64_t *turns),
		    uint64_t *turns)
{
	bool goes_on = true;

	for (uint32_t i = 0; goes_on && i < tgids->n; i++) {
		own(own_directory) DIR *tasks = NULL;
		struct dirent *entry;
		char path[64];

		snprintf(path, sizeof(path), "/proc/%u/task", tgids->ids[i]);
		tasks = opendir(path);
		while (goes_on && tasks && (entry = readdir(tasks)))
			goes_on = entry->d_name[0] == '.' ||
				  each((uint32_t)atoi(entry->d_name), turns);
	}
	return goes_on;
}

static bool add_turns(uint32_t tid, uint64_t *turns)
{
	struct found_thread thread;

	if (read_times(tid, &thread))
		*turns += thread.turns;
	return true;
}

static bool sleeps(uint32_t tid, uint64_t *turns)
{
	struct found_thread thread;

	if (!threads_read(tid, &thread))
		return true; /* it is gone */
	*turns += thread.turns;
	return thread.turns && thread.state != 'R';
}

bool threads_all_sleep(const struct id_list *tgids, uint64_t *ret_turns)
{
	*ret_turns = 0;
	return each_of(tgids, sleeps, ret_turns);
}

uint64_t threads_turns(const struct id_list *tgids)
{
	uint64_t turns = 0;

	each_of(tgids, add_turns, &turns);
	return turns;
}

static int visit_process(const struct search *search, uint32_t tgid)
{
	struct process process = { .tgid = tgid };
	own(own_directory) DIR *tasks = NULL;
	struct dirent *entry;
	char path[64];
	int r = 0;

	if (!process_is_wanted(search, &process))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	tasks = opendir(path);
	while (r == 0 && tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			r = visit_thread(search, &process, (uint32_t)atoi(entry->d_name));
	return r;
}

int threads_each(const struct plan *plan, const struct stacktally *skeleton,
		 int (*each)(void *context, const struct found_thread *thread), void *context)
{
	own(own_free) char *mount = cgroups_mount_point();
	own(own_directory) DIR *proc = opendir("/proc");
	const struct search search = { .plan = plan,
				       .skeleton = skeleton,
				       .flags = skeleton->rodata->config.flags,
				       .mount = mount,
				       .each = each,
				       .context = context };
	struct dirent *entry;
	int r = 0;

	if (!proc)
		return -errno;
	while (r == 0 && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			r = visit_process(&search, (uint32_t)atoi(entry->d_name));
	return r;
}

uint32_t threads_count(void)
{
	own(own_file) FILE *file = fopen("/proc/loadavg", "re");
	uint32_t n;

	return file && fscanf(file, "%*f %*f %*f %*u/%u", &n) == 1 ? n : 0;
}
