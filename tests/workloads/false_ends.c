// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O1 -fno-optimize-sibling-calls
/*
 * Stacks that end where nothing says that they end: false_ends gap|zero|garbage [MS]
 *	gap      called by code without call frame information
 *	zero     0 is the return address of a function that is said to have been called
 *	garbage  the same, and it is an address of nothing
 * Ends when the time is up, without returning.
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

/* on_stack: goes on in called() with the return address given, on the stack as it is. */
asm(".text\n"
    "on_gap:	sub $8, %rsp\n"
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
