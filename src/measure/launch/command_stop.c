// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/command_stop.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/breakpoint.h"
#include "arch/machine.h"
#include "base/clock.h"
#include "base/own.h"

/* The dynamic linker takes milliseconds, but constructors of libraries may take for ever. */
#define ENTRY_MS 300

#define AUXV_MAX 128 /* pairs */

/* How long at most until the next look, should the signal of a stop not come. */
#define NAP_NS 1000000

void command_stop_begin(pid_t pid, struct command_stop *ret_stop)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;

	*ret_stop = (struct command_stop){ .pid = pid };
	ret_stop->tracing = ptrace(PTRACE_SEIZE, pid, NULL, options) == 0;
}

void command_stop_end(struct command_stop *stop)
{
	if (stop->tracing)
		ptrace(PTRACE_DETACH, stop->pid, NULL, NULL);
	stop->tracing = false;
}

/* It begins or ends a system call. */
static bool is_at_call(int status)
{
	return status >> 8 == (SIGTRAP | 0x80);
}

/* The signal that it was about to get, or 0. */
static int signal_of(int status)
{
	return status >> 16 || is_at_call(status) ? 0 : WSTOPSIG(status);
}

/* Continues after a stop that does not concern us: with its signal, if it has one. */
static void continue_after(const struct command_stop *stop, enum __ptrace_request how, int status)
{
	ptrace(how, stop->pid, NULL, (void *)(uintptr_t)signal_of(status));
}

static bool has_executed(int status)
{
	return status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

bool command_stop_at_exec(struct command_stop *stop)
{
	int status;

	while (stop->tracing) {
		/* WNOWAIT: if it has ended, command_ended() is to reap it. */
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)stop->pid, &info, WEXITED | WSTOPPED | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			stop->tracing = false;
			break;
		}
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
			stop->tracing = false;
			break;
		}
		if (waitpid(stop->pid, &status, __WALL) != stop->pid || !WIFSTOPPED(status))
			continue;
		if (has_executed(status))
			return true;
		continue_after(stop, PTRACE_CONT, status);
	}
	return false;
}

static bool entry_of(pid_t pid, uint64_t *ret_entry)
{
	Elf64_auxv_t auxv[AUXV_MAX];
	char path[32];
	own(own_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, auxv, sizeof(auxv));
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*auxv); i++) {
		if (auxv[i].a_type == AT_ENTRY) {
			*ret_entry = auxv[i].a_un.a_val;
			return true;
		}
	}
	return false;
}

/* The wait status of the next stop; 0: it has ended, or did not stop in time. */
static int next_stop(const struct command_stop *stop, uint64_t end_ms)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		siginfo_t info = { 0 };
		int status;

		if (waitid(P_PID, (id_t)stop->pid, &info, WEXITED | WSTOPPED | WNOWAIT | WNOHANG) <
		    0)
			return 0;
		if (info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return 0;
		if (info.si_pid && waitpid(stop->pid, &status, __WALL | WNOHANG) == stop->pid &&
		    WIFSTOPPED(status))
			return status;
		if (monotonic_ms() >= end_ms)
			return 0;
		/* The caller has it blocked, so that a stop ends the nap. */
		sigtimedwait(&child, NULL, &nap);
	}
}

static bool set_breakpoint(struct command_stop *stop)
{
	long word;

	if (!entry_of(stop->pid, &stop->entry))
		return false;
	errno = 0;
	stop->word = word = ptrace(PTRACE_PEEKTEXT, stop->pid, stop->entry, NULL);
	memcpy(&word, arch_trap, sizeof(arch_trap));
	return errno == 0 && ptrace(PTRACE_POKETEXT, stop->pid, stop->entry, word) == 0;
}

static bool was_hit(const struct command_stop *stop, int status)
{
	uint64_t pc;

	return status >> 8 == SIGTRAP && arch_pc(stop->pid, &pc) &&
	       pc == stop->entry + ARCH_TRAP_PASSED;
}

static void remove_breakpoint(const struct command_stop *stop, int status)
{
	if (was_hit(stop, status))
		arch_set_pc(stop->pid, stop->entry);
	ptrace(PTRACE_POKETEXT, stop->pid, stop->entry, stop->word);
}

/*
 * Whether it is about to make a task, which would meet the breakpoint in its copy of the memory, or
 * in the same memory; not all new tasks can be traced (CLONE_UNTRACED). Of calls in 32-bit mode,
 * which have other numbers, any may be one.
 */
static bool makes_task(const struct command_stop *stop, int status)
{
	struct __ptrace_syscall_info info = { 0 };

	if (!is_at_call(status))
		return false;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, stop->pid, sizeof(info), &info) <= 0)
		return true;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	return info.arch != ARCH_AUDIT || arch_makes_task(info.entry.nr);
}

/* Detaches from a command that runs, which ptrace allows only once it is stopped. */
static void stop_and_end(struct command_stop *stop)
{
	int status = 0, signal;

	if (ptrace(PTRACE_INTERRUPT, stop->pid, NULL, NULL) == 0)
		status = next_stop(stop, monotonic_ms() + ENTRY_MS);
	stop->tracing = false;
	if (!status)
		return; /* it has ended */
	signal = was_hit(stop, status) ? 0 : signal_of(status);
	if (!has_executed(status))
		remove_breakpoint(stop, status);
	ptrace(PTRACE_DETACH, stop->pid, NULL, (void *)(uintptr_t)signal);
}

/* Waits until the command is at its entry point, or about to make a task. */
static bool reach_entry(struct command_stop *stop)
{
	uint64_t end = monotonic_ms() + ENTRY_MS;
	int status;

	if (!set_breakpoint(stop)) {
		command_stop_end(stop);
		return false;
	}
	ptrace(PTRACE_SYSCALL, stop->pid, NULL, NULL);
	while ((status = next_stop(stop, end)) != 0) {
		if (was_hit(stop, status) || makes_task(stop, status)) {
			remove_breakpoint(stop, status);
			return true;
		}
		/* A constructor has called exec: another program, with another entry point. */
		if (has_executed(status) && !set_breakpoint(stop)) {
			command_stop_end(stop);
			return false;
		}
		continue_after(stop, PTRACE_SYSCALL, status);
	}
	stop_and_end(stop);
	return false;
}

bool command_stop_at_entry(struct command_stop *stop)
{
	sigset_t child, before;
	bool held;

	if (!stop->tracing)
		return false;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	held = reach_entry(stop);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return held;
}
