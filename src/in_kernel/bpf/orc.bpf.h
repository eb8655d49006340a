/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Look-ups in the kernel's own unwinding tables (ORC: arch/x86/kernel/unwind_orc.c and
 * arch/x86/include/asm/orc_types.h), which are read where they are in kernel memory. User space
 * says where that is (kernel/orc_tables.h).
 */
#ifndef STACKTALLY_BPF_ORC_BPF_H
#define STACKTALLY_BPF_ORC_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "arch/kernel.h"
#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/variables.bpf.h"
#include "bpf/wire.h"

/* Whether the tables have the form that is known here. Linux 7.2 numbers registers differently. */
enum orc_form { ORC_FORM_UNSEEN, ORC_FORM_KNOWN, ORC_FORM_OTHER };

/* Sorted by start; user space writes it before it sets orc.n_modules. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_MODULES);
	__type(key, __u32);
	__type(value, struct wire_module);
} kernel_modules SEC(".maps");

#if ARCH_HAS_ORC

#define ORC_STEPS    22 /* of a search, enough for 4 million entries */
#define ORC_BLOCK    4096
#define ORC_BLOCKS   8192 /* 32 MB of text: more than any distribution's kernel has */
#define ORC_NEAR     128  /* entries; most blocks have fewer */
#define MODULE_STEPS 8

/*
 * For each block of the core kernel's text, the index of the entry that holds at its start; 0: not
 * searched for yet.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ORC_BLOCKS);
	__type(key, __u32);
	__type(value, __u32);
} orc_blocks SEC(".maps");

/* ORC_REG_* in asm/orc_types.h, before Linux 7.2; orc_look() detects other numbers. */
enum orc_register {
	ORC_UNDEFINED = 0,
	ORC_PREVIOUS_SP = 1,
	ORC_BP = 4,
	ORC_SP = 5,
	ORC_BP_INDIRECT = 8,
	ORC_SP_INDIRECT = 9,
};

/* Linux 6.4 (fb799447ae29) made "end of stack" a type of entry. Before, it was a flag. */
static __always_inline bool orc_has_end_flag(void)
{
	return bpf_core_field_exists(((struct orc_entry *)0)->end);
}

/* From ORC_TYPE_*, or before from UNWIND_HINT_TYPE_*. */
static __always_inline __u8 orc_kind(__u8 type, bool end)
{
	if (orc_has_end_flag()) {
		type &= 3;
		return end	   ? ORC_RULE_END
		       : type == 0 ? ORC_RULE_CALL
		       : type == 1 ? ORC_RULE_REGISTERS
		       : type == 2 ? ORC_RULE_INTERRUPT
				   : ORC_RULE_ASK;
	}
	type &= 7;
	return type == 1   ? ORC_RULE_END
	       : type == 2 ? ORC_RULE_CALL
	       : type == 3 ? ORC_RULE_REGISTERS
	       : type == 4 ? ORC_RULE_INTERRUPT
			   : ORC_RULE_ASK;
}

/* struct orc_entry in memory. */
struct orc_bytes {
	__s16 sp_offset, bp_offset;
	__u8 registers, flags;
};

/* Decodes an entry. */
static __always_inline void orc_read(const struct orc_bytes *entry, struct orc_rule *rule)
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
		rule->exact = rule->kind != ORC_RULE_CALL;
	else
		rule->exact = (flags & (orc_has_end_flag() ? 4 : 8)) != 0;
	if (rule->kind == ORC_RULE_END)
		return;
	/* The meaning of ORC_SP_INDIRECT changed in Linux 5.13 (aafeb14e9da2). */
	if ((sp != ORC_SP && sp != ORC_BP && sp != ORC_BP_INDIRECT &&
	     (sp != ORC_SP_INDIRECT || orc_has_end_flag())) ||
	    (bp != ORC_UNDEFINED && bp != ORC_PREVIOUS_SP && bp != ORC_BP))
		rule->kind = ORC_RULE_ASK;
}

/* The address from which on entry `number` holds. */
static __always_inline __u64 orc_start(__u64 ips, __u64 number)
{
	__u64 at = ips + number * sizeof(__s32);
	__s32 offset = 0;

	bpf_probe_read_kernel(&offset, sizeof(offset), (const void *)at);
	return at + offset;
}

/* The index of the entry of [from, to) that holds for an address. */
__noinline __u32 orc_search(__u64 ips, __u32 from, __u32 to, __u64 address)
{
	__u64 low = from, high = to;

	/* Unlike UNWIND_SEARCH, stops early: each step calls a helper to read memory. */
	for (__u32 i = 0; i < ORC_STEPS && low + 1 < high; i++) {
		__u64 middle = (low + high) / 2;

		BISECT(low, high, middle, orc_start(ips, middle), address);
	}
	return low;
}

/*
 * Whether entries have the known form, by the entry of a known C function: at its first instruction
 * the caller's stack pointer is sp + 8, above the return address. enum orc_form.
 */
__noinline int orc_look(__u64 function)
{
	__u64 at = orc.entries +
		   (__u64)orc_search(orc.ips, 0, orc.n, function) * sizeof(struct orc_bytes);
	struct orc_bytes entry = { 0 };
	struct orc_rule rule = { 0 };

	if (bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)at))
		return ORC_FORM_OTHER;
	orc_read(&entry, &rule);
	return rule.kind == ORC_RULE_CALL && rule.from == ORC_SP && rule.sp_offset == 8
		       ? ORC_FORM_KNOWN
		       : ORC_FORM_OTHER;
}

/* The number, from 1, of the module whose range holds an address; 0: none. */
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
		BISECT(below, high, middle, module->start, address);
	}
	low = below;
	module = bpf_map_lookup_elem(&kernel_modules, &low);
	if (!module || address < module->start || address >= module->end)
		return 0;
	return low + 1;
}

/* False for kernels that are built without modules. */
static __always_inline bool has_module_tables(void)
{
	return bpf_core_field_exists(((struct mod_arch_specific *)0)->orc_unwind_ip) &&
	       (bpf_core_field_exists(((struct module *)0)->mem) ||
		bpf_core_field_exists(((struct module *)0)->core_layout));
}

/* After unload, this read fails or returns another address. */
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

/* Whether an address is in a module's text. */
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

/* A table, and the range [low, high) of its entries to search. */
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
 * The core kernel's table, narrowed to the block of text that an address is in. An interrupted
 * address is mostly a new one, and a search of all entries touches fifteen lines that are in no
 * cache.
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

/* The table that has the rule of an address, and its module's number (0: the core kernel). */
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

/*
 * Whether tracing puts the address of this instruction, or of the one behind it, in the place of a
 * return address, which only the kernel knows.
 */
static __always_inline bool is_hook(__u64 address)
{
	for (__u32 i = 0; i < WIRE_ORC_HOOKS; i++)
		if (orc.hooks[i] - address <= 1)
			return true;
	return false;
}

/* Looks up the rule of an address; its kind is ORC_RULE_ASK if there is none. */
static __always_inline void orc_learn(struct orc_rule *rule, __u64 address)
{
	struct orc_table table = { 0 };
	struct orc_bytes entry = { 0 };
	__u64 at;

	rule->address = address;
	rule->kind = ORC_RULE_ASK;
	rule->module = 0;
	if (is_hook(address) || !orc_table(address, &table, &rule->module))
		return;
	at = table.entries + (__u64)orc_search(table.ips, table.low, table.high, address) *
				     sizeof(struct orc_bytes);
	if (bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)at) == 0)
		orc_read(&entry, rule);
}

#endif

#endif
