/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Kernel stacks by the kernel's own unwinding tables (bpf/orc.bpf.h) and the steps of its own
 * unwinder, unwind_next_frame(), in a seventh to a third of the time of bpf_get_stack(): rules are
 * cached, and the walk begins at the event, not in the helper. The helper is called for the whole
 * stack if the walk meets generated code, a module that is not known, a function whose return
 * address tracing has replaced, a rule with another register than sp and bp, or a stack that is not
 * the current task's.
 */
#ifndef STACKTALLY_BPF_KERNEL_WALK_BPF_H
#define STACKTALLY_BPF_KERNEL_WALK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "arch/kernel.h"
#include "arch/pt_regs.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/orc.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/window.bpf.h"

/* What a program's context says about where the event happened. */
enum context_kind {
	CONTEXT_CLOCK,	    /* struct bpf_perf_event_data: registers */
	CONTEXT_TRACEPOINT, /* at its start a pointer to registers, hidden from programs */
	CONTEXT_SWITCH,	    /* see bpf/switch_stack.bpf.h */
	CONTEXT_OTHER,	    /* nothing that is used */
};

#if ARCH_HAS_ORC

enum kernel_step {
	KERNEL_STEP_ON,
	KERNEL_STEP_END,
	KERNEL_STEP_ASK, /* the kernel, for the whole stack */
};

#define KERNEL_STEPS 32
#define KERNEL_USUAL 5 /* usual steps of one call, at most */

static __always_inline int kernel_word(__u64 address, __u64 *ret_word)
{
	return bpf_probe_read_kernel(ret_word, sizeof(*ret_word), (const void *)address);
}

/*
 * Brings the word at that address of a kernel stack into the slot's window. Returns where in
 * `bytes` it is; WINDOW_APART: that is no stack. A global function, which the verifier checks once.
 */
__noinline __u64 kernel_window_bring(__u32 number, __u64 address)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	/* Interrupts' stacks may begin at any page; behind a stack's last page nothing is mapped.
	 */
	__u64 size = WINDOW_PAGE - (address & (WINDOW_PAGE - 1)), at;
	struct window *window;

	if (!slot)
		return WINDOW_APART;
	window = &slot->window;
	at = address - window->from;
	if (at <= WINDOW_SIZE - sizeof(__u64) && at + sizeof(__u64) <= window->size)
		return at;
	window->from = address;
	window->size = 0;
	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	OPAQUE(size);
	if (size > WINDOW_SIZE || bpf_probe_read_kernel(window->bytes, size, (const void *)address))
		return WINDOW_APART;
	window->size = size;
	return 0;
}

/*
 * Reads a word of the walked stack; 0 when it is read. Without a branch, after which the verifier
 * would follow both results to the end.
 */
static __always_inline __u64 stack_word(const struct scratch *slot, __u32 number, __u64 address,
					__u64 *ret_word)
{
	__u64 at = kernel_window_bring(number, address);

	OPAQUE(at);
	*ret_word = *(const __u64 *)(slot->window.bytes + (at & (WINDOW_SIZE - 1)));
	return at & WINDOW_APART;
}

/* The cached rule for an address, or the place to cache it at. */
static __always_inline struct orc_rule *cached_orc_rule(struct scratch *slot, __u64 address)
{
	return &slot->orc_rules[(address * 0x9e3779b97f4a7c15ull) >> (64 - CACHED_ORC_BITS)];
}

/*
 * Takes up to KERNEL_USUAL steps of the slot's walk, for as long as they are the usual one: its
 * rule is cached, of ORC_RULE_CALL, of the core kernel, and what it reads has been copied already.
 * It is short enough to be inlined in the loop, which spares a slow return for each frame.
 */
__noinline int kernel_usual_steps(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct kernel_walk *walk;

	if (!slot)
		return 0;
	walk = &slot->kernel;
	for (__u32 i = 0; i < KERNEL_USUAL; i++) {
		__u64 address = walk->ip - (1 - walk->exact), sp, ip, bp = walk->bp, at = walk->n;
		const struct orc_rule *rule = cached_orc_rule(slot, address);

		if (UNLIKELY(rule->address != address || rule->kind != ORC_RULE_CALL ||
			     rule->module || walk->n >= config.kernel_depth))
			break;
		if (LIKELY((rule->from & 15) == ORC_SP))
			sp = walk->sp;
		else if (LIKELY((rule->from & 15) == ORC_BP))
			sp = walk->bp;
		else
			break;
		sp += (__s64)rule->sp_offset;
		if (UNLIKELY(sp <= walk->sp || !window_peek(slot, &ip, sp - sizeof(ip))))
			break;
		if (rule->from >> 4 == ORC_PREVIOUS_SP) {
			if (UNLIKELY(!window_peek(slot, &bp, sp + (__s64)rule->bp_offset)))
				break;
		} else if (UNLIKELY(rule->from >> 4 != ORC_UNDEFINED)) {
			break;
		}
		OPAQUE(at);
		if (at >= WIRE_MAX_DEPTH)
			break;
		walk->ip = ip;
		walk->sp = sp;
		walk->bp = bp;
		walk->exact = rule->exact;
		slot->frames[at] = ip;
		walk->n = at + 1;
	}
	return 0;
}

/* Moves the slot's walk to the caller and writes that to frames[]. enum kernel_step. */
__noinline int kernel_step(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct kernel_walk *walk;
	struct orc_rule *rule;
	__u64 address, sp, bp;
	__u8 sp_from, bp_from;
	__u64 bad = 0;

	if (!slot)
		return KERNEL_STEP_ASK;
	walk = &slot->kernel;
	address = walk->exact ? walk->ip : walk->ip - 1;
	rule = cached_orc_rule(slot, address);
	if (rule->address != address)
		orc_learn(rule, address);
	if (rule->kind == ORC_RULE_ASK ||
	    (has_module_tables() && rule->module && !module_is_there(rule->module)))
		return KERNEL_STEP_ASK;
	/* Checked only now: the last frame, too, must be one that the kernel would show as is. */
	if (rule->kind == ORC_RULE_END || walk->n >= config.kernel_depth)
		return KERNEL_STEP_END;
	sp_from = rule->from & 15;
	bp_from = rule->from >> 4;
	sp = sp_from == ORC_SP || sp_from == ORC_SP_INDIRECT ? walk->sp : walk->bp;
	if (sp_from == ORC_SP_INDIRECT) {
		bad |= stack_word(slot, number, sp, &sp);
		sp += (__s64)rule->sp_offset;
	} else {
		sp += (__s64)rule->sp_offset;
		if (sp_from == ORC_BP_INDIRECT)
			bad |= stack_word(slot, number, sp, &sp);
	}
	bp = walk->bp;
	if (bp_from != ORC_UNDEFINED)
		bad |= stack_word(slot, number,
				  (bp_from == ORC_BP ? bp : sp) + (__s64)rule->bp_offset, &bp);
	if (rule->kind == ORC_RULE_CALL) {
		bad |= stack_word(slot, number, sp - sizeof(__u64), &walk->ip);
	} else {
		/* ip, cs, flags, sp: what the processor saves for an interrupt */
		__u64 saved[4] = { 0 }, from = sp;

		if (rule->kind == ORC_RULE_REGISTERS)
			from += __builtin_offsetof(struct pt_regs, rip);
		bad |= bpf_probe_read_kernel(saved, sizeof(saved), (const void *)from);
		if ((saved[1] & 3) == 3)
			return KERNEL_STEP_END;
		if (rule->kind == ORC_RULE_REGISTERS && bp_from == ORC_UNDEFINED)
			bad |= kernel_word(sp + __builtin_offsetof(struct pt_regs, rbp), &bp);
		walk->ip = saved[0];
		sp = saved[3];
	}
	/* The caller's frame lies above, except where a rule switches stacks. */
	if ((sp_from == ORC_SP || sp_from == ORC_BP) && rule->kind == ORC_RULE_CALL)
		bad |= sp <= walk->sp;
	if (bad || walk->n >= WIRE_MAX_DEPTH)
		return KERNEL_STEP_ASK;
	walk->sp = sp;
	walk->bp = bp;
	walk->exact = rule->exact;
	slot->frames[walk->n] = walk->ip;
	walk->n++;
	return KERNEL_STEP_ON;
}

/* Takes KERNEL_STEPS steps or more. A global function, which the verifier checks once. */
__noinline int kernel_steps(__u32 number)
{
	int step = KERNEL_STEP_ON;

	for (__u32 i = 0; i < KERNEL_STEPS && step == KERNEL_STEP_ON; i++) {
		kernel_usual_steps(number);
		step = kernel_step(number);
	}
	return step;
}

/*
 * Begins with what perf_fetch_caller_regs() stores: the return address of a function as `ip`, and
 * its frame pointer as `sp`.
 */
static __always_inline bool kernel_begin_caller(struct kernel_walk *walk, __u64 ip, __u64 sp)
{
	__u64 frame[2] = { 0 };

	if (bpf_probe_read_kernel(frame, sizeof(frame), (const void *)sp) || frame[1] != ip)
		return false;
	walk->ip = ip;
	walk->sp = sp + sizeof(frame);
	walk->bp = frame[0];
	walk->exact = 0;
	return true;
}

/* X86_EFLAGS_FIXED: always set in flags that a processor saved. */
#define FLAGS_FIXED 2

/* Begins the walk where the event happened; false: the registers are not known. */
static __always_inline bool kernel_begin(void *ctx, enum context_kind kind,
					 struct kernel_walk *walk)
{
	__u64 registers[4] = { 0 }, hidden = 0; /* ip, cs, flags, sp */

	if (kind == CONTEXT_CLOCK) {
		const struct bpf_perf_event_data *event = ctx;

		/* A software event, such as a context switch, is no interrupt. */
		if (!(event->regs.eflags & FLAGS_FIXED))
			return kernel_begin_caller(walk, event->regs.rip, event->regs.rsp);
		walk->ip = event->regs.rip;
		walk->sp = event->regs.rsp;
		walk->bp = event->regs.rbp;
		walk->exact = 1;
		return true;
	}
	if (kernel_word((__u64)ctx, &hidden) ||
	    bpf_probe_read_kernel(registers, sizeof(registers),
				  (void *)hidden + __builtin_offsetof(struct pt_regs, rip)) ||
	    (registers[1] & 3) == 3)
		return false;
	return kernel_begin_caller(walk, registers[0], registers[3]);
}

/* Begins the walk where a task is that is off the CPU. */
static __always_inline bool kernel_begin_inactive(const struct task_struct *task,
						  struct kernel_walk *walk)
{
	const struct inactive_task_frame *frame = (void *)BPF_CORE_READ(task, thread.sp);
	unsigned long ip = 0, bp = 0;

	if (!bpf_core_type_exists(struct inactive_task_frame) ||
	    bpf_core_read(&ip, sizeof(ip), &frame->ret_addr) ||
	    bpf_core_read(&bp, sizeof(bp), &frame->bp))
		return false;
	walk->ip = ip;
	walk->sp = (__u64)frame + bpf_core_type_size(struct inactive_task_frame);
	walk->bp = bp;
	walk->exact = 0;
	return true;
}

/*
 * Whether the walk ended on the stack of that task. It does not while the kernel switches tasks;
 * the helper then shows fewer frames, but none of the other task.
 */
static __always_inline bool ends_in_task(const struct kernel_walk *walk,
					 const struct task_struct *task, enum task_from from)
{
	return walk->sp - (__u64)TASK_FIELD(task, from, stack) <= ARCH_STACK_SIZE;
}

/* Whether there are tables, in the form that is known here. */
static __always_inline bool has_orc(void)
{
	if (!bpf_core_type_exists(struct orc_entry) ||
	    bpf_core_type_size(struct orc_entry) != sizeof(struct orc_bytes) || orc.n == 0)
		return false;
	if (orc_form == ORC_FORM_UNSEEN)
		orc_form = orc_look(orc.function);
	return orc_form == ORC_FORM_KNOWN;
}

/*
 * Writes the frames of a walk that has begun to the slot, whose window is empty or on the stack.
 * Returns their number; 0: ask the kernel.
 */
static __always_inline __u32 kernel_walk_on(struct scratch *slot, __u32 number)
{
	struct kernel_walk *walk = &slot->kernel;

	slot->frames[0] = walk->ip;
	walk->n = 1;
	for (__u32 i = 0; i < WIRE_MAX_DEPTH; i += KERNEL_STEPS) {
		int step = i < config.kernel_depth ? kernel_steps(number) : KERNEL_STEP_END;

		if (step == KERNEL_STEP_ASK)
			return 0;
		if (step == KERNEL_STEP_END)
			break;
	}
	return walk->n;
}

/* As kernel_walk(), of a task that is off the CPU. */
static __always_inline __u32 kernel_walk_inactive(const struct task_struct *task,
						  struct scratch *slot, __u32 number)
{
	struct kernel_walk *walk = &slot->kernel;
	__u32 n;

	if (!has_orc() || !kernel_begin_inactive(task, walk))
		return 0;
	slot->window.size = 0;
	n = kernel_walk_on(slot, number);
	return ends_in_task(walk, task, TASK_ARGUMENT) ? n : 0;
}

/*
 * Writes the kernel stack to the slot's frames. Returns the number of frames; 0: ask the kernel.
 */
static __always_inline __u32 kernel_walk(void *ctx, enum context_kind kind, struct scratch *slot,
					 __u32 number)
{
	struct kernel_walk *walk = &slot->kernel;
	__u32 n;

	if (kind == CONTEXT_OTHER || !has_orc() || !kernel_begin(ctx, kind, walk))
		return 0;
	slot->window.size = 0;
	n = kernel_walk_on(slot, number);
	return ends_in_task(walk, current_task(), TASK_CURRENT) ? n : 0;
}

#else

static __always_inline __u32 kernel_walk(void *ctx, enum context_kind kind, struct scratch *slot,
					 __u32 number)
{
	(void)ctx, (void)kind, (void)slot, (void)number;
	return 0;
}

static __always_inline __u32 kernel_walk_inactive(const struct task_struct *task,
						  struct scratch *slot, __u32 number)
{
	(void)task, (void)slot, (void)number;
	return 0;
}

#endif

#endif
