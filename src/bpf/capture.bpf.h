/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Capture: filter the event, walk the stacks it fired on, count them by a hash of their content.
 * The only code that touches the maps on the way of an event.
 *
 * Counts live in an epoch, of two. User space changes the epoch, waits out a grace period, and then
 * no capture uses the old one's any more: what is read there is final, and every event is in
 * exactly one epoch. Each CPU counts by itself, in sets of three: a stack is found, or not, in one
 * line of a cache. Its frames cross through the ring when it is entered; if there is no room it is
 * not, so the next sight tries again. What has to make way for it crosses, too, with its count.
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

#include "bpf/kernel.bpf.h"
#include "bpf/kernel_walk.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/stack_hash.h"
#include "bpf/unwind.bpf.h"
#include "bpf/wire.h"

#define HEAD_WORDS	((sizeof(struct wire_stack) - WIRE_HASH_FROM) / sizeof(__u64))
#define MAX_PIDNS_LEVEL 33 /* MAX_PID_NS_LEVEL + 1 */

struct process_mark {
	__u64 world;
	__u64 tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by user space */
} ring SEC(".maps");

/* Processes whose first stack has crossed: theirs wake user space at once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct process_mark);
	__type(value, __u8);
} processes SEC(".maps");

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

/* The epoch that counts; only user space changes it. */
volatile __u32 epoch;

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
static __always_inline __u64 world_cookie(const struct task_struct *task)
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

	if (!slot->stack.world) /* a kernel thread */
		return;
	if (!chain_user(ctx, hit != HIT_KERNEL, config_has(WIRE_USER_ENTRY), task, slot, number,
			kernel / sizeof(__u64))) {
		if (config_has(WIRE_USER_ENTRY) && !kernel_adds_caller())
			user = bytes_of(user_entry_stack(ctx, frames, size));
		else
			user = bytes_of(bpf_get_stack(ctx, frames, size, BPF_F_USER_STACK));
		slot->stack.n_user = user / sizeof(__u64);
	}
	if (slot->stack.n_user == config.max_depth)
		slot->stack.flags |= WIRE_STACK_USER_CUT;
	slot->stack.end = slot->stack.n_user == config.max_depth ? WIRE_END_DEPTH
			  : slot->stack.n_user			 ? WIRE_END_FRAME_POINTER
								 : WIRE_END_NONE;
}

/* Few kernel stacks are deeper, and what is asked for and not used, the helper clears. */
#define KERNEL_USUAL_DEPTH 48

static __always_inline __u64 asked_kernel_stack(void *ctx, struct scratch *slot)
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
		kernel = asked_kernel_stack(ctx, slot);
	if (kernel == config.kernel_depth * sizeof(__u64))
		slot->stack.flags |= WIRE_STACK_KERNEL_CUT;
	return kernel;
}

/* Fills in the frames, kernel then user; returns the number of words from `world` on. */
static __always_inline __u32 walk(void *ctx, const struct task_struct *task, struct scratch *slot,
				  __u32 number, enum hit hit, enum source source)
{
	__u32 size = config.max_depth * sizeof(__u64);
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

#define HASH_WORDS 64

/*
 * Some words more into the hash of the slot's stack: from the word `from` on, up to the word `to`.
 * A function of its own for the verifier's sake, as unwind_some().
 */
__noinline int hash_some(__u32 number, __u32 from, __u32 to)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const __u64 *word;
	struct wire_hash h;
	__u64 at = from;

	UNWIND_OPAQUE(at);
	if (!slot || at > HEAD_WORDS + 2 * WIRE_MAX_DEPTH)
		return 0;
	word = (const void *)&slot->stack + WIRE_HASH_FROM + at * sizeof(__u64);
	h = slot->stack.hash;
	for (__u32 i = 0; i < HASH_WORDS; i++) {
		if (from + i >= to)
			break;
		stack_hash_word(&h, word[i]);
	}
	slot->stack.hash = h;
	return 0;
}

static __always_inline void hash(struct scratch *slot, __u32 number, __u32 words)
{
	struct wire_hash h = { config.seed[0], config.seed[1] };
	__u32 most = HEAD_WORDS + config.kernel_depth + config.max_depth;

	slot->stack.hash = h;
	for (__u32 i = 0; i < HEAD_WORDS + 2 * WIRE_MAX_DEPTH; i += HASH_WORDS) {
		if (i >= most || i >= words)
			break;
		hash_some(number, i, words);
	}
	h = slot->stack.hash;
	stack_hash_finish(&h);
	slot->stack.hash = h;
}

static __always_inline bool first_of_process(const struct scratch *slot)
{
	struct process_mark mark = { .world = slot->stack.world, .tgid = slot->stack.tgid };
	__u8 seen = 1;

	/* A kernel thread is nobody to hear of; of who has a layout, user space has heard. */
	if (!slot->stack.world || (by_tables() && slot->walk.layout))
		return false;
	if (bpf_map_lookup_elem(&processes, &mark))
		return false;
	bpf_map_update_elem(&processes, &mark, &seen, BPF_ANY);
	return true;
}

/* Sends a stack. Returns false when there is no room. */
static __always_inline bool send(struct scratch *slot, enum wire_kind kind)
{
	/*
	 * From memory, not from what walk() returned: hash() has bounded that by its loop's
	 * counter, and the verifier would go on from here once for each number of frames.
	 */
	__u64 size = sizeof(slot->stack) +
		     ((__u64)slot->stack.n_kernel + slot->stack.n_user) * sizeof(__u64);
	__u64 wake = BPF_RB_NO_WAKEUP;

	if (size > sizeof(slot->stack) + sizeof(slot->frames))
		return false;
	/* User space comes by on its own; it is woken for what cannot wait. */
	if (first_of_process(slot) || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wake_at)
		wake = BPF_RB_FORCE_WAKEUP;
	slot->stack.kind = kind;
	slot->stack.time = bpf_ktime_get_ns();
	return bpf_ringbuf_output(&ring, &slot->stack, size, wake) == 0;
}

static __always_inline void lose(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/*
 * Sends a stack whose walk user space may end. False when there is no room, or it is too much;
 * then it is counted as it ended.
 */
static __always_inline bool send_unfinished(struct scratch *slot, struct wire_counters *counter)
{
	__u32 words = (__u32)slot->stack.n_kernel + slot->stack.n_user;
	__u32 rest;
	__u64 size;

	/* The other half of the ring is for stacks that are whole: they cost less and say more. */
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > 2ull * config.wake_at ||
	    !rest_is_affordable(slot)) {
		lose(&counter->withheld);
		return false;
	}
	rest = rest_append(slot, words);
	if (rest == 0)
		return false;
	size = sizeof(slot->stack) + (__u64)words * sizeof(__u64) + rest;
	UNWIND_OPAQUE(size);
	if (size > sizeof(slot->stack) + sizeof(slot->frames))
		return false;
	slot->stack.kind = WIRE_KIND_UNFINISHED;
	slot->stack.epoch = epoch;
	slot->stack.time = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&ring, &slot->stack, size, BPF_RB_FORCE_WAKEUP))
		return false;
	__sync_fetch_and_add(&counter->unfinished, 1);
	return true;
}

/* One capture at a time is at the sets of a CPU. */
static __always_inline bool sets_take(struct wire_counters *counter)
{
	if (config.slots == 1)
		return true;
	/* As scratch_take() does. */
	__sync_fetch_and_add(&counter->counting, 1);
	if (*(volatile __u64 *)&counter->counting == 1)
		return true;
	__sync_fetch_and_add(&counter->counting, (__u64)-1);
	return false;
}

static __always_inline void sets_release(struct wire_counters *counter)
{
	if (config.slots > 1)
		__sync_fetch_and_add(&counter->counting, (__u64)-1);
}

/* Empties a place of a set: what it has counted is sent. */
static __always_inline bool make_way(struct wire_counts *set, __u32 way, __u32 now)
{
	struct wire_count gone = {
		.hash = { .low = set->low[way], .high = set->high[way] },
		.count = set->count[way],
		.epoch = now,
		.kind = WIRE_KIND_COUNT,
	};

	if (bpf_ringbuf_output(&ring, &gone, sizeof(gone), BPF_RB_NO_WAKEUP))
		return false;
	set->count[way] = 0;
	return true;
}

/* Counts the slot's stack. False when there is no room in the ring for one that is new here. */
static __always_inline bool count_in(struct wire_counts *set, struct scratch *slot, __u32 now)
{
	__u64 low = slot->stack.hash.low, least = ~0ull;
	__u32 high = slot->stack.hash.high, way = 0;

#pragma unroll
	for (__u32 i = 0; i < WIRE_WAYS; i++) {
		__u64 count = set->count[i];

		if (count && set->low[i] == low && set->high[i] == high) {
			set->count[i] = count + 1;
			return true;
		}
		if (count < least) {
			least = count;
			way = i;
		}
	}
	/* The one that was seen least makes way. */
	if (way >= WIRE_WAYS || (least && !make_way(set, way, now)) || !send(slot, WIRE_KIND_STACK))
		return false;
	set->low[way] = low;
	set->high[way] = high;
	set->count[way] = 1;
	return true;
}

static __always_inline void count(struct scratch *slot, struct wire_counters *counter)
{
	__u32 now = epoch & (WIRE_EPOCHS - 1);
	__u32 key = (now * config.cpus + bpf_get_smp_processor_id()) * config.sets +
		    ((__u32)slot->stack.hash.low & (config.sets - 1));
	struct wire_counts *set = bpf_map_lookup_elem(&counts, &key);
	bool counted = false;

	slot->stack.epoch = now;
	if (set && sets_take(counter)) {
		counted = count_in(set, slot, now);
		sets_release(counter);
	} else {
		counted = send(slot, WIRE_KIND_EVENT);
	}
	if (!counted)
		lose(&counter->lost_ring);
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
	slot->stack.world = world_cookie(task);
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
