// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/command_stop.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

/* The dynamic linker takes milliseconds, but constructors of libraries may take for ever. */
#define ENTRY_MS 300

#define AUXV_MAX 128 /* pairs */

#define NEW_TASKS (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

void command_stop_begin(pid_t pid, struct command_stop *ret_stop)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | NEW_TASKS;

	*ret_stop = (struct command_stop){ .pid = pid };
	ret_stop->tracing = ptrace(PTRACE_SEIZE, pid, NULL, options) == 0;
}

void command_stop_end(struct command_stop *stop)
{
	if (stop->tracing)
		ptrace(PTRACE_DETACH, stop->pid, NULL, NULL);
	stop->tracing = false;
}

/* Continues after a stop that does not concern us: with its signal, if it has one. */
static void continue_after(const struct command_stop *stop, int status)
{
	int event = status >> 16;

	ptrace(PTRACE_CONT, stop->pid, NULL, (void *)(uintptr_t)(event ? 0 : WSTOPSIG(status)));
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
		continue_after(stop, status);
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
	const struct timespec moment = { .tv_nsec = 200000 };

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
		nanosleep(&moment, NULL);
	}
}

#if defined(__x86_64__)

static const uint8_t trap[] = { 0xcc }; /* int3; rip is behind it when it stops */
#define PROGRAM_COUNTER offsetof(struct user_regs_struct, rip)

#else
#error "breakpoints of this architecture are not known yet"
#endif

static bool set_breakpoint(struct command_stop *stop)
{
	long word;

	if (!entry_of(stop->pid, &stop->entry))
		return false;
	errno = 0;
	stop->word = word = ptrace(PTRACE_PEEKTEXT, stop->pid, stop->entry, NULL);
	memcpy(&word, trap, sizeof(trap));
	return errno == 0 && ptrace(PTRACE_POKETEXT, stop->pid, stop->entry, word) == 0;
}

static bool was_hit(const struct command_stop *stop, int status)
{
	errno = 0;
	return status >> 8 == SIGTRAP &&
	       (uint64_t)ptrace(PTRACE_PEEKUSER, stop->pid, PROGRAM_COUNTER, NULL) ==
		       stop->entry + sizeof(trap) &&
	       errno == 0;
}

static void remove_breakpoint(const struct command_stop *stop, int status)
{
	if (was_hit(stop, status))
		ptrace(PTRACE_POKEUSER, stop->pid, PROGRAM_COUNTER, stop->entry);
	ptrace(PTRACE_POKETEXT, stop->pid, stop->entry, stop->word);
}

/*
 * After the stop of a fork or clone: the new task is traced, too, and has the breakpoint in its
 * memory. Removes it there and detaches.
 */
static bool release_new_task(const struct command_stop *stop, int status)
{
	int event = status >> 16, stopped;
	unsigned long task;

	if (event != PTRACE_EVENT_FORK && event != PTRACE_EVENT_VFORK &&
	    event != PTRACE_EVENT_CLONE)
		return false;
	if (ptrace(PTRACE_GETEVENTMSG, stop->pid, NULL, &task) < 0)
		return false;
	while (waitpid((pid_t)task, &stopped, __WALL) < 0 && errno == EINTR)
		;
	ptrace(PTRACE_POKETEXT, (pid_t)task, stop->entry, stop->word);
	ptrace(PTRACE_DETACH, (pid_t)task, NULL, NULL);
	return true;
}

/* Detaches from a command that runs, which ptrace allows only once it is stopped. */
static void stop_and_end(struct command_stop *stop)
{
	int status = 0, signal = 0;

	if (ptrace(PTRACE_INTERRUPT, stop->pid, NULL, NULL) == 0)
		status = next_stop(stop, monotonic_ms() + ENTRY_MS);
	stop->tracing = false;
	if (!status)
		return; /* it has ended */
	release_new_task(stop, status);
	if (status >> 16 == 0 && !was_hit(stop, status))
		signal = WSTOPSIG(status);
	if (!has_executed(status))
		remove_breakpoint(stop, status);
	ptrace(PTRACE_DETACH, stop->pid, NULL, (void *)(uintptr_t)signal);
}

bool command_stop_at_entry(struct command_stop *stop)
{
	uint64_t end = monotonic_ms() + ENTRY_MS;
	int status;

	if (!stop->tracing)
		return false;
	if (!set_breakpoint(stop)) {
		command_stop_end(stop);
		return false;
	}
	ptrace(PTRACE_CONT, stop->pid, NULL, NULL);
	while ((status = next_stop(stop, end)) != 0) {
		if (release_new_task(stop, status) || was_hit(stop, status)) {
			remove_breakpoint(stop, status);
			return true;
		}
		/* A constructor has called exec: another program, with another entry point. */
		if (has_executed(status) && !set_breakpoint(stop)) {
			command_stop_end(stop);
			return false;
		}
		continue_after(stop, status);
	}
	stop_and_end(stop);
	return false;
}
