/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Kernel stacks by the kernel's own unwinding tables (ORC: arch/x86/kernel/unwind_orc.c and
 * arch/x86/include/asm/orc_types.h), by the same steps, in a seventh to a third of the time: the
 * rules found last are kept, and the walk begins at the event, not in the helper that is asked for
 * a stack. What is not plain is left to that helper, from the beginning: generated code, modules
 * that are not known, functions whose return addresses are replaced because they are traced,
 * registers other than the stack and the frame pointer, a stack that is not the current task's.
 *
 * A step is a global function, as one of a user stack is (bpf/unwind.bpf.h).
 */
#ifndef STACKTALLY_BPF_KERNEL_WALK_BPF_H
#define STACKTALLY_BPF_KERNEL_WALK_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/steer.h"

#include <bpf/bpf_core_read.h>

/* Filled in by user space, maybe while events count already. */
volatile struct wire_orc orc;

/* Whether they are of the form that is known here. Linux 7.2 has other numbers for registers. */
enum orc_form { ORC_FORM_UNSEEN, ORC_FORM_KNOWN, ORC_FORM_OTHER };

volatile __u32 orc_form;

/* What an event's context tells of where it happened. */
enum source {
	SOURCE_CLOCK,	   /* registers, of a perf event's sample */
	SOURCE_TRACEPOINT, /* where a tracepoint's perf event was made, in what is hidden of it */
	SOURCE_OTHER,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_MODULES);
	__type(key, __u32);
	__type(value, struct wire_module);
} kernel_modules SEC(".maps");

#ifdef __TARGET_ARCH_x86

enum kernel_step {
	KERNEL_STEP_ON,
	KERNEL_STEP_END,
	KERNEL_STEP_ASK, /* the kernel */
};

#define ORC_STEPS    22 /* of a search: 4 million entries */
#define ORC_BLOCK    4096
#define ORC_BLOCKS   8192 /* 32 MB of text, more than any kernel of a distribution has */
#define ORC_NEAR     128  /* entries: what most blocks have */
#define MODULE_STEPS 8
#define KERNEL_STEPS 32

/* The entry that holds where a block of the core kernel's text begins; 0: not searched for yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ORC_BLOCKS);
	__type(key, __u32);
	__type(value, __u32);
} orc_blocks SEC(".maps");

/* ORC_REG_*, up to the lower half of a byte. Where they are others, orc_look() sees it. */
enum orc_register {
	ORC_UNDEFINED = 0,
	ORC_PREVIOUS_SP = 1,
	ORC_BP = 4,
	ORC_SP = 5,
	ORC_BP_INDIRECT = 8,
	ORC_SP_INDIRECT = 9,
};

/* Linux 6.4 (fb799447ae29) made "end of stack" a type; before, it was a flag of `sp_reg` 0. */
static __always_inline bool orc_has_end_flag(void)
{
	return bpf_core_field_exists(((struct orc_entry *)0)->end);
}

/* ORC_TYPE_*, or UNWIND_HINT_TYPE_* before. */
static __always_inline __u8 orc_kind(__u8 type, bool end)
{
	if (orc_has_end_flag()) {
		type &= 3;
		return end	   ? KEPT_ORC_END
		       : type == 0 ? KEPT_ORC_CALL
		       : type == 1 ? KEPT_ORC_REGISTERS
		       : type == 2 ? KEPT_ORC_INTERRUPT
				   : KEPT_ORC_ASK;
	}
	type &= 7;
	return type == 1   ? KEPT_ORC_END
	       : type == 2 ? KEPT_ORC_CALL
	       : type == 3 ? KEPT_ORC_REGISTERS
	       : type == 4 ? KEPT_ORC_INTERRUPT
			   : KEPT_ORC_ASK;
}

/* An entry as it lies in memory. */
struct orc_bytes {
	__s16 sp_offset, bp_offset;
	__u8 registers, flags;
};

static __always_inline void orc_read(const struct orc_bytes *entry, struct kept_orc *rule)
{
	bool has_signal = bpf_core_field_exists(((struct orc_entry *)0)->signal);
	__u8 sp = entry->registers & 15, bp = entry->registers >> 4, flags = entry->flags;
	/* Linux 6.3 has both flags. */
	bool end = orc_has_end_flag() && sp == ORC_UNDEFINED && flags & (has_signal ? 8 : 4);

	rule->sp_offset = entry->sp_offset;
	rule->bp_offset = entry->bp_offset;
	rule->from = entry->registers;
	rule->kind = orc_kind(flags, end);
	if (!has_signal)
		rule->exact = rule->kind != KEPT_ORC_CALL;
	else
		rule->exact = (flags & (orc_has_end_flag() ? 4 : 8)) != 0;
	if (rule->kind == KEPT_ORC_END)
		return;
	/* What [sp] means has changed once (aafeb14e9da2, Linux 5.13). */
	if ((sp != ORC_SP && sp != ORC_BP && sp != ORC_BP_INDIRECT &&
	     (sp != ORC_SP_INDIRECT || orc_has_end_flag())) ||
	    (bp != ORC_UNDEFINED && bp != ORC_PREVIOUS_SP && bp != ORC_BP))
		rule->kind = KEPT_ORC_ASK;
}

static __always_inline __u64 orc_start(__u64 ips, __u64 number)
{
	__u64 at = ips + number * sizeof(__s32);
	__s32 offset = 0;

	bpf_probe_read_kernel(&offset, sizeof(offset), (const void *)at);
	return at + offset;
}

/* The number of the entry that holds for an address, one of [low, high). */
__noinline __u32 orc_search(__u64 ips, __u32 from, __u32 to, __u64 address)
{
	__u64 low = from, high = to;

	/* As UNWIND_SEARCH, but for steps that are not needed: each reads memory with a call. */
	for (__u32 i = 0; i < ORC_STEPS && low + 1 < high; i++) {
		__u64 middle = (low + high) / 2;

		UNWIND_NARROW(low, high, middle, orc_start(ips, middle), address);
	}
	return low;
}

/* At a function's entry the caller's stack begins above the address to return to: at sp + 8. */
__noinline int orc_look(__u64 function)
{
	__u64 at = orc.entries +
		   (__u64)orc_search(orc.ips, 0, orc.n, function) * sizeof(struct orc_bytes);
	struct orc_bytes entry = { 0 };
	struct kept_orc rule = { 0 };

	if (bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)at))
		return ORC_FORM_OTHER;
	orc_read(&entry, &rule);
	return rule.kind == KEPT_ORC_CALL && rule.from == ORC_SP && rule.sp_offset == 8
		       ? ORC_FORM_KNOWN
		       : ORC_FORM_OTHER;
}

/* The module that may have an address, by its number from 1 on; 0: none. */
__noinline __u32 orc_search_module(__u64 address)
{
	__u64 below = 0, high = orc.n_modules;
	const struct wire_module *module;
	__u32 low;

	if (high == 0)
		return 0;
	for (__u32 i = 0; i < MODULE_STEPS && below + 1 < high; i++) {
		__u64 middle = (below + high) / 2;
		__u32 at = middle;

		module = bpf_map_lookup_elem(&kernel_modules, &at);
		if (!module)
			return 0;
		UNWIND_NARROW(below, high, middle, module->start, address);
	}
	low = below;
	module = bpf_map_lookup_elem(&kernel_modules, &low);
	if (!module || address < module->start || address >= module->end)
		return 0;
	return low + 1;
}

/* Not in a kernel without modules. */
static __always_inline bool has_module_tables(void)
{
	return bpf_core_field_exists(((struct mod_arch_specific *)0)->orc_unwind_ip) &&
	       (bpf_core_field_exists(((struct module *)0)->mem) ||
		bpf_core_field_exists(((struct module *)0)->core_layout));
}

/* Who was unloaded is nowhere: what is read there is not this address, or cannot be read. */
static __always_inline bool module_is_there(__u32 number)
{
	__u32 at = number - 1;
	const struct wire_module *known = bpf_map_lookup_elem(&kernel_modules, &at);
	const struct module *module;
	int *ips = NULL;

	if (!known)
		return false;
	module = (void *)known->module;
	bpf_core_read(&ips, sizeof(ips), &module->arch.orc_unwind_ip);
	return ips && (__u64)ips == known->ips;
}

static __always_inline bool module_has(const struct module *module, __u64 address)
{
	void *base = NULL;
	__u32 size = 0;

	if (bpf_core_field_exists(module->mem)) {
		bpf_core_read(&base, sizeof(base), &module->mem[0].base);
		bpf_core_read(&size, sizeof(size), &module->mem[0].size);
	} else {
		bpf_core_read(&base, sizeof(base), &module->core_layout.base);
		bpf_core_read(&size, sizeof(size), &module->core_layout.text_size);
	}
	return address - (__u64)base < size;
}

/* A table, and the part of it that is to be searched. */
struct orc_table {
	__u64 ips, entries;
	__u32 low, high;
};

static __always_inline bool module_table(__u32 number, __u64 address, struct orc_table *ret_table)
{
	__u32 at = number - 1;
	const struct wire_module *known = bpf_map_lookup_elem(&kernel_modules, &at);
	const struct module *module;

	if (!known)
		return false;
	module = (void *)known->module;
	if (!module_is_there(number) || !module_has(module, address))
		return false;
	ret_table->ips = known->ips;
	bpf_core_read(&ret_table->entries, sizeof(ret_table->entries), &module->arch.orc_unwind);
	ret_table->low = 0;
	bpf_core_read(&ret_table->high, sizeof(ret_table->high), &module->arch.num_orcs);
	return true;
}

/*
 * An address that was interrupted is mostly a new one, and a search among all entries goes through
 * fifteen lines that are in no cache: it begins where the entries of a block of the text do, once
 * that was found.
 */
static __always_inline void core_table(__u64 address, struct orc_table *ret_table)
{
	__u32 block = (address - orc.text) / ORC_BLOCK, n = orc.n, low = 0;
	__u32 *first = bpf_map_lookup_elem(&orc_blocks, &block);

	*ret_table = (struct orc_table){ orc.ips, orc.entries, 0, n };
	if (!first)
		return;
	low = *(volatile __u32 *)first;
	if (low == 0) {
		low = orc_search(orc.ips, 0, n, orc.text + (__u64)block * ORC_BLOCK);
		*(volatile __u32 *)first = low;
	}
	ret_table->low = low;
	if (n - low > ORC_NEAR && orc_start(orc.ips, low + ORC_NEAR) > address)
		ret_table->high = low + ORC_NEAR;
}

/* The table that has the rule of an address. */
static __always_inline bool orc_table(__u64 address, struct orc_table *ret_table, __u8 *ret_module)
{
	__u64 text = orc.text;
	__u32 number;

	if (address - text < orc.text_end - text) {
		core_table(address, ret_table);
		return true;
	}
	if (!has_module_tables())
		return false;
	number = orc_search_module(address);
	*ret_module = number;
	return number && module_table(number, address, ret_table);
}

/* What is returned to there is what a traced function hides; only the kernel knows it. */
static __always_inline bool is_hook(__u64 ip)
{
	for (__u32 i = 0; i < WIRE_ORC_HOOKS; i++)
		if (orc.hooks[i] == ip)
			return true;
	return false;
}

static __always_inline void orc_learn(struct kept_orc *rule, __u64 address)
{
	struct orc_table table = { 0 };
	struct orc_bytes entry = { 0 };
	__u64 at;

	rule->address = address;
	rule->kind = KEPT_ORC_ASK;
	rule->module = 0;
	if (!orc_table(address, &table, &rule->module))
		return;
	at = table.entries + (__u64)orc_search(table.ips, table.low, table.high, address) *
				     sizeof(struct orc_bytes);
	if (bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)at) == 0)
		orc_read(&entry, rule);
}

static __always_inline int kernel_word(__u64 address, __u64 *ret_word)
{
	return bpf_probe_read_kernel(ret_word, sizeof(*ret_word), (const void *)address);
}

/* One frame of the slot's walk. */
__noinline int kernel_step(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct kernel_walk *walk;
	struct kept_orc *rule;
	__u64 address, sp, bp;
	__u8 sp_from, bp_from;
	int bad = 0;

	if (!slot)
		return KERNEL_STEP_ASK;
	walk = &slot->kernel;
	if (is_hook(walk->ip))
		return KERNEL_STEP_ASK;
	address = walk->exact ? walk->ip : walk->ip - 1;
	rule = &slot->kernel_rules[(address * 0x9e3779b97f4a7c15ull) >> (64 - KEPT_ORC_BITS)];
	if (rule->address != address)
		orc_learn(rule, address);
	if (rule->kind == KEPT_ORC_ASK ||
	    (has_module_tables() && rule->module && !module_is_there(rule->module)))
		return KERNEL_STEP_ASK;
	/* Not before: also the last frame has to be one that the kernel would not replace. */
	if (rule->kind == KEPT_ORC_END || walk->n >= config.kernel_depth)
		return KERNEL_STEP_END;
	sp_from = rule->from & 15;
	bp_from = rule->from >> 4;
	sp = sp_from == ORC_SP || sp_from == ORC_SP_INDIRECT ? walk->sp : walk->bp;
	if (sp_from == ORC_SP_INDIRECT) {
		bad |= kernel_word(sp, &sp);
		sp += (__s64)rule->sp_offset;
	} else {
		sp += (__s64)rule->sp_offset;
		if (sp_from == ORC_BP_INDIRECT)
			bad |= kernel_word(sp, &sp);
	}
	bp = walk->bp;
	if (bp_from != ORC_UNDEFINED)
		bad |= kernel_word((bp_from == ORC_BP ? bp : sp) + (__s64)rule->bp_offset, &bp);
	if (rule->kind == KEPT_ORC_CALL) {
		bad |= kernel_word(sp - sizeof(__u64), &walk->ip);
	} else {
		/* ip, cs, flags, sp, as the processor saved them: of an interrupt that is all */
		__u64 saved[4] = { 0 }, from = sp;

		if (rule->kind == KEPT_ORC_REGISTERS)
			from += __builtin_offsetof(struct pt_regs, rip);
		bad |= bpf_probe_read_kernel(saved, sizeof(saved), (const void *)from);
		if ((saved[1] & 3) == 3)
			return KERNEL_STEP_END;
		if (rule->kind == KEPT_ORC_REGISTERS && bp_from == ORC_UNDEFINED)
			bad |= kernel_word(sp + __builtin_offsetof(struct pt_regs, rbp), &bp);
		walk->ip = saved[0];
		sp = saved[3];
	}
	/* A caller's frame lies above, but for where another stack was changed to. */
	if ((sp_from == ORC_SP || sp_from == ORC_BP) && rule->kind == KEPT_ORC_CALL)
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

/* Some frames, for the verifier's sake. */
__noinline int kernel_steps(__u32 number)
{
	int step = KERNEL_STEP_ON;

	for (__u32 i = 0; i < KERNEL_STEPS && step == KERNEL_STEP_ON; i++)
		step = kernel_step(number);
	return step;
}

/*
 * From what perf_fetch_caller_regs() leaves: where a function returns to, and its frame pointer in
 * the place of `sp`.
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

/* X86_EFLAGS_FIXED: set in all that a processor saved, and in what perf tells of it. */
#define FLAGS_FIXED 2

/* Where the event happened, into the walk. */
static __always_inline bool kernel_begin(void *ctx, enum source source, struct kernel_walk *walk)
{
	__u64 registers[4] = { 0 }, hidden = 0; /* ip, cs, flags, sp */

	if (source == SOURCE_CLOCK) {
		const struct bpf_perf_event_data *event = ctx;

		/* Context switches and their like are no interrupts. */
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

/*
 * Whether the walk came to the stack of the current task. While one task is switched to another
 * it is not: the kernel tells less of such a stack, but nothing that is the other's.
 */
static __always_inline bool ends_in_task(const struct kernel_walk *walk)
{
	const struct task_struct *task = (void *)bpf_get_current_task();

	return walk->sp - (__u64)BPF_CORE_READ(task, stack) <= KERNEL_STACK_SIZE;
}

/*
 * The kernel stack into the slot's frames. Returns the number of frames, or 0 where the kernel has
 * to be asked.
 */
static __always_inline __u32 kernel_walk(void *ctx, enum source source, struct scratch *slot,
					 __u32 number)
{
	struct kernel_walk *walk = &slot->kernel;

	if (source == SOURCE_OTHER || !bpf_core_type_exists(struct orc_entry) ||
	    bpf_core_type_size(struct orc_entry) != sizeof(struct orc_bytes) || orc.n == 0)
		return 0;
	if (orc_form == ORC_FORM_UNSEEN)
		orc_form = orc_look(orc.function);
	if (orc_form != ORC_FORM_KNOWN || !kernel_begin(ctx, source, walk))
		return 0;
	slot->frames[0] = walk->ip;
	walk->n = 1;
	for (__u32 i = 0; i < WIRE_MAX_DEPTH; i += KERNEL_STEPS) {
		int step = i < config.kernel_depth ? kernel_steps(number) : KERNEL_STEP_END;

		if (step == KERNEL_STEP_ASK)
			return 0;
		if (step == KERNEL_STEP_END)
			break;
	}
	return ends_in_task(walk) ? walk->n : 0;
}

#else

static __always_inline __u32 kernel_walk(void *ctx, enum source source, struct scratch *slot,
					 __u32 number)
{
	(void)ctx, (void)source, (void)slot, (void)number;
	return 0;
}

#endif

#endif
