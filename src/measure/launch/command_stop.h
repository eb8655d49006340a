/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops the launched command twice by ptrace(2): at its exec, where the program and the dynamic
 * linker are mapped and nothing has run, and at the program's entry point, where its libraries are
 * mapped as well. So the unwinding tables for its stacks are there before its first event.
 *
 * The entry point is found by a breakpoint instruction: hardware breakpoints are silently ignored
 * in some virtual machines. All calls are from the thread that is the command's parent.
 */
#ifndef STACKTALLY_LAUNCH_COMMAND_STOP_H
#define STACKTALLY_LAUNCH_COMMAND_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct command_stop {
	pid_t pid;
	bool tracing;
	uint64_t entry; /* address of the breakpoint */
	long word;	/* what it replaced */
};

/*
 * Attaches to the command before its exec. Where that is not allowed, the other calls do nothing
 * and return false; that is no error.
 */
void command_stop_begin(pid_t pid, struct command_stop *ret_stop);

/* Waits for the exec; true: the command is stopped there. */
bool command_stop_at_exec(struct command_stop *stop);

/*
 * Continues to the entry point, or to where the constructor of a library is about to fork or to
 * make a thread: the libraries are mapped by then, and no other task may meet the breakpoint. true:
 * the command is stopped there. false: it did not get there in 300 ms, and runs on.
 *
 * Until then its system calls take some 10 us longer, and code that reads the first instruction of
 * the program finds the breakpoint.
 */
bool command_stop_at_entry(struct command_stop *stop);

/* Detaches; the command runs on. */
void command_stop_end(struct command_stop *stop);

#endif
