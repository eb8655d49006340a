// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/hold.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

/* The dynamic linker takes ms; what its libraries' constructors do may take for ever. */
#define ENTRY_MS 300

#define AUXV_MAX 128 /* pairs */

void hold_begin(pid_t pid, struct hold *ret_hold)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

	*ret_hold = (struct hold){ .pid = pid };
	ret_hold->tracing = ptrace(PTRACE_SEIZE, pid, NULL, options) == 0;
}

void hold_end(struct hold *hold)
{
	if (hold->tracing)
		ptrace(PTRACE_DETACH, hold->pid, NULL, NULL);
	hold->tracing = false;
}

/* A stop that is not ours: passes the signal on. */
static void pass_on(const struct hold *hold, int status)
{
	int event = status >> 16;

	ptrace(PTRACE_CONT, hold->pid, NULL, (void *)(uintptr_t)(event ? 0 : WSTOPSIG(status)));
}

bool hold_at_exec(struct hold *hold)
{
	int status;

	while (hold->tracing) {
		/* Its end is for others to see. */
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)hold->pid, &info, WEXITED | WSTOPPED | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			hold->tracing = false;
			break;
		}
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
			hold->tracing = false;
			break;
		}
		if (waitpid(hold->pid, &status, __WALL) != hold->pid || !WIFSTOPPED(status))
			continue;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return true;
		pass_on(hold, status);
	}
	return false;
}

#if defined(__x86_64__)

/* Debug registers of x86: an address, and that it is to be stopped at when executed. */
static bool set_breakpoint(const struct hold *hold, uint64_t address)
{
	const size_t at = offsetof(struct user, u_debugreg);

	return ptrace(PTRACE_POKEUSER, hold->pid, at, address) == 0 &&
	       ptrace(PTRACE_POKEUSER, hold->pid, at + 7 * sizeof(long), address ? 1ul : 0ul) == 0;
}

static bool is_at(const struct hold *hold, uint64_t address)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, hold->pid, offsetof(struct user_regs_struct, rip),
				NULL) == address &&
	       errno == 0;
}

#else
#error "breakpoints of this architecture are not known yet"
#endif

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

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Its next stop, taken; 0: it ended, or none came in time. */
static int next_stop(const struct hold *hold, uint64_t end_ms)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	for (;;) {
		siginfo_t info = { 0 };
		int status;

		if (waitid(P_PID, (id_t)hold->pid, &info, WEXITED | WSTOPPED | WNOWAIT | WNOHANG) <
		    0)
			return 0;
		if (info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return 0;
		if (info.si_pid && waitpid(hold->pid, &status, __WALL | WNOHANG) == hold->pid &&
		    WIFSTOPPED(status))
			return status;
		if (now_ms() >= end_ms)
			return 0;
		nanosleep(&moment, NULL);
	}
}

/* It runs: a tracer can only let go of what it has stopped. */
static void stop_and_end(struct hold *hold)
{
	int status = 0;

	if (ptrace(PTRACE_INTERRUPT, hold->pid, NULL, NULL) == 0)
		status = next_stop(hold, now_ms() + ENTRY_MS);
	if (!status) {
		hold->tracing = false; /* it ended */
		return;
	}
	set_breakpoint(hold, 0);
	if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_DETACH, hold->pid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
	else
		ptrace(PTRACE_DETACH, hold->pid, NULL, NULL);
	hold->tracing = false;
}

bool hold_at_entry(struct hold *hold)
{
	uint64_t entry, end = now_ms() + ENTRY_MS;
	int status;

	if (!hold->tracing)
		return false;
	if (!entry_of(hold->pid, &entry) || !set_breakpoint(hold, entry)) {
		hold_end(hold);
		return false;
	}
	ptrace(PTRACE_CONT, hold->pid, NULL, NULL);
	while ((status = next_stop(hold, end)) != 0) {
		if (WSTOPSIG(status) == SIGTRAP && is_at(hold, entry)) {
			set_breakpoint(hold, 0);
			return true;
		}
		pass_on(hold, status);
	}
	stop_and_end(hold);
	return false;
}
