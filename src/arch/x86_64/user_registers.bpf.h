/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define USER_CS_64 0x33 /* __USER_CS */
#define RING_3	   3

/* From struct pt_regs to DWARF's order of registers. */
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

/* Where the kernel saved the user registers of a task; before Linux 5.15 it does not say. */
static __always_inline const void *saved_at(const struct task_struct *task)
{
	return BPF_CORE_READ(task, stack) + ARCH_STACK_SIZE - sizeof(struct pt_regs);
}

static __always_inline bool saved_are_none(const struct pt_regs *saved)
{
	return !saved->rip && !saved->rsp;
}

/*
 * rip after a `syscall` instruction is a return address: the instruction also left it in rcx. They
 * differ where the kernel returns to somewhere else: the start of a program, a signal handler, or
 * the same system call once more.
 */
static __always_inline bool saved_are_exact(const void *at, const struct pt_regs *saved)
{
	(void)at;
	return (__s64)saved->orig_rax >= 0 && saved->rcx == saved->rip ? 0 : 1;
}

/* The code segment tells the mode. */
static __always_inline __u64 mode_of(const struct pt_regs *from)
{
	return from->cs;
}

/* Whether the clock interrupted user code. */
static __always_inline bool hit_user_code(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) == 3; /* the ring of the code segment */
}

/* Whether code of that segment can be walked. */
static __always_inline __u32 end_of_mode(__u64 code_segment)
{
	if ((code_segment & RING_3) != RING_3)
		return WIRE_END_REGISTERS;
	return code_segment == USER_CS_64 ? WIRE_END_NONE : WIRE_END_COMPAT;
}

/* The caller, when a function is entered; 0 when it was read. */
static __always_inline long entry_caller(const struct unwind_walk *walk, __u64 *ret_caller)
{
	return bpf_probe_read_user(ret_caller, sizeof(*ret_caller),
				   (const void *)walk->registers[UNWIND_SP]);
}

#define BREAKPOINT 0xcc /* int3 */

/* The kernel emulates probed `push`es; those of one byte push one of the first eight registers. */
static __always_inline bool did_probed_push(const struct unwind_walk *walk)
{
	__u64 word = 0;
	bool pushed = false;

	if (bpf_probe_read_user(&word, sizeof(word), (const void *)walk->registers[UNWIND_SP]))
		return false;
	_Pragma("unroll") for (int i = 0; i < 8; i++) pushed |=
		i != UNWIND_SP && word == walk->registers[i];
	return pushed;
}

/*
 * Whether bpf_get_stack() itself adds the caller of a probed function. On x86, it does since
 * cfa7f3d2c526 (Linux 6.12) if the probe is on `push %rbp` or `endbr`. Comparing the first callers
 * would not do: recursion looks the same.
 */
static __always_inline bool kernel_adds_caller(void)
{
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
}
