/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Asks the kernel what the current process has mapped at an address: for walks in processes, and in
 * mappings, that user space has not heard of yet. bpf_find_vma() looks at the mappings themselves,
 * under their lock. It fails while somebody changes them, and in interrupts when it is called for
 * the second time, because releasing the lock is put off there.
 */
#ifndef STACKTALLY_BPF_UNWIND_ASK_BPF_H
#define STACKTALLY_BPF_UNWIND_ASK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_tables.bpf.h"

#define PAGE_BITS	12
#define NS_IN_SECOND	1000000000ll
#define CTIME_NSEC_MASK 0x7fffffffu
#define KERNEL_MOUNT	(1ul << 22) /* SB_KERNMOUNT */
#define OF_MEMFD	(1u << 15)  /* O_LARGEFILE, which only memfd_create() sets there */

/* A mapping as the kernel describes it. */
struct kernel_mapping {
	__u64 start, end;
	__u64 offset; /* in the file, bytes */
	struct wire_file file;
	__u64 generated; /* 1: code that the process made, in memory without a file of a path */
};

static __always_inline __s64 inode_changed(const struct inode *inode)
{
	const struct inode___6_6 *before_6_11 = (const void *)inode;
	const struct inode___5_10 *before_6_6 = (const void *)inode;

	if (bpf_core_field_exists(inode->i_ctime_sec))
		return inode->i_ctime_sec * NS_IN_SECOND + (inode->i_ctime_nsec & CTIME_NSEC_MASK);
	if (bpf_core_field_exists(before_6_11->__i_ctime))
		return before_6_11->__i_ctime.tv_sec * NS_IN_SECOND +
		       before_6_11->__i_ctime.tv_nsec;
	return before_6_6->i_ctime.tv_sec * NS_IN_SECOND + before_6_6->i_ctime.tv_nsec;
}

/* The kernel calls it with its lock held. Its pointers can be followed as they are. */
static long take_mapping(struct task_struct *task, struct vm_area_struct *area,
			 struct kernel_mapping *mapping)
{
	const struct file *file = area->vm_file;
	const struct inode *inode;

	(void)task;
	if (!(area->vm_flags & VM_EXECUTABLE))
		return 0;
	mapping->start = area->vm_start;
	mapping->end = area->vm_end;
	if (!file) {
		mapping->generated = !area->vm_ops; /* the vDSO has operations, and CFI */
		return 0;
	}
	inode = file->f_inode;
	mapping->offset = (__u64)area->vm_pgoff << PAGE_BITS;
	mapping->file.inode = inode->i_ino;
	mapping->file.size = (__u64)inode->i_size;
	mapping->file.changed = inode_changed(inode);
	mapping->file.device = inode->i_sb->s_dev;
	/* Shared memory has a file on a mount of the kernel's. memfd_create()'s may be a program.
	 */
	mapping->generated = inode->i_sb->s_flags / KERNEL_MOUNT % 2 && !(file->f_flags & OF_MEMFD);
	return 0;
}

/* How often a walk may ask. Few stacks change from file to file more often. */
#define WALK_QUESTIONS 8

/* Whether a walk ended for lack of a mapping that the kernel may know. */
static __always_inline bool asking_helps(__u32 end)
{
	return end == WIRE_END_NO_PROCESS || end == WIRE_END_NO_MAPPING;
}

/*
 * Puts the mapping of the walk's address into the slot's walk. False: there is no mapping with a
 * table or of generated code, or no question is left. A global function, which the verifier checks
 * once.
 */
__noinline int ask_kernel(__u32 number)
{
	struct scratch *slot = seldom_slot(number);
	struct kernel_mapping mapping = { 0 };
	const struct wire_file_table *table;
	struct unwind_walk *walk;

	if (!slot || slot->questions == 0)
		return false;
	slot->questions--;
	walk = &slot->walk;
	if (bpf_find_vma(bpf_get_current_task_btf(), walk->pc - (walk->exact ? 0 : 1), take_mapping,
			 &mapping, 0) < 0)
		return false;
	if (mapping.generated) {
		walk->start = mapping.start;
		walk->end = mapping.end;
		walk->bias = 0;
		walk->root = WIRE_MAPPING(0, WIRE_MAPPING_JIT);
		walk->owner = 0;
		walk->layout = 0;
		slot->stack.flags |= WIRE_STACK_ASKED;
		return true;
	}
	table = bpf_map_lookup_elem(&unwind_files, &mapping.file);
	if (!table)
		return false;
	for (__u32 i = 0; i < WIRE_FILE_CODES; i++) {
		const struct wire_code *code = &table->codes[i];

		if (mapping.offset < code->from || mapping.offset >= code->to)
			continue;
		walk->start = mapping.start;
		walk->end = mapping.end;
		walk->bias = mapping.start - mapping.offset + code->shift;
		walk->root = table->root;
		walk->owner = table->owner;
		/* No layout has the mapping, so no rule is cached for its addresses. */
		walk->layout = 0;
		slot->stack.flags |= WIRE_STACK_ASKED;
		if (UNLIKELY(table->interpreter))
			slot->asked = (struct asked_interpreter){ .image = slot->stack.image,
								  .bias = walk->bias,
								  .number = table->interpreter };
		return true;
	}
	return false;
}

/* Whether an interpreter of the process that user space has not told of was met; takes it. */
static __always_inline bool take_asked_interpreter(struct scratch *slot)
{
	if (slot->interpreter || !slot->asked.number || slot->asked.image != slot->stack.image)
		return false;
	slot->interpreter = slot->asked.number;
	slot->interpreter_bias = slot->asked.bias;
	return true;
}

#endif
