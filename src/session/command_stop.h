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
#ifndef STACKTALLY_SESSION_COMMAND_STOP_H
#define STACKTALLY_SESSION_COMMAND_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct command_stop {
	pid_t pid;
	bool tracing;
	uint64_t entry; /* where the breakpoint is */
	long word;	/* what stood there */
};

/* Before it executes. Where that is not allowed nothing is held, and that is no error. */
void command_stop_begin(pid_t pid, struct command_stop *ret_stop);

/* Waits until it has executed; true: it is held there. */
bool command_stop_at_exec(struct command_stop *stop);

/*
 * Lets it run to its entry point, or to where a library's constructor makes a process or a thread:
 * its libraries are mapped by then, and no other is to meet the breakpoint. true: it is held there.
 * Gives up after a while.
 */
bool command_stop_at_entry(struct command_stop *stop);

/* Lets it go for good. */
void command_stop_end(struct command_stop *stop);

#endif
