/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static const uint8_t arch_trap[] = { 0xcc }; /* int3 */
#define ARCH_TRAP_PASSED 1

#define PROGRAM_COUNTER offsetof(struct user_regs_struct, rip)
#define X32_CALL	0x40000000

static inline bool arch_pc(pid_t pid, uint64_t *ret_pc)
{
	errno = 0;
	*ret_pc = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, PROGRAM_COUNTER, NULL);
	return errno == 0;
}

static inline void arch_set_pc(pid_t pid, uint64_t pc)
{
	ptrace(PTRACE_POKEUSER, pid, PROGRAM_COUNTER, pc);
}

static inline bool arch_makes_task(uint64_t number)
{
	switch (number & ~(uint64_t)X32_CALL) {
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone:
	case SYS_clone3:
		return true;
	default:
		return false;
	}
}
