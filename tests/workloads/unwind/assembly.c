// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
/*
 * Code without any call frame information, in C and in assembly as codecs have it: its frames
 * follow from its instructions only.
 */
#include "case.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
__asm__(".text; .p2align 4\n"
	/* No frame; two entries, one of which falls through to the other. */
	"leaf_long: xor %eax, %eax; lea 1(%rdi), %rdi\n"
	"leaf: mov %rdi, %rdx; and $7, %edx; jz 1f; add %rdx, %rax; dec %rdi; jmp leaf\n"
	"1: lea (%rax,%rdi,2), %rax; ret\n"
	".p2align 4\n"
	/* Calls its own functions, so it does not align the stack. */
	"calls_its_own: call leaf_long; mov %rax, %rsi; call leaf; add %rsi, %rax; ret\n"
	".p2align 4\n"
	/* Saves registers by pushes, and has a loop. */
	"saves: push %rbx; push %rbp; push %r12; sub $32, %rsp\n"
	"mov %rdi, %rbx; mov $3, %ebp\n"
	"2: mov %rbx, 8(%rsp); mov 8(%rsp), %rdi; call calls_its_own; mov %rax, %r12\n"
	"dec %ebp; jnz 2b; mov %r12, %rax; add $32, %rsp; pop %r12; pop %rbp; pop %rbx; ret\n"
	".p2align 4\n"
	/* Align the stack; the old stack pointer is in a register, then on the stack. */
	"aligned_by_register: mov %rsp, %r11; sub $64, %rsp; and $-32, %rsp\n"
	"mov %rdi, 16(%rsp); mov 16(%rsp), %rax; lea 1(%rax), %rax; mov %r11, %rsp; ret\n"
	".p2align 4\n"
	"aligned_by_stack: push %rbp; mov %rsp, %rax; sub $96, %rsp; and $-64, %rsp; mov %rax, 72(%rsp)\n"
	"xor %ebp, %ebp; call saves; add $3, %rax; mov 72(%rsp), %rsp; pop %rbp; ret\n"
	".p2align 4\n"
	/* Saves registers for what it calls, which looks at them, and pops none but rbp. */
	"shows: push %rbp; mov %rsp, %rbp; push $77; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsi, %r8; mov %rsp, %rsi; call *%r8; add $48, %rsp; pop %rbp; ret\n"
	".p2align 4\n"
	/* With frame pointer, and a size known at run time only. */
	"framed: push %rbp; mov %rsp, %rbp; and $48, %edi; sub %rdi, %rsp; call aligned_by_register\n"
	"cmp $5, %rax; jb 3f; leave; ret\n"
	"3: xor %eax, %eax; mov %rbp, %rsp; pop %rbp; jmp leaf\n"
	".p2align 4\n"
	/* Saves registers by moves. */
	"moves: lea -40(%rsp), %rsp; mov %rbx, 24(%rsp); mov %rbp, 16(%rsp); mov %rdi, %rbx\n"
	"xor %ebp, %ebp; call aligned_by_stack; add %rbx, %rax; mov 16(%rsp), %rbp; mov 24(%rsp), %rbx\n"
	"add $40, %rsp; repz ret\n"
	".p2align 4; .fill 320, 1, 0x90\n");
/* clang-format on */

long shows(long, long (*)(long)), saves(long), aligned_by_stack(long), framed(long), moves(long);

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
		sink += fibonacci(4) + aligned_by_stack(i) + moves(i) + shows(i, framed);
		large(i);
	}
	qsort(numbers, 4, sizeof(*numbers), compare);
	return 0;
}
