/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a command that is about to execute twice for a moment: when it has (its own code and the
 * dynamic linker are mapped, nothing has run), and at the entry point of its program (the
 * libraries are mapped, too). So the tables to walk its stacks by are there before its code runs,
 * with however many events it begins.
 *
 * By ptrace: from the thread that waits for the command, its parent. Must not know: tables.
 */
#ifndef STACKTALLY_SESSION_HOLD_H
#define STACKTALLY_SESSION_HOLD_H

#include <stdbool.h>
#include <sys/types.h>

struct hold {
	pid_t pid;
	bool tracing;
};

/* Before it executes. Where that is not allowed nothing is held, and that is no error. */
void hold_begin(pid_t pid, struct hold *ret_hold);

/* Waits until it has executed; true: it is held there. */
bool hold_at_exec(struct hold *hold);

/* Lets it run to its entry point; true: it is held there. Gives up after a while. */
bool hold_at_entry(struct hold *hold);

/* Lets it go for good. */
void hold_end(struct hold *hold);

#endif
