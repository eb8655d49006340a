// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * Functions whose CFI is marked as that of a signal frame and that are called like any other: only
 * the kernel's trampoline has the kernel's frame. Two of them call on another stack, as the
 * runtime of OCaml 5 does: their callers are below and above it in memory.
 */
#include <stdint.h>

#include "case.h"

asm(".text\n"
    "calls_back:	.cfi_startproc\n"
    "	.cfi_signal_frame\n"
    "	sub $24, %rsp\n"
    "	.cfi_adjust_cfa_offset 24\n"
    "	call *%rdi\n"
    "	add $24, %rsp\n"
    "	.cfi_adjust_cfa_offset -24\n"
    "	ret\n"
    "	.cfi_endproc\n");
void calls_back(void (*function)(void));

/* The last word of the other stack has the caller's stack pointer. */
asm("calls_on:	.cfi_startproc\n"
    "	.cfi_signal_frame\n"
    "	push %rbp\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.cfi_offset %rbp, -16\n"
    "	mov %rsp, -16(%rsi)\n"
    "	lea -16(%rsi), %rsp\n"
    "	.cfi_escape 0x0f,5,0x77,0,0x06,0x23,16\n"
    "	call *%rdi\n"
    "	mov (%rsp), %rsp\n"
    "	.cfi_def_cfa %rsp, 16\n"
    "	pop %rbp\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	.cfi_restore %rbp\n"
    "	ret\n"
    "	.cfi_endproc\n");
void calls_on(void (*function)(void), void *stack_end);

static char lower[4096] __attribute__((aligned(16)));

static NOINLINE void leaf(void)
{
	sink++;
}

static NOINLINE void work(void)
{
	calls_back(leaf);
	sink++;
}

static NOINLINE void on_lower(void)
{
	calls_on(work, lower + sizeof(lower));
	sink++;
}

static NOINLINE void on_higher(void *end)
{
	calls_on(work, end);
	sink++;
}

int main(void)
{
	char higher[4096] __attribute__((aligned(16)));

	take_signals();
	calls_back(work);
	on_lower();
	on_higher(higher + sizeof(higher));
	return 0;
}
