/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Which tasks are counted: by process, thread, executed file, user, cgroup, mount namespace and
 * CPU. Ids are those of the pid namespace that user space is in. User space fills the maps
 * (loader/filters.c).
 */
#ifndef STACKTALLY_BPF_FILTER_BPF_H
#define STACKTALLY_BPF_FILTER_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/variables.bpf.h"
#include "bpf/wire.h"

#define MAX_PIDNS_LEVEL 33 /* MAX_PID_NS_LEVEL + 1 */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32); /* enum wire_member */
} tgids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32);
} tids SEC(".maps");

/* Whether each CPU counts: not 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32);
} filter_cpus SEC(".maps");

/* The processes that execute the chosen file: enum wire_member. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32);
} executing SEC(".maps");

/* The ids of the chosen cgroups and of all below them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);
	__type(value, __u32);
} cgroups SEC(".maps");

/* --cgroupmap and --mntnsmap replace these two by the pinned maps they name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} cgroupmap SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} mntnsmap SEC(".maps");

/* The id of a pid in our pid namespace; 0 if it has none there. */
static __always_inline __u32 number_in_namespace(const struct pid *pid)
{
	unsigned int level = BPF_CORE_READ(pid, level);
	/* A flexible array of level + 1 elements, whose size CO-RE relocates. */
	const struct upid *numbers = (const void *)pid + bpf_core_field_offset(pid->numbers);
	__u32 stride = bpf_core_type_size(struct upid);

	for (unsigned int i = 0; i < MAX_PIDNS_LEVEL; i++) {
		const struct upid *upid = (const void *)numbers + i * stride;

		if (i > level)
			break;
		if (BPF_CORE_READ(upid, ns, ns.inum) == config.pidns_inum)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

static __always_inline __u32 task_tgid(const struct task_struct *task)
{
	if (!config_has(WIRE_OWN_PIDNS))
		return BPF_CORE_READ(task, tgid);
	return number_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
}

/* The ids of the current task in our pid namespace. */
static __always_inline void current_ids(const struct task_struct *task, __u32 *ret_tgid,
					__u32 *ret_tid)
{
	__u64 ids = bpf_get_current_pid_tgid();

	*ret_tgid = ids >> 32;
	*ret_tid = (__u32)ids;
	if (config_has(WIRE_OWN_PIDNS)) {
		*ret_tgid = task_tgid(task);
		*ret_tid = number_in_namespace(BPF_CORE_READ(task, thread_pid));
	}
}

static __always_inline bool is_member(void *map, __u32 id)
{
	__u32 *state = bpf_map_lookup_elem(map, &id);

	return state && *state == WIRE_MEMBER;
}

/* Whether the task is of the process that measures, or of one that it has started to help it. */
static __always_inline bool is_own(const struct task_struct *task, __u32 tgid)
{
	if (tgid != config.self && task_tgid(BPF_CORE_READ(task, real_parent)) != config.self)
		return false;
	__sync_fetch_and_add(&own_events, 1);
	return true;
}

static __always_inline bool cpu_is_wanted(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	const __u32 *wanted = bpf_map_lookup_elem(&filter_cpus, &cpu);

	return wanted && *wanted;
}

/* Whether events of the current task are counted. */
static __always_inline bool wanted(const struct task_struct *task, __u32 tgid, __u32 tid)
{
	__u64 id;

	if (config_has(WIRE_FILTER_CPU) && !cpu_is_wanted())
		return false;
	/* Idle tasks have tid 0; so has, here, a task outside of our pid namespace. */
	if (!config_has(WIRE_IDLE) && tid == 0 && (__u32)bpf_get_current_pid_tgid() == 0)
		return false;
	if (config_has(WIRE_FILTER_USER) && (__u32)bpf_get_current_uid_gid() != config.user)
		return false;
	if (config_has(WIRE_FILTER_TGID) && !is_member(&tgids, tgid))
		return false;
	if (config_has(WIRE_FILTER_EXE) && !is_member(&executing, tgid))
		return false;
	if (config_has(WIRE_FILTER_TID) && !is_member(&tids, tid))
		return false;
	if (config_has(WIRE_FILTER_CGROUP)) {
		id = bpf_get_current_cgroup_id();
		if (!bpf_map_lookup_elem(&cgroups, &id))
			return false;
	}
	if (config_has(WIRE_FILTER_CGROUPMAP)) {
		id = bpf_get_current_cgroup_id();
		if (!bpf_map_lookup_elem(&cgroupmap, &id))
			return false;
	}
	if (config_has(WIRE_FILTER_MNTNSMAP)) {
		id = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
		if (!bpf_map_lookup_elem(&mntnsmap, &id))
			return false;
	}
	return !config_has(WIRE_NOT_SELF) || !is_own(task, tgid);
}

#endif
