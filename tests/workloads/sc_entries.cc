// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_entries N: calls functions N times whose first byte is reached more often than they are
 * called, or whose names are others than their authors gave them. They are written as compilers
 * write them.
 *
 * se_loop             a loop of 9 turns begins at its first byte
 * se_two_exits        the same with two ways out, of which each is taken every second time
 * se_endless_check    as Go checks its stack: it jumps to its first byte after it has called
 * another se_again            removes its frame and calls itself by a jump, 3 times se_split jumps
 * to its part se_split.cold every second time se_label            has a typed label without size in
 * a loop se_made             is there as se_made.isra.0 and se_made.constprop.1 only se_both is
 * there as itself and as se_both.constprop.0 se_part             is there as se_part.part.0 only
 * global(int), global(), twice<int>(int)
 */
#include <stdlib.h>

__asm__(R"(
	.text
	.macro FUNCTION name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro END name
	.cfi_endproc
	.size \name, .-\name
	.endm

FUNCTION se_loop
	inc %eax
	dec %edi
	jnz se_loop
	ret
END se_loop

FUNCTION se_two_exits
	dec %edi
	jz 1f
	cmp %esi, %edi
	jnz se_two_exits
	inc %eax
	ret
1:	ret
END se_two_exits

FUNCTION se_grower
	movl $1, grown(%rip)
	ret
END se_grower

FUNCTION se_endless_check
	cmpl $0, grown(%rip)
	je 1f
	push %rbp
	.cfi_adjust_cfa_offset 8
	movl $0, grown(%rip)
	pop %rbp
	.cfi_adjust_cfa_offset -8
	ret
1:	mov %rax, -8(%rsp)
	call se_grower
	jmp se_endless_check
END se_endless_check

FUNCTION se_again
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %edi, %ebx
	dec %ebx
	mov %ebx, %edi
	pop %rbx
	.cfi_adjust_cfa_offset -8
	test %edi, %edi
	jnz se_again
	ret
END se_again

FUNCTION se_split
	test $1, %dil
	jnz se_split.cold
1:	inc %eax
	ret
END se_split
	.type se_split.cold, @function
se_split.cold:
	.cfi_startproc
	inc %ecx
	jmp 1b
END se_split.cold

FUNCTION se_label
	mov $9, %ecx
	.type se_label_inside, @function
se_label_inside:
	dec %ecx
	jnz se_label_inside
	ret
END se_label

FUNCTION se_made.isra.0
	ret
END se_made.isra.0
FUNCTION se_made.constprop.1
	ret
END se_made.constprop.1
FUNCTION se_both
	ret
END se_both
FUNCTION se_both.constprop.0
	ret
END se_both.constprop.0
FUNCTION se_part.part.0
	ret
END se_part.part.0

	.local grown
	.comm grown, 4, 4
)");

extern "C" {
int se_loop(int);
int se_two_exits(int, int);
void se_endless_check(void);
void se_again(int);
int se_split(int);
void se_label(void);
void made_isra(void) __asm__("se_made.isra.0");
void made_constprop(void) __asm__("se_made.constprop.1");
void se_both(void);
void both_constprop(void) __asm__("se_both.constprop.0");
void part_part(void) __asm__("se_part.part.0");
}

static volatile int sink;

__attribute__((noinline)) void global(int i)
{
	sink = sink + i;
}

__attribute__((noinline)) void global()
{
	sink = sink + 1;
}

template <typename T> __attribute__((noinline)) T twice(T i)
{
	sink = sink + i;
	return i + i;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < n; i++) {
		se_loop(9);
		se_two_exits(9, i % 2 ? 4 : 90);
		se_endless_check();
		se_again(3);
		se_split(i);
		se_label();
		made_isra();
		made_constprop();
		se_both();
		both_constprop();
		part_part();
		global(i);
		global();
		twice(i);
	}
	return 0;
}
