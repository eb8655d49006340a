/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Capture: filter the event, walk the stacks it fired on, count them (bpf/count.bpf.h).
 */
#ifndef STACKTALLY_BPF_CAPTURE_BPF_H
#define STACKTALLY_BPF_CAPTURE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/count.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/kernel_walk.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind.bpf.h"
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

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} cgroup SEC(".maps");

/* The pinned maps of --cgroupmap and --mntnsmap take the places of these. */
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

/*
 * Events count. Attaching thousands of probes takes a while, and so does detaching them: this
 * makes both ends of the measurement sharp.
 */
volatile __u32 armed;

/* The number of a pid in our pid namespace, or 0 when it has none there. */
static __always_inline __u32 number_in_namespace(const struct pid *pid)
{
	unsigned int level = BPF_CORE_READ(pid, level);
	/* numbers[] is a flexible array: its stride is known to CO-RE, its length is level + 1 */
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

/* The ids of the current task as the user sees them: tid << 32 | tgid. */
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

static __always_inline bool wanted(const struct task_struct *task, __u32 tgid, __u32 tid)
{
	__u64 id;

	if (config_has(WIRE_FILTER_CPU) && bpf_get_smp_processor_id() != config.cpu)
		return false;
	/* Every CPU's idle task is 0, and so is `tid` of who is not in our pid namespace. */
	if (!config_has(WIRE_IDLE) && tid == 0 && (__u32)bpf_get_current_pid_tgid() == 0)
		return false;
	if (config_has(WIRE_FILTER_TGID) && !is_member(&tgids, tgid))
		return false;
	if (config_has(WIRE_FILTER_TID) && !is_member(&tids, tid))
		return false;
	if (config_has(WIRE_FILTER_CGROUP) && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
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
	return true;
}

/*
 * A mark of the address space: its upper half changes when that does (exec), all of it when
 * executable memory is mapped or unmapped (dlopen, dlclose, a JIT's arenas, the first user probe).
 * 0 for kernel threads. Seeded: no kernel pointer leaves.
 */
static __always_inline __u64 image_cookie(const struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 space, state;

	if (!mm)
		return 0;
	space = ((__u64)(unsigned long)mm ^ config.seed[0]) * 0x9fb21c651e98df25ull;
	space ^= space >> 32;
	state = (space ^ BPF_CORE_READ(mm, exec_vm)) * 0xd6e8feb86659fd93ull;
	return (space << 32) | (state >> 32);
}

/* The bytes of a word before the first that is 0, and then 0. */
static __always_inline __u64 until_nul(__u64 word)
{
	__u64 nuls = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;

	/* The lowest mark is of a 0; one above it need not be. */
	return nuls ? word & (((nuls & -nuls) >> 7) - 1) : word;
}

/*
 * The name of the task. What is behind its end is cleared: older kernels leave there what it was
 * called before. bpf_get_current_comm() does the same in three times the time.
 */
static __always_inline void current_comm(const struct task_struct *task, char *ret_comm)
{
	__u64 words[WIRE_COMM_SIZE / sizeof(__u64)] = { 0 }, *to = (void *)ret_comm;

	_Static_assert(sizeof(words) == sizeof(task->comm), "a name is two words");
	bpf_core_read(words, sizeof(words), &task->comm);
	to[0] = until_nul(words[0]);
	to[1] = to[0] >> 56 ? until_nul(words[1]) : 0;
}

/* Bytes that a stack helper wrote, for the verifier in the range [0, 8 * WIRE_MAX_DEPTH]. */
static __always_inline __u64 bytes_of(long written)
{
	__u64 bytes = written;

	if (written < 0)
		return 0;
	if (bytes > WIRE_MAX_DEPTH * sizeof(__u64))
		bytes = WIRE_MAX_DEPTH * sizeof(__u64);
	return bytes;
}

/*
 * Whether bpf_get_stack() itself puts in the caller: it does since cfa7f3d2c526 (Linux 6.12), on
 * x86, where the probe is on `push %rbp` or `endbr`. Whether the caller is there twice does not
 * tell: in a recursion it is.
 */
static __always_inline bool kernel_adds_caller(void)
{
#ifdef __TARGET_ARCH_x86
	struct task_struct *task = (void *)bpf_get_current_task();
	struct arch_uprobe *probe = NULL;
	struct uprobe_task *utask = NULL;
	__u32 code = 0;

	if (!bpf_core_field_exists(utask->auprobe))
		return false;
	bpf_core_read(&utask, sizeof(utask), &task->utask);
	bpf_core_read(&probe, sizeof(probe), &utask->auprobe);
	bpf_core_read(&code, sizeof(code), &probe->insn);
	return (code & 0xff) == 0x55 || (code & ~0x01000000u) == 0xfa1e0ff3;
#else
	return false;
#endif
}

/*
 * The stack of a probe at the entry of a user function. It has no frame of its own yet, so the
 * frame pointer leads to the caller's caller: the function itself and its caller come first.
 */
static __always_inline long user_entry_stack(void *ctx, __u64 *frames, __u32 size)
{
	const struct pt_regs *regs = ctx;
	long n;

	frames[0] = PT_REGS_IP(regs);
	if (size < 2 * sizeof(__u64) ||
	    bpf_probe_read_user(&frames[1], sizeof(frames[1]), (void *)PT_REGS_SP(regs)))
		return sizeof(__u64);
	if (size == 2 * sizeof(__u64))
		return size;
	n = bpf_get_stack(ctx, &frames[2], size - 2 * sizeof(__u64), BPF_F_USER_STACK | 1);
	return n < 0 ? 2 * sizeof(__u64) : n + 2 * sizeof(__u64);
}

/* What an event hit, and with that what its context holds. */
enum hit {
	HIT_KERNEL, /* the kernel: user registers are where it saved them */
	HIT_USER,   /* user code, whose registers are the context's: there is no kernel stack */
};

/* The user stack by frame pointers. */
static __always_inline void frame_pointer_user(void *ctx, enum hit hit,
					       const struct task_struct *task, struct scratch *slot,
					       __u32 number, __u64 kernel, __u32 size)
{
	__u64 *frames = (void *)slot->frames + kernel;
	__u64 user;

	if (!slot->stack.image) /* a kernel thread */
		return;
	if (!chain_user(ctx, hit != HIT_KERNEL, config_has(WIRE_USER_ENTRY), task, slot, number,
			kernel / sizeof(__u64))) {
		if (config_has(WIRE_USER_ENTRY) && !kernel_adds_caller())
			user = bytes_of(user_entry_stack(ctx, frames, size));
		else
			user = bytes_of(bpf_get_stack(ctx, frames, size, BPF_F_USER_STACK));
		slot->stack.n_user = user / sizeof(__u64);
	}
	if (slot->stack.n_user == config.user_depth)
		slot->stack.flags |= WIRE_STACK_USER_CUT;
	slot->stack.end = slot->stack.n_user == config.user_depth ? WIRE_END_DEPTH
			  : slot->stack.n_user			  ? WIRE_END_FRAME_POINTER
								  : WIRE_END_NONE;
}

/* Few kernel stacks are deeper, and what is asked for and not used, the helper clears. */
#define KERNEL_USUAL_DEPTH 48

static __always_inline __u64 kernel_symbols_stack(void *ctx, struct scratch *slot)
{
	__u32 size = config.kernel_depth * sizeof(__u64);
	__u32 usual = KERNEL_USUAL_DEPTH * sizeof(__u64);
	__u64 kernel;

	if (size > usual) {
		kernel = bytes_of(bpf_get_stack(ctx, slot->frames, usual, 0));
		/* One state for the verifier, with that of the deeper ones. */
		UNWIND_OPAQUE(kernel);
		if (kernel < usual)
			return bytes_of(kernel);
	}
	return bytes_of(bpf_get_stack(ctx, slot->frames, size, 0));
}

static __always_inline __u64 kernel_stack(void *ctx, enum source source, struct scratch *slot,
					  __u32 number)
{
	__u64 kernel = bytes_of((long)kernel_walk(ctx, source, slot, number) * sizeof(__u64));

	UNWIND_OPAQUE(kernel);
	kernel = bytes_of(kernel);
	if (kernel == 0)
		kernel = kernel_symbols_stack(ctx, slot);
	if (kernel == config.kernel_depth * sizeof(__u64))
		slot->stack.flags |= WIRE_STACK_KERNEL_CUT;
	return kernel;
}

/* Fills in the frames, kernel then user; returns the number of words from `image` on. */
static __always_inline __u32 walk(void *ctx, const struct task_struct *task, struct scratch *slot,
				  __u32 number, enum hit hit, enum source source)
{
	__u32 size = config.user_depth * sizeof(__u64);
	__u64 kernel = 0;

	slot->stack.flags = 0;
	slot->stack.n_user = 0;
	slot->stack.end = WIRE_END_NONE;
	slot->stack.reserved2 = 0;
	if (size > WIRE_MAX_DEPTH * sizeof(__u64))
		return 0;
	if (config_has(WIRE_KERNEL) && hit == HIT_KERNEL)
		kernel = kernel_stack(ctx, source, slot, number);
	slot->stack.n_kernel = kernel / sizeof(__u64);
	if (config_has(WIRE_USER)) {
		if (config.unwind == WIRE_UNWIND_FP)
			frame_pointer_user(ctx, hit, task, slot, number, kernel, size);
		else
			unwind_user(ctx, hit != HIT_KERNEL, task, slot->stack.tgid, slot, number,
				    kernel / sizeof(__u64), source == SOURCE_CLOCK);
	}
	return HEAD_WORDS + slot->stack.n_kernel + slot->stack.n_user;
}

static __always_inline int capture(void *ctx, enum hit hit, enum source source)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct wire_counters *counter;
	struct scratch *slot;
	__u32 zero = 0, tgid, tid, words, number = 0;

	if (!armed)
		return 0;
	current_ids(task, &tgid, &tid);
	if (!wanted(task, tgid, tid))
		return 0;
	counter = bpf_map_lookup_elem(&counters, &zero);
	if (!counter)
		return 0;
	__sync_fetch_and_add(&counter->events, 1);
	slot = scratch_take(&number);
	if (!slot) {
		lose(&counter->lost_nested);
		return 0;
	}
	slot->stack.image = image_cookie(task);
	slot->stack.tgid = tgid;
	slot->stack.tid = config_has(WIRE_PER_THREAD) ? tid : 0;
	slot->stack.cgroup = config_has(WIRE_CGROUP_ID) ? bpf_get_current_cgroup_id() : 0;
	current_comm(task, slot->stack.comm);
	words = walk(ctx, task, slot, number, hit, source);
	if (config.unwind == WIRE_UNWIND_FP || !may_be_finished(slot->stack.end) ||
	    !send_unfinished(slot, counter)) {
		hash(slot, number, words);
		count(slot, counter);
	}
	scratch_release(slot);
	return 0;
}

#endif
