/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * User stacks by unwinding tables: the maps that hold them, the user registers of whatever hit,
 * and the walk. The rules of a step are in bpf/unwind_step.h.
 *
 * A step is a global function: the verifier checks it once, however many frames are walked. On
 * 5.10 such functions take numbers only, so the walk is found by its scratch slot.
 */
#ifndef STACKTALLY_BPF_UNWIND_BPF_H
#define STACKTALLY_BPF_UNWIND_BPF_H

#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"

/* 256 blocks. All alike, so that the JIT inlines the look-up of a block. */
struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SEGMENT_BLOCKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u8[WIRE_BLOCK_SIZE]);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_MAX_SEGMENTS);
	__type(key, __u32);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct wire_process);
} unwind_processes SEC(".maps");

/*
 * How often the processes' table was changed, by whoever changed it: afterwards. What was read from
 * it holds until then.
 */
__u64 unwind_changes;

static __always_inline void unwind_changed(void)
{
	__sync_fetch_and_add(&unwind_changes, 1);
}

static __always_inline const void *unwind_block(__u32 block)
{
	__u32 segment = block / WIRE_SEGMENT_BLOCKS, at = block % WIRE_SEGMENT_BLOCKS;
	void *blocks = bpf_map_lookup_elem(&unwind_segments, &segment);

	return blocks ? bpf_map_lookup_elem(blocks, &at) : NULL;
}

static __always_inline const struct wire_rule *unwind_rule(__u32 number)
{
	return bpf_map_lookup_elem(&unwind_rules, &number);
}

static __always_inline const struct wire_process *unwind_process(__u32 tgid)
{
	return bpf_map_lookup_elem(&unwind_processes, &tgid);
}

#define UNWIND_CONTEXT
#define UNWIND_PASS
#define UNWIND_READ(to, size, address) bpf_probe_read_user(to, size, (const void *)(address))
#define UNWIND_BLOCK(block)	       unwind_block(block)
#define UNWIND_RULE(number)	       unwind_rule(number)
#define UNWIND_PROCESS(tgid)	       unwind_process(tgid)
#define UNWIND_INLINE		       static __always_inline
/* Through memory, where the verifier loses sight of it: else it would go on once for each value. */
#define UNWIND_FORGET(walk, value)                                                                 \
	(*(volatile __u32 *)&(walk)->forgotten = (value), *(volatile __u32 *)&(walk)->forgotten)
#include "bpf/unwind_find.h"

/*
 * Functions of their own, as the step: else the verifier would go through a search again for each
 * way that leads to it. enum wire_end, above it the number of the rule.
 */
__noinline __u64 unwind_row(__u32 root, __u32 owner, __u32 address)
{
	struct unwind_row_at row;
	__u64 end = unwind_find_row(root, owner, address, &row);

	return (__u64)row.rule << 32 | row.after << 16 | row.before << 8 | end;
}

static __always_inline bool find_kept_mapping(struct scratch *slot, __u64 address)
{
	struct unwind_walk *walk = &slot->walk;

	for (__u32 i = 0; walk->layout && i < SCRATCH_KEPT_MAPPINGS; i++) {
		const struct kept_mapping *kept = &slot->mappings[i];

		if (kept->layout != walk->layout || address < kept->start || address >= kept->end)
			continue;
		walk->start = kept->start;
		walk->end = kept->end;
		walk->bias = kept->bias;
		walk->root = kept->root;
		walk->owner = kept->owner;
		return true;
	}
	return false;
}

static __always_inline void keep_mapping(struct scratch *slot)
{
	const struct unwind_walk *walk = &slot->walk;

	slot->mappings[slot->next_mapping++ % SCRATCH_KEPT_MAPPINGS] = (struct kept_mapping){
		.start = walk->start,
		.end = walk->end,
		.bias = walk->bias,
		.root = walk->root,
		.owner = walk->owner,
		.layout = walk->layout,
	};
}

__noinline int unwind_mapping(__u32 number, __u64 address)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 end;

	if (!slot)
		return WIRE_END_STALE;
	if (find_kept_mapping(slot, address))
		return WIRE_END_NONE;
	end = unwind_find_mapping(&slot->walk, address);
	/* What has no table yet may have one before the layout is another. */
	if (!end && WIRE_MAPPING_KIND(slot->walk.root) == WIRE_MAPPING_TABLE)
		keep_mapping(slot);
	return (int)end;
}

static __always_inline __u32 unwind_row_apart(__u32 root, __u32 owner, __u32 address,
					      struct unwind_row_at *ret_row)
{
	__u64 found = unwind_row(root, owner, address);

	ret_row->rule = found >> 32;
	ret_row->before = found >> 8 & 0xff;
	ret_row->after = found >> 16 & 0xff;
	return found & 0xff;
}

/* The first of two places, in one line of a cache, where the rule for an address may be kept. */
static __always_inline __u64 unwind_kept_at(const struct scratch *slot, __u64 address)
{
	__u64 block = address / UNWIND_FOUND_BLOCK;
	__u64 hash = (block ^ slot->walk.layout) * 0x9fb21c651e98df25ull >> 32;

	return hash % (SCRATCH_KEPT_RULES / 2) * 2;
}

/* Where it is kept, or else will be. */
static __always_inline struct unwind_found *unwind_found(struct scratch *slot, __u64 address)
{
	__u64 at = unwind_kept_at(slot, address);
	__u64 second = !unwind_in_span(slot->found[at].span, address);

	if (UNWIND_SELDOM(second && !unwind_in_span(slot->found[at + 1].span, address)))
		second = slot->next_rule++ % 2;
	at += second;
	UNWIND_OPAQUE(at);
	return &slot->found[at % SCRATCH_KEPT_RULES];
}

#undef UNWIND_READ
#define UNWIND_READ(to, size, address)                                                             \
	((size) <= WINDOW_MOST ? window_read(slot, number, to, size, address)                      \
			       : bpf_probe_read_user(to, size, (const void *)(address)))
#define UNWIND_FOUND(walk, address)	   unwind_found(slot, address)
#define UNWIND_FIND_MAPPING(walk, address) unwind_mapping(number, address)
#define UNWIND_FIND_ROW(root, owner, address, ret_row)                                             \
	unwind_row_apart(root, owner, address, ret_row)
#undef UNWIND_CONTEXT
#undef UNWIND_PASS
#define UNWIND_CONTEXT                                                                             \
	, __u32 number __attribute__((unused)), struct scratch *slot __attribute__((unused))
#define UNWIND_PASS , number, slot
#include "bpf/unwind_step.h"

/* enum wire_end, or WIRE_END_NONE when the walk of that slot is at the caller. */
__noinline int unwind_once(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	return slot ? (int)unwind_step(&slot->walk, number, slot) : WIRE_END_STALE;
}

#ifdef __TARGET_ARCH_x86

#define USER_CS_64 0x33 /* __USER_CS */
#define RING_3	   3

/* Where the kernel saved the registers that user code was left with. */
static __always_inline const void *saved_registers(const struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	return BPF_CORE_READ(task, stack) + KERNEL_STACK_SIZE - sizeof(struct pt_regs);
}

#define TAKE_REGISTERS(walk, from)                                                                 \
	do {                                                                                       \
		(walk)->registers[0] = (from)->rax;                                                \
		(walk)->registers[1] = (from)->rdx;                                                \
		(walk)->registers[2] = (from)->rcx;                                                \
		(walk)->registers[3] = (from)->rbx;                                                \
		(walk)->registers[4] = (from)->rsi;                                                \
		(walk)->registers[5] = (from)->rdi;                                                \
		(walk)->registers[6] = (from)->rbp;                                                \
		(walk)->registers[7] = (from)->rsp;                                                \
		(walk)->registers[8] = (from)->r8;                                                 \
		(walk)->registers[9] = (from)->r9;                                                 \
		(walk)->registers[10] = (from)->r10;                                               \
		(walk)->registers[11] = (from)->r11;                                               \
		(walk)->registers[12] = (from)->r12;                                               \
		(walk)->registers[13] = (from)->r13;                                               \
		(walk)->registers[14] = (from)->r14;                                               \
		(walk)->registers[15] = (from)->r15;                                               \
		(walk)->pc = (from)->rip;                                                          \
	} while (0)

/*
 * The registers of the user code that was hit (`in_user`: ctx has them) or that entered the
 * kernel. WIRE_END_NONE, or why they are not to be had.
 */
static __always_inline __u32 user_registers(const struct pt_regs *ctx, bool in_user,
					    const struct task_struct *task, struct scratch *slot)
{
	struct unwind_walk *walk = &slot->walk;
	struct pt_regs *saved = &slot->registers;
	__u64 code_segment;

	walk->exact = 1;
	if (in_user) {
		TAKE_REGISTERS(walk, ctx);
		code_segment = ctx->cs;
	} else {
		if (bpf_probe_read_kernel(saved, sizeof(*saved), saved_registers(task)))
			return WIRE_END_REGISTERS;
		TAKE_REGISTERS(walk, saved);
		code_segment = saved->cs;
		/*
		 * After a system call's instruction, as after a call: it leaves its own return
		 * address in rcx. Not so where it leads elsewhere: to the beginning of a program or
		 * of a signal's handler, or to the same instruction once more.
		 */
		if ((__s64)saved->orig_rax >= 0 && saved->rcx == saved->rip)
			walk->exact = 0;
	}
	if ((code_segment & RING_3) != RING_3)
		return WIRE_END_REGISTERS;
	return code_segment == USER_CS_64 ? WIRE_END_NONE : WIRE_END_COMPAT;
}

#else
#error "the user registers of this architecture are not known yet"
#endif

/*
 * What was known of the mapping of the walk before is another process's. The layout mostly is one
 * that was found before, and need not be looked up.
 */
static __always_inline void walk_begin(struct scratch *slot, __u32 tgid)
{
	__u64 changes = *(volatile __u64 *)&unwind_changes;
	struct kept_layout *kept = &slot->layouts[tgid % SCRATCH_KEPT_LAYOUTS];
	struct unwind_walk *walk = &slot->walk;
	const struct wire_process *process;

	if (kept->tgid != tgid || kept->changes != changes) {
		process = unwind_process(tgid);
		kept->layout = process ? process->owner : 0;
		kept->tgid = tgid;
		kept->changes = changes;
	}
	walk->layout = kept->layout;
	walk->known = UNWIND_ALL_KNOWN;
	walk->kept_at = 0;
	walk->start = 0;
	walk->end = 0;
	walk->callee_owner = 0;
	walk->tgid = tgid;
	walk->may_chain = config.unwind == WIRE_UNWIND_AUTO;
	walk->by_chain = 0;
	walk->assumed = 0;
	walk->last_rule = 0;
}

#define EXPECTED_CALLERS 16

static __always_inline void read_ahead(const void *place)
{
	(void)*(const volatile __u64 *)place;
}

/*
 * A sample has most of its callers in common with the one before it, if that is of the same
 * process. Where their rules are kept is in no cache by now, nor is what the search for the first
 * frame's rule begins and ends with; here it is read all at once, and not, frame by frame, when it
 * is waited for: a tenth of the time of a walk.
 */
static __always_inline void expect_frames(const struct scratch *slot)
{
	const struct wire_rule *rules = unwind_rule(0);
	const void *blocks = unwind_block(0);

	if (slot->last_layout != slot->walk.layout || !rules || !blocks)
		return;
	read_ahead(&slot->found[unwind_kept_at(slot, slot->walk.pc)]);
	read_ahead(rules);
	for (__u32 i = 1; i <= EXPECTED_CALLERS; i++) {
		__u64 at = (__u64)slot->last_first + i, frame;

		UNWIND_OPAQUE(at);
		if (i >= slot->last_n || at >= SCRATCH_WORDS)
			break;
		frame = slot->frames[at];
		at = unwind_kept_at(slot, (frame & WIRE_FRAME_ADDRESS) -
						  (frame & WIRE_FRAME_EXACT ? 0 : 1));
		read_ahead(&slot->found[at]);
	}
}

/* What user space may know better, or know a moment later. */
static __always_inline bool may_be_finished(__u32 end)
{
	return end == WIRE_END_NO_PROCESS || end == WIRE_END_NO_MAPPING ||
	       end == WIRE_END_PENDING || end == WIRE_END_STALE || end == WIRE_END_EVICTED;
}

/*
 * Copies of stacks are rationed on each CPU: a burst of so many, for a program that begins or a
 * library that is loaded, then one each so often: all samples of the usual rates, and no more than
 * user space can bear.
 */
#define REST_BURST 128
#define REST_NS	   1000000ull

static __always_inline bool rest_is_affordable(struct scratch *slot)
{
	__u64 now = bpf_ktime_get_ns(), earned = (now - slot->rest_since) / REST_NS;

	if (earned) {
		slot->rest_since = now;
		slot->rest_left = slot->rest_left + earned > REST_BURST ? REST_BURST
									: slot->rest_left + earned;
	}
	if (slot->rest_left == 0)
		return false;
	slot->rest_left--;
	return true;
}

/*
 * Lays struct wire_rest and the stack behind the frames, `words` of which are in use; returns the
 * bytes that makes, 0: no room.
 */
static __always_inline __u32 rest_append(struct scratch *slot, __u32 words)
{
	__u64 from = slot->walk.registers[UNWIND_SP];
	__u64 at = words * sizeof(__u64), size = 0;
	struct wire_rest *rest;

	UNWIND_OPAQUE(at);
	if (at > sizeof(slot->frames) - sizeof(*rest) - WIRE_REST_PAGE)
		return 0;
	rest = (void *)slot->frames + at;
	rest->reserved = 0;
	rest->walk = slot->walk;
	at += sizeof(*rest);
	for (__u32 i = 0; i <= WIRE_REST_MAX / WIRE_REST_PAGE; i++) {
		__u64 chunk = WIRE_REST_PAGE - ((from + size) & (WIRE_REST_PAGE - 1));
		__u64 to = at + size;

		UNWIND_OPAQUE(to);
		UNWIND_OPAQUE(chunk);
		if (to > sizeof(slot->frames) - WIRE_REST_PAGE || chunk > WIRE_REST_PAGE)
			break;
		if (bpf_probe_read_user((void *)slot->frames + to, chunk,
					(const void *)(from + size)))
			break;
		size += chunk;
	}
	rest->size = (__u32)size;
	return sizeof(*rest) + size;
}

/* Its program was replaced while it is in execve(): the stack it came from is no more. */
static __always_inline bool lost_its_stack(const struct task_struct *task,
					   const struct unwind_walk *walk)
{
	__u64 word;

	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) &&
	       bpf_probe_read_user(&word, sizeof(word), (void *)walk->registers[UNWIND_SP]);
}

#define CHAIN_STEPS 16

/*
 * Up to `most` callers by the chain of frame pointers into frames[first...]; how many. A function
 * of its own for the verifier's sake, as unwind_once().
 */
__noinline int chain_some(__u32 number, __u32 first, __u32 most)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 fp, saved[2];
	__u32 n = 0;

	if (!slot)
		return 0;
	fp = slot->walk.registers[UNWIND_FP];
	for (; n < CHAIN_STEPS && n < most; n++) {
		__u64 at = (__u64)first + n;

		/* No frame is there, and to see that it is not readable is a fault. */
		if (fp < UNWIND_MIN_PC || fp & 7)
			break;
		if (window_read(slot, number, saved, sizeof(saved), fp))
			break;
		UNWIND_OPAQUE(at);
		if (at >= 2 * WIRE_MAX_DEPTH)
			break;
		slot->frames[at] = saved[1];
		fp = saved[0];
	}
	slot->walk.registers[UNWIND_FP] = fp;
	return n;
}

/*
 * The user stack by the chain of frame pointers, whoever keeps it, as bpf_get_stack() walks it:
 * that opens user memory twice a frame and takes more than twice as long. But what the
 * register holds in code that keeps no frame pointer is no frame if it is below the stack pointer,
 * and is not followed. False where only the kernel knows how (32-bit code). At a probe on a
 * function's entry (`entry`) the caller is at [sp].
 */
static __always_inline bool chain_user(const struct pt_regs *ctx, bool in_user, bool entry,
				       const struct task_struct *task, struct scratch *slot,
				       __u32 number, __u32 first)
{
	__u32 n = 1, most = config.user_depth;

	if (user_registers(ctx, in_user, task, slot) || first >= WIRE_MAX_DEPTH)
		return false;
	slot->window.size = 0;
	slot->frames[first] = slot->walk.pc;
	if (entry && most > 1 &&
	    !bpf_probe_read_user(&slot->frames[first + 1], sizeof(__u64),
				 (const void *)slot->walk.registers[UNWIND_SP]))
		n = 2;
	slot->stack.n_user = n;
	if (slot->walk.registers[UNWIND_FP] < slot->walk.registers[UNWIND_SP])
		return true;
	for (__u32 i = 0; i <= WIRE_MAX_DEPTH / CHAIN_STEPS; i++) {
		__u32 more = chain_some(number, first + n, most - n);

		n += more;
		UNWIND_OPAQUE(n);
		if (more < CHAIN_STEPS || n >= most)
			break;
	}
	slot->stack.n_user = n;
	return true;
}

/* The frame that the walk is at, the `n`th, into frames[at]; how many that makes. */
static __always_inline __u32 unwind_note(struct scratch *slot, __u64 at, __u64 n)
{
	const struct unwind_walk *walk = &slot->walk;
	__u64 is_caller;

	UNWIND_OPAQUE(at);
	if (at >= 2 * WIRE_MAX_DEPTH)
		return 0;
	/* All of them are 0 or 1: without a branch there is one way on from here. */
	UNWIND_OPAQUE(n);
	is_caller = -n >> 63;
	slot->frames[at] = walk->pc | (is_caller & walk->exact) * WIRE_FRAME_EXACT |
			   walk->by_chain * WIRE_FRAME_POINTER;
	return 1;
}

#define WALK_STEPS 32

/*
 * Some frames more into frames[first...], where `done` are there. How many, and above 16 bits the
 * enum wire_end. So many steps at a time, for the verifier goes through each round of a loop.
 */
__noinline int unwind_some(__u32 number, __u32 first, __u32 done)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 n = 0, end = WIRE_END_NONE;

	if (!slot)
		return WIRE_END_STALE << 16;
	while (!end && n < WALK_STEPS) {
		if (done + n >= config.user_depth || !unwind_note(slot, first + n, done + n)) {
			end = WIRE_END_DEPTH;
			break;
		}
		n++;
		end = unwind_once(number);
	}
	return n | end << 16;
}

#define XOL_SLOT 128 /* UPROBE_XOL_SLOT_BYTES: more than an instruction takes */

/*
 * A copy of an instruction that a user probe replaced is being executed elsewhere: the walk is put
 * to where it would be without the probe.
 */
static __always_inline bool was_out_of_line(const struct task_struct *task,
					    struct unwind_walk *walk)
{
	const struct uprobe_task *probed = NULL;
	__u64 copy, offset;

	if (!bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probed->xol_vaddr))
		return false;
	probed = BPF_CORE_READ(task, utask);
	if (!probed)
		return false;
	copy = BPF_CORE_READ(probed, xol_vaddr);
	offset = walk->pc - copy;
	if (!copy || offset >= XOL_SLOT)
		return false;
	walk->pc = BPF_CORE_READ(probed, vaddr) + offset;
	walk->exact = 1;
	return true;
}

/* Frames into frames[first...] until there is no more; returns how many. */
static __always_inline __u32 walk_frames(__u32 number, __u32 first, __u32 *ret_end)
{
	__u32 end = WIRE_END_NONE, n = 0;

	/* No more rounds than there can be: the verifier knows the depth, and goes through each. */
	for (__u32 i = 0; !end && i < config.user_depth; i += WALK_STEPS) {
		__u32 some = unwind_some(number, first + n, n);

		n += some & 0xffff;
		end = some >> 16;
		UNWIND_OPAQUE(n);
		UNWIND_OPAQUE(end);
	}
	*ret_end = end ? end : WIRE_END_DEPTH;
	return n;
}

/*
 * Walks the user stack into frames[first...] of the slot; sets n_user, end and flags. `sampled`: by
 * a clock, and so in cold caches.
 */
static __always_inline void unwind_user(const struct pt_regs *ctx, bool in_user,
					const struct task_struct *task, __u32 tgid,
					struct scratch *slot, __u32 number, __u32 first,
					bool sampled)
{
	struct unwind_walk *walk = &slot->walk;
	__u32 end, n = 0;

	slot->stack.n_user = 0;
	walk->layout = 0;
	if (!slot->stack.image) { /* a kernel thread */
		slot->stack.end = WIRE_END_NONE;
		return;
	}
	end = user_registers(ctx, in_user, task, slot);
	if (end) {
		slot->stack.end = end;
		return;
	}
	walk_begin(slot, tgid);
	if (sampled)
		expect_frames(slot);
	slot->window.size = 0;
	if (config.unwind == WIRE_UNWIND_NONE) {
		n = unwind_note(slot, first, 0);
	} else {
		n = walk_frames(number, first, &end);
		if (n == 1 && end == WIRE_END_SPECIAL && was_out_of_line(task, walk))
			n = walk_frames(number, first, &end);
	}
	if (n == 1 && end > WIRE_END_DEPTH && lost_its_stack(task, walk)) {
		end = WIRE_END_NONE;
		n = 0;
	}
	slot->stack.n_user = n;
	slot->last_first = first;
	slot->last_n = n;
	slot->last_layout = walk->layout;
	slot->stack.end = end;
	if (walk->assumed)
		slot->stack.flags |= WIRE_STACK_ASSUMED;
}

#endif
