// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O1 -fno-optimize-sibling-calls
/*
 * Stacks that cannot be walked to their end: false_ends gap|zero|garbage [MS]
 *	gap      called() is called by code without call frame information, whose stack
 *		pointer is not followed
 *	zero     called() has the return address 0, but its CFI does not mark the end of the stack
 *	garbage  the same with a return address that is not mapped
 * Exits when the time is up, without returning.
 */
#include <string.h>

#include "burn.h"

static uint64_t ns;

static __attribute__((used, noinline)) void spin(void)
{
	burn(ns);
	_exit(0);
}

__attribute__((noinline)) void called(void)
{
	spin();
	_exit(1);
}

/* on_stack: pushes `address` as the return address and jumps to called(). */
asm(".text\n"
    "on_gap:	sub $8, %rsp\n"
    "	xchg %rax, %rsp\n" /* no rule can be derived from instructions */
    "	xchg %rax, %rsp\n"
    "	call called\n"
    "	ud2\n"
    "on_stack:	push %rdi\n"
    "	jmp called\n");
void on_gap(void);
void on_stack(uint64_t address);

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	ns = ns_argument(argc, argv, 2);
	say_ready();
	if (!strcmp(what, "gap"))
		on_gap();
	else if (!strcmp(what, "zero"))
		on_stack(0);
	else if (!strcmp(what, "garbage"))
		on_stack(0x123456789000);
	return 2;
}
