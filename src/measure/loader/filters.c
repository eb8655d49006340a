// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/filters.h"

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

#include "base/cpu_list.h"
#include "base/grow.h"
#include "base/own.h"
#include "containers/users.h"
#include "files/process_view.h"
#include "loader/exe_filter.h"
#include "stacktally.skel.h"

#define NODES "/sys/devices/system/node/"

/* Inode of the initial pid namespace: PROC_PID_INIT_INO of include/linux/proc_ns.h. */
#define INITIAL_PIDNS 0xEFFFFFFCu
/* Room for followed children; the programs count those beyond it (lost_children). */
#define FOLLOWED_MAX 65536u
/* Room for chosen cgroups; the programs count those beyond it (cgroups_lost). */
#define CGROUPS_MAX 16384u

static int own_pidns(struct wire_config *config, struct error *err)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) < 0)
		return error_set(err, -errno, "cannot look at /proc/self/ns/pid: %s",
				 strerror(errno));
	if (status.st_ino == INITIAL_PIDNS)
		return 0;
	config->flags |= WIRE_OWN_PIDNS;
	config->pidns_inum = (uint32_t)status.st_ino;
	return 0;
}

/* An error if none of the ids exists; those that do are measured without the others. */
static int check_ids(const struct id_list *list, const char *what, struct error *err)
{
	char path[32];

	for (uint32_t i = 0; i < list->n; i++) {
		snprintf(path, sizeof(path), "/proc/%d", list->ids[i]);
		if (list->ids[i] == 0 || access(path, F_OK) == 0)
			return 0;
	}
	return list->n ? error_set(err, -ESRCH, "no %s %d: it has ended, or never was", what,
				   list->ids[0])
		       : 0;
}

static bool is_listed(const struct cpu_list *list, int cpu)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->cpus[i] == cpu)
			return true;
	return false;
}

static int check_cpus(const struct cpu_list *cpus, struct error *err)
{
	own(cpu_list_clear) struct cpu_list online = { 0 };

	if (!cpus->n || cpu_list_read(CPU_LIST_ONLINE, &online) < 0)
		return 0;
	for (uint32_t i = 0; i < cpus->n; i++)
		if (!is_listed(&online, cpus->cpus[i]))
			return error_set(err, -ENODEV, "CPU %d is not online: see " CPU_LIST_ONLINE,
					 cpus->cpus[i]);
	return 0;
}

/* Each CPU once. */
static int add_cpus(struct cpu_list *list, const int *cpus, uint32_t n)
{
	int r = grow(&list->cpus, &list->capacity, list->n + n);

	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (!is_listed(list, cpus[i]))
			list->cpus[list->n++] = cpus[i];
	return r;
}

static int add_node(int node, struct cpu_list *list, struct error *err)
{
	own(cpu_list_clear) struct cpu_list cpus = { 0 };
	char path[64];
	int r;

	snprintf(path, sizeof(path), NODES "node%d/cpulist", node);
	r = cpu_list_read(path, &cpus);
	if (r == -ENOENT)
		return error_set(err, -ENODEV, "there is no NUMA node %d: see " NODES "online",
				 node);
	if (r == 0 && !cpus.n)
		return error_set(err, -ENODEV, "NUMA node %d has no CPUs", node);
	r = r < 0 ? r : add_cpus(list, cpus.cpus, cpus.n);
	return r < 0 ? error_set(err, r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

int filters_cpus(const struct plan_filter *filter, struct cpu_list *ret_cpus, struct error *err)
{
	own(cpu_list_clear) struct cpu_list cpus = { 0 }, nodes = { 0 };
	int r = add_cpus(&cpus, filter->cpus.ids, filter->cpus.n);

	if (r == 0 && filter->node && (cpu_list_parse(filter->node, &nodes) < 0 || !nodes.n))
		return error_usage(err, "argument --node: invalid int value: '%s'", filter->node);
	if (r < 0)
		return error_set(err, r, "out of memory");
	for (uint32_t i = 0; r == 0 && i < nodes.n; i++)
		r = add_node(nodes.cpus[i], &cpus, err);
	if (r < 0)
		return r;
	*ret_cpus = cpus;
	cpus = (struct cpu_list){ 0 };
	return 0;
}

static int choose_user(const char *name, struct wire_config *config, struct error *err)
{
	uid_t user;
	int r = users_id(name, &user);

	if (r < 0)
		return error_set(err, r, "no user %s is in /etc/passwd; --user takes an id, too",
				 name);
	config->flags |= WIRE_FILTER_USER;
	config->user = user;
	return 0;
}

static int reuse_pinned(struct bpf_map *map, const char *path, const char *option,
			uint32_t value_size, struct error *err)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	own(own_fd) int fd = bpf_obj_get(path);

	if (fd < 0)
		return error_set(err, -errno, "%s %s: no pinned BPF map there: %s", option, path,
				 strerror(errno));
	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || info.type != BPF_MAP_TYPE_HASH ||
	    info.key_size != sizeof(uint64_t) || info.value_size != value_size)
		return error_set(err, -EINVAL,
				 "%s %s: not a BPF hash map with keys of 8 and values of %u bytes "
				 "(bpftool map create %s type hash key 8 value %u entries 128 name "
				 "set)",
				 option, path, value_size, path, value_size);
	if (bpf_map__reuse_fd(map, fd) < 0)
		return error_set(err, -errno, "%s %s: cannot use the map: %s", option, path,
				 strerror(errno));
	return 0;
}

static void size_map(struct bpf_map *map, uint64_t entries)
{
	bpf_map__set_max_entries(map, (uint32_t)(entries ? entries : 1));
}

static int reuse_pinned_maps(const struct plan_filter *filter, struct stacktally *skeleton,
			     struct wire_config *config, struct error *err)
{
	int r = 0;

	if (filter->cgroupmap) {
		config->flags |= WIRE_FILTER_CGROUPMAP;
		r = reuse_pinned(skeleton->maps.cgroupmap, filter->cgroupmap, "--cgroupmap",
				 sizeof(uint64_t), err);
	}
	if (r < 0 || !filter->mntnsmap)
		return r;
	config->flags |= WIRE_FILTER_MNTNSMAP;
	return reuse_pinned(skeleton->maps.mntnsmap, filter->mntnsmap, "--mntnsmap",
			    sizeof(uint32_t), err);
}

/* Whether the whole machine is measured, where what measures would be in the way. */
static bool leaves_self_out(const struct plan *plan)
{
	const struct plan_filter *filter = &plan->filter;

	return !filter->self && !filter->tgids.n && !filter->tids.n && !filter->name &&
	       !filter->user && !filter->exe && !cgroup_filter_is_given(&filter->groups) &&
	       !filter->cgroupmap && !filter->mntnsmap && !plan->command;
}

int filters_configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, struct error *err)
{
	const struct plan_filter *filter = &plan->filter;
	bool command = plan->command;
	bool follow = filter->follow_forks || command;
	own(cpu_list_clear) struct cpu_list cpus = { 0 };
	int r = own_pidns(config, err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < filter->tgids.n; i++) {
		r = process_check_id(filter->tgids.ids[i], err);
		if (r < 0)
			return r;
	}
	r = check_ids(&filter->tgids, "process", err);
	if (r < 0)
		return r;
	r = check_ids(&filter->tids, "thread", err);
	if (r < 0)
		return r;
	r = filters_cpus(filter, &cpus, err);
	r = r < 0 ? r : check_cpus(&cpus, err);
	if (r < 0)
		return r;
	r = filter->user ? choose_user(filter->user, config, err) : 0;
	if (r < 0)
		return r;
	config->flags |= filter->include_idle ? WIRE_IDLE : 0;
	config->flags |= leaves_self_out(plan) ? WIRE_NOT_SELF : 0;
	config->self = (uint32_t)getpid();
	if (filter->tgids.n || command)
		config->flags |= WIRE_FILTER_TGID | (follow ? WIRE_FOLLOW_FORKS : 0);
	if (filter->tids.n)
		config->flags |= WIRE_FILTER_TID;
	if (cgroup_filter_is_given(&filter->groups)) {
		config->flags |= WIRE_FILTER_CGROUP;
		bpf_map__set_max_entries(skeleton->maps.cgroups, CGROUPS_MAX);
		bpf_program__set_autoload(skeleton->progs.on_cgroup_made, true);
		bpf_program__set_autoload(skeleton->progs.on_cgroup_removed, true);
	}
	if (cpus.n)
		config->flags |= WIRE_FILTER_CPU;
	size_map(skeleton->maps.filter_cpus, cpus.n ? CPU_LIST_MAX : 1);
	if (filter->exe) {
		config->flags |= WIRE_FILTER_EXE;
		bpf_program__set_autoload(skeleton->progs.on_exe_fork, true);
		bpf_program__set_autoload(skeleton->progs.on_exe_exec, true);
		bpf_program__set_autoload(skeleton->progs.on_exe_end, true);
	}
	size_map(skeleton->maps.executing, filter->exe ? FOLLOWED_MAX : 1);
	size_map(skeleton->maps.tgids, follow ? FOLLOWED_MAX + filter->tgids.n : filter->tgids.n);
	size_map(skeleton->maps.tids, filter->tids.n);
	if (follow) {
		bpf_program__set_autoload(skeleton->progs.on_fork, true);
		bpf_program__set_autoload(skeleton->progs.on_exec, true);
		bpf_program__set_autoload(skeleton->progs.on_end, true);
	}
	return reuse_pinned_maps(filter, skeleton, config, err);
}

static int fill_ids(struct bpf_map *map, const struct id_list *list, struct error *err)
{
	uint32_t state = WIRE_MEMBER;

	for (uint32_t i = 0; i < list->n; i++)
		if (bpf_map_update_elem(bpf_map__fd(map), &list->ids[i], &state, BPF_ANY) < 0)
			return error_set(err, -errno, "cannot filter by id %d: %s", list->ids[i],
					 strerror(errno));
	return 0;
}

struct process {
	pid_t pid, parent;
	bool member; /* one of the processes to measure, or a descendant */
};

/* The parent of a process by /proc/PID/stat, or 0. The comm may have any characters, even ") ". */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	own(own_fd) int fd = -1;
	const char *end;
	ssize_t n;
	int parent;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static int list_processes(struct process **ret_list, size_t *ret_n)
{
	own(own_free) struct process *list = NULL;
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0, capacity = 0;
	int r = 0;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		r = grow(&list, &capacity, n + 1);
		if (r < 0)
			break;
		list[n++] = (struct process){ .pid = atoi(entry->d_name),
					      .parent = parent_of(entry->d_name) };
	}
	closedir(proc);
	if (r < 0)
		return r;
	*ret_list = take_ptr(list);
	*ret_n = n;
	return 0;
}

/* Adds the existing descendants of the processes; later forks are followed in the kernel. */
static int fill_descendants(const struct id_list *roots, struct bpf_map *map, struct error *err)
{
	own(own_free) struct process *list = NULL;
	uint32_t state = WIRE_MEMBER;
	size_t n = 0;
	bool found = true;
	int r = list_processes(&list, &n);

	if (r < 0)
		return error_set(err, r, "cannot list /proc: %s", strerror(-r));
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < roots->n; k++)
			list[i].member |= list[i].pid == roots->ids[k];
	while (found) {
		found = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n && !list[i].member; k++)
				if (list[k].member && list[k].pid == list[i].parent)
					found = list[i].member = true;
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].member &&
		    bpf_map_update_elem(bpf_map__fd(map), &list[i].pid, &state, BPF_ANY) < 0)
			return error_set(err, -errno, "cannot follow process %d: %s", list[i].pid,
					 strerror(errno));
	return 0;
}

static int fill_cpus(const struct plan_filter *filter, struct bpf_map *map, struct error *err)
{
	own(cpu_list_clear) struct cpu_list cpus = { 0 };
	uint32_t wanted = 1;
	int r = filters_cpus(filter, &cpus, err);

	for (uint32_t i = 0; r == 0 && i < cpus.n; i++)
		if (bpf_map_update_elem(bpf_map__fd(map), &cpus.cpus[i], &wanted, BPF_ANY) < 0)
			r = error_set(err, -errno, "cannot filter by CPU %d: %s", cpus.cpus[i],
				      strerror(errno));
	return r;
}

int filters_fill(const struct plan *plan, struct stacktally *skeleton, struct error *err)
{
	const struct plan_filter *filter = &plan->filter;
	int r = fill_ids(skeleton->maps.tgids, &filter->tgids, err);

	if (r < 0)
		return r;
	r = fill_ids(skeleton->maps.tids, &filter->tids, err);
	if (r == 0)
		r = fill_cpus(filter, skeleton->maps.filter_cpus, err);
	if (r == 0 && filter->exe)
		r = exe_filter_fill(filter->exe, skeleton, err);
	if (r < 0)
		return r;
	if (filter->follow_forks && filter->tgids.n) {
		r = fill_descendants(&filter->tgids, skeleton->maps.tgids, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int filters_add_process(struct stacktally *skeleton, pid_t pid, bool on_exec, struct error *err)
{
	uint32_t state = on_exec ? WIRE_MEMBER_ON_EXEC : WIRE_MEMBER;

	if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.tgids), &pid, &state, BPF_ANY) < 0)
		return error_set(err, -errno, "cannot filter by process %d: %s", pid,
				 strerror(errno));
	return 0;
}
