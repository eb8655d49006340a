/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel structures that programs read, each with only the fields they read. CO-RE takes the
 * real offsets from the running kernel's BTF when the programs are loaded.
 */
#ifndef STACKTALLY_BPF_KERNEL_BPF_H
#define STACKTALLY_BPF_KERNEL_BPF_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id; /* 0: version 2 */
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
};

struct super_block {
	__u32 s_dev;
	unsigned long s_flags;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

/* The change time has had three names: until Linux 6.5, until 6.10, and since. */
struct inode {
	unsigned long i_ino;
	__s64 i_size;
	struct super_block *i_sb;
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec; /* the highest bit is a flag */
};

struct inode___6_6 {
	struct timespec64 __i_ctime;
};

struct inode___5_10 {
	struct timespec64 i_ctime;
};

struct file {
	unsigned int f_flags;
	struct inode *f_inode;
};

struct linux_binprm {
	struct file *file;
	const char *filename; /* as exec was given it */
	const char *interp;   /* the same, but of what executes a script */
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	const struct vm_operations_struct *vm_ops; /* NULL: anonymous memory */
	struct file *vm_file;
};

#define VM_EXECUTABLE 4ul /* VM_EXEC */

#define XOL_SLOT 128 /* UPROBE_XOL_SLOT_BYTES: more than an instruction or the trampoline takes */

/* Where a process executes probed instructions; functions return to its first bytes. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/* x86-64 */
struct mm_context {
	__u64 ctx_id; /* a number that no other address space ever has */
};

struct mm_struct {
	unsigned long flags;
	struct mm_context context;
	unsigned long task_size; /* of the addresses that user space may have */
	struct uprobes_state uprobes_state;
	unsigned long exec_vm;	   /* pages of executable mappings */
	unsigned long start_stack; /* the stack pointer that the program began with */
};

struct mm_struct___6_18 {
	struct {
		unsigned long __mm_flags[1];
	} flags;
};

#define MM_HAS_UPROBES (1ul << 19) /* MMF_HAS_UPROBES */

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads that have not exited */
};

struct arch_uprobe {
	__u8 insn[16];
};

/* A function that runs, and whose return is probed. */
struct return_instance {
	unsigned long stack;	      /* where its return address was, ... */
	unsigned long orig_ret_vaddr; /* ... and that address */
	struct return_instance *next; /* that of a function which called it */
};

struct uprobe_task {
	struct return_instance *return_instances;
	struct arch_uprobe *auprobe; /* the probe being handled; since cfa7f3d2c526 (Linux 6.12) */
	unsigned long vaddr;	     /* of the probed instruction, ... */
	unsigned long xol_vaddr;     /* ... and of its copy, which is executed; 0: none */
};

struct thread_struct {
	unsigned long sp;     /* of the kernel stack, while the thread is off the CPU */
	unsigned long fsbase; /* where the thread's own data of user space is */
};

/* What `sp` points to. */
struct inactive_task_frame {
	unsigned long bp;
	unsigned long ret_addr;
};

struct sched_entity {
	__u64 sum_exec_runtime;	     /* ns on a CPU */
	__u64 prev_sum_exec_runtime; /* ... until it was last put on one */
};

struct sched_info {
	unsigned long long last_arrival; /* on a CPU, by the scheduler's clock */
};

struct task_struct {
	void *stack;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	struct pid *thread_pid; /* since 4.19 (2c4704756cab): pids[PIDTYPE_PID].pid before */
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	char comm[16];
	struct signal_struct *signal;
	struct uprobe_task *utask;
	unsigned int in_execve : 1;
	struct thread_struct thread;
	int prio;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int __state;
};

struct task_struct___5_10 {
	long state;
};

/* An entry of the kernel's unwinding tables. Kernels have one of the last two bits, or both. */
struct orc_entry {
	__s16 sp_offset;
	__s16 bp_offset;
	unsigned int sp_reg : 4;
	unsigned int bp_reg : 4;
	unsigned int type : 2;
	unsigned int signal : 1; /* since Linux 6.3 (ffb1b4a41016) */
	unsigned int end : 1;	 /* before Linux 6.4 (fb799447ae29) */
};

/* Where a module's text is: in one of these. */
struct module_layout {
	void *base;
	unsigned int text_size;
};

struct module_memory { /* since Linux 6.4 (ac3b43283923) */
	void *base;
	unsigned int size;
};

struct mod_arch_specific {
	unsigned int num_orcs;
	int *orc_unwind_ip;
	struct orc_entry *orc_unwind;
};

struct module {
	struct module_layout core_layout;
	struct module_memory mem[1]; /* the first is its text */
	struct mod_arch_specific arch;
};

/* What the iterator over threads is called with. */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
