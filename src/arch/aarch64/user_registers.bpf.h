/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define MODE_LEVEL 0xf	/* of the exception level, which is 0 for user code, */
#define MODE_32	   0x10 /* and whether it is of 32 bits */

/* The numbers of x0 to x30 and sp are DWARF's, and both structures have them in this order. */
#define TAKE_REGISTERS(walk, from)                                                                 \
	do {                                                                                       \
		_Pragma("unroll") for (int i = 0; i < 31; i++)(walk)->registers[i] =               \
			(from)->regs[i];                                                           \
		(walk)->registers[UNWIND_SP] = (from)->sp;                                         \
		(walk)->pc = (from)->pc;                                                           \
	} while (0)

/* Where the kernel saved the user registers of a task; before Linux 5.15 it does not say. */
static __always_inline const void *saved_at(const struct task_struct *task)
{
	return BPF_CORE_READ(task, stack) + ARCH_STACK_SIZE -
	       bpf_core_type_size(struct pt_regs___kernel);
}

static __always_inline bool saved_are_none(const struct pt_regs *saved)
{
	return !saved->pc && !saved->sp;
}

/* In a system call, pc is behind the instruction that made it. */
static __always_inline bool saved_are_exact(const void *at, const struct pt_regs *saved)
{
	const struct pt_regs___kernel *regs = at;

	(void)saved;
	return BPF_CORE_READ(regs, syscallno) < 0;
}

static __always_inline __u64 mode_of(const struct pt_regs *from)
{
	return from->pstate;
}

/* Whether the clock interrupted user code. */
static __always_inline bool hit_user_code(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & MODE_LEVEL) == 0;
}

/* Whether code of that mode can be walked. */
static __always_inline __u32 end_of_mode(__u64 pstate)
{
	if (pstate & MODE_LEVEL)
		return WIRE_END_REGISTERS;
	return pstate & MODE_32 ? WIRE_END_COMPAT : WIRE_END_NONE;
}

/* The caller, when a function is entered; 0 when it was read. */
static __always_inline long entry_caller(const struct unwind_walk *walk, __u64 *ret_caller)
{
	*ret_caller = ARCH_CODE_ADDRESS(walk->registers[ARCH_LINK], config.address_bits);
	return 0;
}

/* Whether bpf_get_stack() itself adds the caller of a probed function: x86's does. */
static __always_inline bool kernel_adds_caller(void)
{
	return false;
}

#define BREAKPOINT 0

static __always_inline bool did_probed_push(const struct unwind_walk *walk)
{
	(void)walk;
	return false;
}
