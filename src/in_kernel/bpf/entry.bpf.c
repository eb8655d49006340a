// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The programs of the kernel side.
 *
 * Architecture: each trigger has an entry (bpf/triggers.bpf.h), and all of them call the same
 * inlined capture() (bpf/capture.bpf.h). No program loads by itself ("?"): the trigger names the
 * one it needs, and the session adds those here, which follow processes. So the verifier checks
 * only what is used.
 *
 * raw_tp/sched_wakeup       a blocked thread is ready to run (bpf/off_cpu.bpf.h)
 * raw_tp/sched_wakeup_new   a new thread is
 * iter/task                 the threads that sleep when a measurement begins
 * on_allocate_..., on_free_...  memory is allocated and freed (bpf/blocks.bpf.h)
 * on_user_return, on_kernel_return  a call that is timed returns (bpf/calls.bpf.h)
 * raw_tp/sched_process_exit, ..._exec  a thread ends, or begins another program, maybe in such a
 *                           call
 * raw_tp                    counts the events of a tracepoint that perf's program does not see
 * raw_tp/sched_process_fork the child is walked by its parent's mappings at once; follows a
 *                           process's children where that was asked for
 * raw_tp/sched_process_exec the old program's mappings are forgotten; a launched command is counted
 *                           from here on
 * raw_tp/sched_process_free the process is forgotten. After sched_process_exit it still runs, for
 *                           as long as it takes to free its memory. Within a pid namespace that
 *                           one has to do: a process that is freed has no id there any more.
 * raw_tp/cgroup_mkdir       a cgroup below a chosen one is chosen
 * raw_tp/cgroup_rmdir       it is forgotten
 */
#include <linux/mman.h>

#include "bpf/blocks.bpf.h"
#include "bpf/triggers.bpf.h"

/* TP_PROTO(struct task_struct *p) */
SEC("?raw_tp/sched_wakeup")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	return on_ready((void *)ctx->args[0]);
}

/* TP_PROTO(struct task_struct *p) */
SEC("?raw_tp/sched_wakeup_new")
int on_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
	return on_new((void *)ctx->args[0]);
}

/* Each thread, when the measurement has begun. */
SEC("?iter/task")
int on_sleeper(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task ? write_sleeper(ctx->meta->seq, task) : 0;
}

/* The tail call never happens: see on_event(). */
SEC("?kprobe")
int on_user_return(struct pt_regs *ctx)
{
	if (config.user_depth == 0)
		bpf_tail_call(ctx, &interpreted, 0);
	return on_return(ctx, HIT_USER);
}

SEC("?kprobe")
int on_kernel_return(struct pt_regs *ctx)
{
	return on_return(ctx, HIT_KERNEL);
}

/*
 * The arguments of functions that allocate memory: their names say which argument is the size, and
 * which the block that is moved, or where the address will be. Of user probes, like the others.
 */
#define ALLOCATES(name, ...)                                                                       \
	SEC("?kprobe")                                                                             \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		const struct wire_allocation asked = { .sp = PT_REGS_SP(ctx), __VA_ARGS__ };       \
                                                                                                   \
		if (config.user_depth == 0)                                                        \
			bpf_tail_call(ctx, &interpreted, 0);                                       \
		return on_allocate(&asked);                                                        \
	}

ALLOCATES(on_allocate_1, .size = PT_REGS_PARM1(ctx))
ALLOCATES(on_allocate_2, .size = PT_REGS_PARM2(ctx))
ALLOCATES(on_allocate_1x2, .size = product_of(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)))
ALLOCATES(on_allocate_3_to_1, .size = PT_REGS_PARM3(ctx), .out = PT_REGS_PARM1(ctx))
ALLOCATES(on_move_1_2, .size = PT_REGS_PARM2(ctx), .moved = PT_REGS_PARM1(ctx))
ALLOCATES(on_move_1_2x3, .size = product_of(PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx)),
	  .moved = PT_REGS_PARM1(ctx))
ALLOCATES(on_map_2, .size = PT_REGS_PARM2(ctx), .mapping = true,
	  .fixed = (PT_REGS_PARM4(ctx) & MAP_FIXED) != 0)
ALLOCATES(on_map_move_1_3, .size = PT_REGS_PARM3(ctx), .moved = PT_REGS_PARM1(ctx),
	  .pages = PT_REGS_PARM4(ctx) & MREMAP_DONTUNMAP ? 0 : PT_REGS_PARM2(ctx), .mapping = true,
	  .fixed = (PT_REGS_PARM4(ctx) & MREMAP_FIXED) != 0)

SEC("?kprobe")
int on_allocated(struct pt_regs *ctx)
{
	if (config.user_depth == 0)
		bpf_tail_call(ctx, &interpreted, 0);
	return on_allocation_return(ctx);
}

#define FREES(name, on_freed)                                                                      \
	SEC("?kprobe")                                                                             \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		if (config.user_depth == 0)                                                        \
			bpf_tail_call(ctx, &interpreted, 0);                                       \
		return on_freed(ctx);                                                              \
	}

FREES(on_free_1, on_block_freed)
FREES(on_unmap_1_2, on_block_unmapped)

/* TP_PROTO(struct task_struct *p), of a thread that may be in an allocation */
SEC("?raw_tp/sched_process_exit")
int on_allocator_exit(struct bpf_raw_tracepoint_args *ctx)
{
	(void)ctx;
	allocation_gone((__u32)bpf_get_current_pid_tgid());
	return 0;
}

/* The thread takes the number of its process. TP_PROTO(struct task_struct *p, pid_t old_pid, ...)
 */
SEC("?raw_tp/sched_process_exec")
int on_allocator_exec(struct bpf_raw_tracepoint_args *ctx)
{
	allocation_gone((__u32)bpf_get_current_pid_tgid());
	allocation_gone((__u32)ctx->args[1]);
	return 0;
}

/* TP_PROTO(struct task_struct *p), its own */
SEC("?raw_tp/sched_process_exit")
int on_caller_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];

	call_gone((__u32)bpf_get_current_pid_tgid());
	call_gone((__u64)BPF_CORE_READ(task, stack) / ARCH_STACK_SIZE);
	return 0;
}

/* The thread takes the number of its process. TP_PROTO(struct task_struct *p, pid_t old_pid, ...)
 */
SEC("?raw_tp/sched_process_exec")
int on_caller_exec(struct bpf_raw_tracepoint_args *ctx)
{
	call_gone((__u32)bpf_get_current_pid_tgid());
	call_gone((__u32)ctx->args[1]);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_refusals);
} refusals SEC(".maps");

/*
 * The kernel runs programs of raw tracepoints also where it refuses perf's. Older kernels have no
 * BTF of variables, by which a program could read this one more easily.
 */
SEC("?raw_tp")
int on_refusal(void *ctx)
{
	__u32 zero = 0, active = 0;
	struct wire_refusals *refused = bpf_map_lookup_elem(&refusals, &zero);
	__u64 cpu = bpf_get_smp_processor_id(), base = 0;

	(void)ctx;
	if (refused && refused->offsets &&
	    bpf_probe_read_kernel(&base, sizeof(base), (void *)(refused->offsets + cpu * 8)) == 0 &&
	    bpf_probe_read_kernel(&active, sizeof(active), (void *)(base + refused->variable)) ==
		    0 &&
	    active)
		__sync_fetch_and_add(&refused->count, 1);
	return 0;
}

/* Adds a process to those that are counted. */
static __always_inline void follow(void *map, __u32 tgid)
{
	__u32 state = WIRE_MEMBER, zero = 0;
	struct wire_counters *counter;

	if (bpf_map_update_elem(map, &tgid, &state, BPF_ANY) == 0)
		return;
	counter = bpf_map_lookup_elem(&counters, &zero);
	if (counter)
		__sync_fetch_and_add(&counter->lost_children, 1);
}

/*
 * A child has its parent's mappings, so it can be walked at once. User space hears of it later.
 * TP_PROTO(struct task_struct *parent, struct task_struct *child)
 */
SEC("?raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (void *)ctx->args[0];
	const struct task_struct *child = (void *)ctx->args[1];
	__u32 from = task_tgid(parent), to = task_tgid(child);
	struct wire_process *process;

	if (from == to)
		return 0;
	if (config_has(WIRE_FOLLOW_FORKS) && is_member(&tgids, from))
		follow(&tgids, to);
	if (by_tables()) {
		process = bpf_map_lookup_elem(&unwind_processes, &from);
		if (process) {
			bpf_map_update_elem(&unwind_processes, &to, process, BPF_ANY);
			unwind_changed();
		}
	}
	return 0;
}

static __always_inline void forget_process(__u32 tgid)
{
	if (bpf_map_delete_elem(&unwind_processes, &tgid) == 0)
		unwind_changed();
}

/*
 * The old program's mappings are gone, and its addresses mean something else now.
 * TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
 */
SEC("?raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = task_tgid((void *)ctx->args[0]);
	__u32 *state = bpf_map_lookup_elem(&tgids, &tgid);

	if (state && *state == WIRE_MEMBER_ON_EXEC)
		*state = WIRE_MEMBER;
	if (by_tables())
		forget_process(tgid);
	return 0;
}

/* Whether the thread that ends is the last one of its process. */
static __always_inline bool is_end(const struct task_struct *task, __u32 tgid)
{
	return config_has(WIRE_OWN_PIDNS) ? BPF_CORE_READ(task, signal, live.counter) == 0
					  : (__u32)BPF_CORE_READ(task, pid) == tgid;
}

/*
 * The id of a process may be reused.
 * TP_PROTO(struct task_struct *p)
 */
SEC("?raw_tp/sched_process_free")
int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = task_tgid(task);

	if (!is_end(task, tgid))
		return 0;
	if (config_has(WIRE_FOLLOW_FORKS))
		bpf_map_delete_elem(&tgids, &tgid);
	if (by_tables())
		forget_process(tgid);
	return 0;
}

/* ---- --exe ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_exe);
} exe SEC(".maps");

static __always_inline bool is_path(const char *path, const char *wanted)
{
	for (int i = 0; i < WIRE_EXE_PATH_SIZE; i++) {
		if (path[i] != wanted[i])
			return false;
		if (!path[i])
			return i > 0;
	}
	return false;
}

/* By the file, or by the path: the file there may be another one now. */
static __always_inline bool executes(const struct linux_binprm *program,
				     const struct wire_exe *wanted)
{
	const struct file *file = BPF_CORE_READ(program, file);
	__u64 inode = BPF_CORE_READ(file, f_inode, i_ino);
	__u64 device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	const char *name = BPF_CORE_READ(program, filename);
	char path[WIRE_EXE_PATH_SIZE];

	for (int i = 0; i < WIRE_EXE_FILES; i++)
		if (inode && wanted->files[i].inode == inode && wanted->files[i].device == device)
			return true;
	/* What a script is executed by has another name. */
	if (BPF_CORE_READ(program, interp) != name ||
	    bpf_probe_read_kernel_str(path, sizeof(path), name) <= 0)
		return false;
	return is_path(path, wanted->paths[0]) || is_path(path, wanted->paths[1]);
}

static __always_inline void follow_exec(__u32 tgid, const struct linux_binprm *program)
{
	__u32 zero = 0;
	const struct wire_exe *wanted = bpf_map_lookup_elem(&exe, &zero);

	if (wanted && executes(program, wanted))
		follow(&executing, tgid);
	else
		bpf_map_delete_elem(&executing, &tgid);
}

SEC("?raw_tp/sched_process_fork")
int on_exe_fork(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 from = task_tgid((void *)ctx->args[0]), to = task_tgid((void *)ctx->args[1]);

	if (from != to && is_member(&executing, from))
		follow(&executing, to);
	return 0;
}

SEC("?raw_tp/sched_process_exec")
int on_exe_exec(struct bpf_raw_tracepoint_args *ctx)
{
	follow_exec(task_tgid((void *)ctx->args[0]), (void *)ctx->args[2]);
	return 0;
}

SEC("?raw_tp/sched_process_free")
int on_exe_end(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = task_tgid(task);

	if (is_end(task, tgid))
		bpf_map_delete_elem(&executing, &tgid);
	return 0;
}

/*
 * How often cgroups were made or removed, and how many of the chosen had no room in `cgroups`. They
 * are in a section of their own, as only this object has them (bpf/variables.bpf.h).
 */
__u64 cgroup_changes SEC(".data.groups") = 0;
__u64 cgroups_lost SEC(".data.groups") = 0;

/* The ids of other hierarchies than that of version 2 are numbers of their own. */
static __always_inline bool is_version_2(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
}

/*
 * What user space chooses by a name, it finds soon; below that, nothing may be missed.
 * TP_PROTO(struct cgroup *cgrp, const char *path)
 */
SEC("?raw_tp/cgroup_mkdir")
int on_cgroup_made(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *cgroup = (void *)ctx->args[0];
	__u64 id = BPF_CORE_READ(cgroup, kn, id);
	__u64 above = BPF_CORE_READ(cgroup, self.parent, cgroup, kn, id);
	__u32 chosen = 1;

	if (!is_version_2(cgroup))
		return 0;
	if (bpf_map_lookup_elem(&cgroups, &above) &&
	    bpf_map_update_elem(&cgroups, &id, &chosen, BPF_ANY) < 0)
		__sync_fetch_and_add(&cgroups_lost, 1);
	__sync_fetch_and_add(&cgroup_changes, 1);
	return 0;
}

SEC("?raw_tp/cgroup_rmdir")
int on_cgroup_removed(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *cgroup = (void *)ctx->args[0];
	__u64 id = BPF_CORE_READ(cgroup, kn, id);

	if (!is_version_2(cgroup))
		return 0;
	bpf_map_delete_elem(&cgroups, &id);
	__sync_fetch_and_add(&cgroup_changes, 1);
	return 0;
}
