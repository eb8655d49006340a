// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
/*
 * Nothing says anything of this code, neither assembly as codecs have it nor what C makes of it:
 * where its frames are follows from its instructions.
 */
#include "case.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
__asm__(".text; .p2align 4\n"
	/* No stack at all; two ways in, of which one falls into the other. */
	"leaf_long: xor %eax, %eax; lea 1(%rdi), %rdi\n"
	"leaf: mov %rdi, %rdx; and $7, %edx; jz 1f; add %rdx, %rax; dec %rdi; jmp leaf\n"
	"1: lea (%rax,%rdi,2), %rax; ret\n"
	".p2align 4\n"
	/* A stack that is not aligned for who it calls, as it is its own. */
	"calls_its_own: call leaf_long; mov %rax, %rsi; call leaf; add %rsi, %rax; ret\n"
	".p2align 4\n"
	/* Registers saved on it, and a loop. */
	"saves: push %rbx; push %rbp; push %r12; sub $32, %rsp\n"
	"mov %rdi, %rbx; mov $3, %ebp\n"
	"2: mov %rbx, 8(%rsp); mov 8(%rsp), %rdi; call calls_its_own; mov %rax, %r12\n"
	"dec %ebp; jnz 2b; mov %r12, %rax; add $32, %rsp; pop %r12; pop %rbp; pop %rbx; ret\n"
	".p2align 4\n"
	/* Aligned by hand: what the stack pointer was is in a register, then on the stack. */
	"aligned_by_register: mov %rsp, %r11; sub $64, %rsp; and $-32, %rsp\n"
	"mov %rdi, 16(%rsp); mov 16(%rsp), %rax; lea 1(%rax), %rax; mov %r11, %rsp; ret\n"
	".p2align 4\n"
	"aligned_by_stack: push %rbp; mov %rsp, %rax; sub $96, %rsp; and $-64, %rsp; mov %rax, 72(%rsp)\n"
	"xor %ebp, %ebp; call saves; add $3, %rax; mov 72(%rsp), %rsp; pop %rbp; ret\n"
	".p2align 4\n"
	/* By frame pointer, of a size that is known when it runs. */
	"framed: push %rbp; mov %rsp, %rbp; and $48, %edi; sub %rdi, %rsp; call aligned_by_register\n"
	"cmp $5, %rax; jb 3f; leave; ret\n"
	"3: xor %eax, %eax; mov %rbp, %rsp; pop %rbp; jmp leaf\n"
	".p2align 4\n"
	/* Registers saved by moves. */
	"moves: lea -40(%rsp), %rsp; mov %rbx, 24(%rsp); mov %rbp, 16(%rsp); mov %rdi, %rbx\n"
	"xor %ebp, %ebp; call aligned_by_stack; add %rbx, %rax; mov 16(%rsp), %rbp; mov 24(%rsp), %rbx\n"
	"add $40, %rsp; repz ret\n"
	".p2align 4; .fill 320, 1, 0x90\n");
/* clang-format on */

long saves(long), aligned_by_stack(long), framed(long), moves(long);

static int NOINLINE compare(const void *a, const void *b)
{
	sink += framed(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

static long NOINLINE fibonacci(long n)
{
	return n < 2 ? n + saves(n) : fibonacci(n - 1) + fibonacci(n - 2);
}

static void NOINLINE large(int n)
{
	char bytes[20000];

	memset(bytes, n, 64);
	sink += bytes[n] + moves(n);
}

int main(void)
{
	int numbers[] = { 5, 3, 9, 1 };

	take_signals();
	for (int i = 0; i < 3; i++) {
		sink += fibonacci(4) + aligned_by_stack(i) + moves(i);
		large(i);
	}
	qsort(numbers, 4, sizeof(*numbers), compare);
	return 0;
}
