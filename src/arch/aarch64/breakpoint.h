/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

static const uint8_t arch_trap[] = { 0x00, 0x00, 0x20, 0xd4 }; /* brk #0 */
#define ARCH_TRAP_PASSED 0

static inline bool arch_registers(pid_t pid, enum __ptrace_request request,
				  struct user_regs_struct *registers)
{
	struct iovec all = { .iov_base = registers, .iov_len = sizeof(*registers) };

	return ptrace(request, pid, NT_PRSTATUS, &all) == 0;
}

static inline bool arch_pc(pid_t pid, uint64_t *ret_pc)
{
	struct user_regs_struct registers;

	if (!arch_registers(pid, PTRACE_GETREGSET, &registers))
		return false;
	*ret_pc = registers.pc;
	return true;
}

static inline void arch_set_pc(pid_t pid, uint64_t pc)
{
	struct user_regs_struct registers;

	if (!arch_registers(pid, PTRACE_GETREGSET, &registers))
		return;
	registers.pc = pc;
	arch_registers(pid, PTRACE_SETREGSET, &registers);
}

static inline bool arch_makes_task(uint64_t number)
{
	return number == SYS_clone || number == SYS_clone3;
}
