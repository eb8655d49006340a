// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * Frames as hand-written assembly describes them: the CFA from other registers than rsp and rbp,
 * through memory, indexed; rbp in general use, and 0; a return address in a register; arguments
 * that the callee pops.
 */
#include "case.h"

/* `callee` leaves all registers alone; `clobbers` saves, uses and restores r15 and rbx. */
asm(".text\n"
    "callee:	.cfi_startproc\n"
    "	nop\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "clobbers:	.cfi_startproc\n"
    "	push %r15\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.cfi_offset %r15, -16\n"
    "	push %rbx\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.cfi_offset %rbx, -24\n"
    "	xor %r15d, %r15d\n"
    "	lea -64(%rsp), %rbx\n"
    "	call callee\n"
    "	nop\n"
    "	pop %rbx\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	.cfi_restore %rbx\n"
    "	pop %r15\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	.cfi_restore %r15\n"
    "	ret\n"
    "	.cfi_endproc\n");

/* The caller's stack pointer is in a scratch register, the stack aligned and moved. */
#define BY_SCRATCH(reg)                                                                            \
	asm("by_" #reg ":	.cfi_startproc\n"                                                        \
	    "	mov %rsp, %" #reg "\n"                                                             \
	    "	.cfi_def_cfa_register %" #reg "\n"                                                 \
	    "	push %rbp\n"                                                                         \
	    "	.cfi_offset %rbp, -16\n"                                                             \
	    "	xor %ebp, %ebp\n"                                                                    \
	    "	sub $200, %rsp\n"                                                                    \
	    "	and $-64, %rsp\n"                                                                    \
	    "	nop\n"                                                                               \
	    "	call callee\n"                                                                       \
	    "	mov -8(%" #reg "), %rbp\n"                                                         \
	    "	.cfi_restore %rbp\n"                                                                 \
	    "	mov %" #reg ", %rsp\n"                                                             \
	    "	.cfi_def_cfa_register %rsp\n"                                                        \
	    "	ret\n"                                                                               \
	    "	.cfi_endproc\n");                                                                  \
	void by_##reg(void)
BY_SCRATCH(rax);
BY_SCRATCH(r9);
BY_SCRATCH(r10);
BY_SCRATCH(r11);

/* The same in registers that callees keep, and with a callee that uses them meanwhile. */
#define BY_SAVED(reg, callee)                                                                      \
	asm("by_" #reg "_" #callee ":	.cfi_startproc\n"                                            \
	    "	push %" #reg "\n"                                                                  \
	    "	.cfi_adjust_cfa_offset 8\n"                                                          \
	    "	.cfi_offset %" #reg ", -16\n"                                                      \
	    "	mov %rsp, %" #reg "\n"                                                             \
	    "	.cfi_def_cfa_register %" #reg "\n"                                                 \
	    "	sub $200, %rsp\n"                                                                    \
	    "	and $-64, %rsp\n"                                                                    \
	    "	call " #callee "\n"                                                                \
	    "	nop\n"                                                                               \
	    "	mov %" #reg ", %rsp\n"                                                             \
	    "	.cfi_def_cfa_register %rsp\n"                                                        \
	    "	pop %" #reg "\n"                                                                   \
	    "	.cfi_adjust_cfa_offset -8\n"                                                         \
	    "	.cfi_restore %" #reg "\n"                                                          \
	    "	ret\n"                                                                               \
	    "	.cfi_endproc\n");                                                                  \
	void by_##reg##_##callee(void)
BY_SAVED(r15, callee);
BY_SAVED(r15, clobbers);
BY_SAVED(rbx, callee);
BY_SAVED(rbx, clobbers);

/* *(rsp + 16) + 8 */
asm("by_memory:	.cfi_startproc\n"
    "	mov %rsp, %rax\n"
    "	.cfi_def_cfa_register %rax\n"
    "	sub $200, %rsp\n"
    "	and $-64, %rsp\n"
    "	mov %rax, 16(%rsp)\n"
    "	.cfi_escape 0x0f,5,0x77,16,0x06,0x23,8\n"
    "	xor %eax, %eax\n"
    "	nop\n"
    "	mov 16(%rsp), %rsp\n"
    "	.cfi_def_cfa %rsp, 8\n"
    "	ret\n"
    "	.cfi_endproc\n");
void by_memory(void);

/* *(rsp + 24) + 8 around a call */
asm("by_memory_calls:	.cfi_startproc\n"
    "	mov %rsp, %rax\n"
    "	.cfi_def_cfa_register %rax\n"
    "	sub $200, %rsp\n"
    "	and $-64, %rsp\n"
    "	mov %rax, 24(%rsp)\n"
    "	.cfi_escape 0x0f,5,0x77,24,0x06,0x23,8\n"
    "	xor %eax, %eax\n"
    "	call clobbers\n"
    "	mov 24(%rsp), %rax\n"
    "	.cfi_def_cfa %rax, 8\n"
    "	mov %rax, %rsp\n"
    "	.cfi_def_cfa_register %rsp\n"
    "	ret\n"
    "	.cfi_endproc\n");
void by_memory_calls(void);

/* *(rsp + 8 + 8 * r9) + 8, as in multiplications of big numbers */
asm("by_index:	.cfi_startproc\n"
    "	mov %rsp, %rax\n"
    "	.cfi_def_cfa_register %rax\n"
    "	mov $5, %r9d\n"
    "	sub $200, %rsp\n"
    "	and $-64, %rsp\n"
    "	mov %rax, 8(%rsp,%r9,8)\n"
    "	.cfi_escape 0x0f,10,0x77,8,0x79,0,0x38,0x1e,0x22,0x06,0x23,8\n"
    "	xor %eax, %eax\n"
    "	nop\n"
    "	mov 8(%rsp,%r9,8), %rax\n"
    "	.cfi_def_cfa %rax, 8\n"
    "	mov %rax, %rsp\n"
    "	.cfi_def_cfa_register %rsp\n"
    "	ret\n"
    "	.cfi_endproc\n");
void by_index(void);

/* The return address is in rcx for a while. */
asm("in_register:	.cfi_startproc\n"
    "	pop %rcx\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	.cfi_register %rip, %rcx\n"
    "	nop\n"
    "	push %rcx\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.cfi_rel_offset %rip, 0\n"
    "	ret\n"
    "	.cfi_endproc\n");
void in_register(void);

/* Pops its two arguments. */
asm("pops_arguments:	.cfi_startproc\n"
    "	mov 8(%rsp), %rax\n"
    "	ret $16\n"
    "	.cfi_endproc\n"
    "passes_arguments:	.cfi_startproc\n"
    "	push %rax\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	push $1\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	push $2\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	call pops_arguments\n"
    "	.cfi_adjust_cfa_offset -16\n"
    "	pop %rax\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	ret\n"
    "	.cfi_endproc\n");
void passes_arguments(void);

/* Keeps rbp on the stack and uses it: 0, a number, an address outside of the stack. */
asm("uses_rbp:	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset %rbp, -16\n"
    "	xor %ebp, %ebp\n"
    "	call callee\n"
    "	mov $0x1234567, %ebp\n"
    "	call clobbers\n"
    "	mov $-1, %rbp\n"
    "	nop\n"
    "	pop %rbp\n"
    "	.cfi_def_cfa_offset 8\n"
    "	.cfi_restore %rbp\n"
    "	ret\n"
    "	.cfi_endproc\n");
void uses_rbp(void);

/* rbp is in another register for a while, and its caller's CFA needs it. */
asm("rbp_in_r11:	.cfi_startproc\n"
    "	mov %rbp, %r11\n"
    "	.cfi_register %rbp, %r11\n"
    "	xor %ebp, %ebp\n"
    "	nop\n"
    "	mov %r11, %rbp\n"
    "	.cfi_restore %rbp\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "needs_rbp:	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset %rbp, -16\n"
    "	mov %rsp, %rbp\n"
    "	.cfi_def_cfa_register %rbp\n"
    "	call rbp_in_r11\n"
    "	call uses_rbp\n"
    "	pop %rbp\n"
    "	.cfi_def_cfa %rsp, 8\n"
    "	.cfi_restore %rbp\n"
    "	ret\n"
    "	.cfi_endproc\n");
void needs_rbp(void);

int main(void)
{
	take_signals();
	by_rax();
	by_r9();
	by_r10();
	by_r11();
	by_r15_callee();
	by_r15_clobbers();
	by_rbx_callee();
	by_rbx_clobbers();
	by_memory();
	by_memory_calls();
	by_index();
	in_register();
	passes_arguments();
	uses_rbp();
	needs_rbp();
	return 0;
}
