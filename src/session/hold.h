/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a command that is about to execute twice for a moment: when it has (its own code and the
 * dynamic linker are mapped, nothing has run), and at the entry point of its program (the
 * libraries are mapped, too). So the tables to walk its stacks by are there before its code runs,
 * with however many events it begins.
 *
 * By ptrace, and an instruction that traps in place of the program's first: debug registers do
 * nothing in some virtual machines, without a word. From the thread that waits for the command,
 * its parent. Must not know: tables.
 */
#ifndef STACKTALLY_SESSION_HOLD_H
#define STACKTALLY_SESSION_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hold {
	pid_t pid;
	bool tracing;
	uint64_t entry; /* where the breakpoint is */
	long word;	/* what stood there */
};

/* Before it executes. Where that is not allowed nothing is held, and that is no error. */
void hold_begin(pid_t pid, struct hold *ret_hold);

/* Waits until it has executed; true: it is held there. */
bool hold_at_exec(struct hold *hold);

/*
 * Lets it run to its entry point, or to where a library's constructor makes a process or a thread:
 * its libraries are mapped by then, and no other is to meet the breakpoint. true: it is held there.
 * Gives up after a while.
 */
bool hold_at_entry(struct hold *hold);

/* Lets it go for good. */
void hold_end(struct hold *hold);

#endif
