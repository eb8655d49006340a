// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -g0
/*
 * An interpreter in assembly whose call frame information states one frame for all of its code, as
 * LuaJIT's does: its entries, its returns and the subroutines within it have other frames.
 */
#include "case.h"

/* clang-format off */
__asm__(".text; .p2align 4\n"
	".type machine, @function\n"
	"machine:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 80\n"
	".cfi_offset rbp, -16\n"
	".cfi_offset r15, -24\n"
	".cfi_offset r14, -32\n"
	".cfi_offset rbx, -40\n"
	/* Operations, each of which jumps to the next. */
	"add: add $3, %rbp; jmp *(%r14)\n"
	"remainder: mov %rbp, %rax; mov $7, %ecx; call divide; mov %rax, %rbp; jmp *8(%r14)\n"
	"greatest: mov %rbp, %rdi; call larger_than; mov %rax, %rbp; jmp *16(%r14)\n"
	"leave: mov %rbp, %rax\n"
	"add $40, %rsp; pop %rbx; pop %r14; pop %r15; pop %rbp; ret\n"
	/* Entries. */
	"enter: push %rbp; push %r15; push %r14; push %rbx; sub $40, %rsp\n"
	"mov %rdi, %rbp; lea operations(%rip), %r14; jmp *24(%r14)\n"
	"enter_last: push %rbp; push %r15; push %r14; push %rbx; lea -40(%rsp), %rsp\n"
	"mov %rdi, %rbp; lea operations(%rip), %r14; jmp greatest\n"
	/* Subroutines: a leaf with a loop, and one that saves a register and calls another. */
	"divide: xor %edx, %edx\n"
	"1: cmp %rcx, %rax; jb 2f; sub %rcx, %rax; inc %edx; jmp 1b\n"
	"2: ret\n"
	"larger_than: push %rbx; mov %rdi, %rbx; lea 9(%rdi), %rax; mov $11, %ecx; call divide\n"
	"cmp %rbx, %rax; ja 3f; mov %rbx, %rax; pop %rbx; ret\n"
	"3: pop %rbx; ret\n"
	".cfi_endproc\n"
	".size machine, . - machine\n"
	".data; .p2align 3\n"
	"operations: .quad remainder, greatest, leave, add\n"
	".text\n");
/* clang-format on */

long enter(long), enter_last(long);

static void NOINLINE run(long n)
{
	sink += enter(n) + enter_last(n);
}

int main(void)
{
	take_signals();
	for (int i = 0; i < 20; i++)
		run(i * 5);
	return 0;
}
