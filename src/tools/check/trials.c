// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/trials.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "check/running_interpreters.h"
#include "check/self_run.h"

#define ROUNDS 20000

/* ---- children to measure ---- */

static void compute_and_call(void)
{
	own(own_fd) int file = memfd_create("file", MFD_CLOEXEC);
	volatile uint64_t sink = 0;
	char bytes[4096] = "";

	(void)!write(file, bytes, sizeof(bytes));
	for (;;) {
		for (int i = 0; i < ROUNDS; i++)
			sink++;
		for (int i = 0; i < 10; i++)
			(void)!pread(file, bytes, sizeof(bytes), 0);
		getppid();
	}
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* 0: it could not be started. */
static pid_t begin(void (*does)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid < 0 ? 0 : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		does();
	_exit(0);
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- reading folded stacks ---- */

struct counts {
	uint64_t all, whole, kernel;
	const char *reason; /* why the most frequent of those that are not whole ends; or NULL */
	int reason_size;
	uint64_t reason_n;
};

static bool line_has(const char *line, size_t size, const char *text)
{
	return memmem(line, size, text, strlen(text)) != NULL;
}

/* Keeps the reason why a stack ends if it is more frequent than the others. */
static void take_reason(struct counts *counts, const char *line, size_t size, uint64_t n)
{
	const char *reason = memmem(line, size, "[unwind:", strlen("[unwind:"));
	const char *end = reason ? memchr(reason, ']', size - (size_t)(reason - line)) : NULL;

	if (!end || n <= counts->reason_n)
		return;
	counts->reason = reason;
	counts->reason_size = (int)(end + 1 - reason);
	counts->reason_n = n;
}

static struct counts count(const char *folded)
{
	struct counts counts = { 0 };

	for (const char *line = folded; *line;) {
		size_t size = strcspn(line, "\n");
		const char *blank = memrchr(line, ' ', size);
		uint64_t n = blank ? strtoull(blank + 1, NULL, 10) : 0;

		counts.all += n;
		if (!line_has(line, size, "[unwind:") && !line_has(line, size, "[truncated]"))
			counts.whole += n;
		take_reason(&counts, line, size, n);
		if (line_has(line, size, "pread64") || line_has(line, size, "vfs_read"))
			counts.kernel += n;
		line += size + (line[size] == '\n');
	}
	return counts;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* ---- what a run that failed says ---- */

/* The message, without the name of the command. The commands' messages say what helps. */
static void add_failure(struct findings *findings, const char *name, const struct self_run *run,
			enum finding_status status)
{
	const char *said = self_run_said(run), *colon = strstr(said, ": ");
	const char *text = colon ? colon + 2 : said;
	struct finding *finding;

	if (run->status < 0)
		finding = findings_add(findings, name, status, "it could not be run to its end");
	else
		finding = findings_add(findings, name, status, "%.*s", (int)strcspn(text, "\n"),
				       text);
	if (run->status < 0 || !*text)
		snprintf(finding->remedy, sizeof(finding->remedy), "profile -v tells more");
}

/* ---- the trials ---- */

static bool has_any(const struct counts *counts)
{
	return counts->all > 0;
}

static bool is_mostly_whole(const struct counts *counts)
{
	return counts->all && counts->whole * 10 >= counts->all * 9;
}

/*
 * Measures until the result is as it should be, three times at most: on a busy machine the child
 * may get no CPU for as long as that, and the unwinding tables may need longer.
 */
static struct counts measure(const char *const *arguments, bool (*is_fine)(const struct counts *),
			     struct self_run *ret_run)
{
	struct counts counts;

	self_run(arguments, ret_run);
	counts = count(self_run_out(ret_run));
	for (int i = 1; i < 3 && ret_run->status == 0 && !is_fine(&counts); i++) {
		self_run_clear(ret_run);
		self_run(arguments, ret_run);
		counts = count(self_run_out(ret_run));
	}
	return counts;
}

static struct counts sample(pid_t busy, struct self_run *ret_run)
{
	char pid[16];
	const char *const arguments[] = { "profile", "-F", "997", "-f", "-p", pid, "0.5", NULL };

	snprintf(pid, sizeof(pid), "%d", (int)busy);
	return measure(arguments, is_mostly_whole, ret_run);
}

/* Returns whether there are any. */
static bool try_samples(struct findings *findings, pid_t busy)
{
	struct self_run run;
	struct counts counts = sample(busy, &run);

	if (run.status != 0 || !counts.all) {
		add_failure(findings, "CPU samples", &run, FINDING_MISSING);
		self_run_clear(&run);
		return false;
	}
	findings_add(findings, "CPU samples", FINDING_OK, "%llu of a busy child in 0.5 s",
		     (unsigned long long)counts.all);
	if (is_mostly_whole(&counts))
		findings_add(findings, "unwinding", FINDING_OK,
			     "%.3g %% of its user stacks are whole",
			     percent(counts.whole, counts.all));
	else
		snprintf(findings_add(
				 findings, "unwinding", FINDING_LIMITED,
				 "only %.3g %% of its user stacks are whole; others end with %.*s",
				 percent(counts.whole, counts.all), counts.reason_size,
				 counts.reason ? counts.reason : "")
				 ->remedy,
			 400, "profile -v tells why stacks end");
	if (counts.kernel)
		findings_add(findings, "kernel's names", FINDING_OK,
			     "functions of pread(2) are there");
	else
		snprintf(findings_add(findings, "kernel's names", FINDING_LIMITED,
				      "no function of pread(2) in the samples")
				 ->remedy,
			 400, "CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
	self_run_clear(&run);
	return true;
}

static void try_cycles(struct findings *findings, pid_t busy)
{
	char pid[16];
	const char *const arguments[] = { "profile", "-e", "cycles", "-F",  "997",
					  "-f",	     "-p", pid,	     "0.3", NULL };
	struct self_run run;
	struct counts counts;

	snprintf(pid, sizeof(pid), "%d", (int)busy);
	counts = measure(arguments, has_any, &run);
	if (run.status == 0 && counts.all)
		findings_add(findings, "hardware events", FINDING_OK, "cycles");
	else
		snprintf(findings_add(
				 findings, "hardware events", FINDING_LIMITED,
				 "cycles are not counted here; the clock is used in their place")
				 ->remedy,
			 400, "in a virtual machine, a host that passes its counters on (vPMU)");
	self_run_clear(&run);
}

/* The time of a thread that sleeps is the time that it is measured. */
static void try_off_cpu(struct findings *findings, pid_t asleep)
{
	char pid[16];
	const char *const arguments[] = { "profile", "--off-cpu", "-f", "-p", pid, "0.5", NULL };
	struct self_run run;
	struct counts counts;

	snprintf(pid, sizeof(pid), "%d", (int)asleep);
	counts = measure(arguments, has_any, &run);
	if (run.status != 0 || !counts.all)
		add_failure(findings, "time off the CPU", &run, FINDING_MISSING);
	else if (counts.all < 450000)
		findings_add(findings, "time off the CPU", FINDING_LIMITED,
			     "only %llu us of a child that sleeps all the time, in 500000",
			     (unsigned long long)counts.all);
	else
		findings_add(findings, "time off the CPU", FINDING_OK,
			     "%llu us of a child that sleeps all the time, its stack %s",
			     (unsigned long long)counts.all,
			     is_mostly_whole(&counts) ? "whole" : "not whole");
	self_run_clear(&run);
}

static void try_events(struct findings *findings, const char *name, const char *pattern, pid_t of,
		       enum finding_status otherwise)
{
	char pid[16];
	const char *const arguments[] = {
		"stackcount", "-f", "-p", pid, "-D", "0.3", pattern, NULL
	};
	struct self_run run;
	struct counts counts;

	snprintf(pid, sizeof(pid), "%d", (int)of);
	counts = measure(arguments, has_any, &run);
	if (run.status == 0 && counts.all)
		findings_add(findings, name, FINDING_OK, "%s: %llu events of a child", pattern,
			     (unsigned long long)counts.all);
	else if (run.status == 0)
		findings_add(findings, name, otherwise, "%s: no event of a child that has many",
			     pattern);
	else
		add_failure(findings, name, &run, otherwise);
	self_run_clear(&run);
}

/* A shell that writes: its libc may be static, or there may be none. */
static void try_user_functions(struct findings *findings)
{
	static const char *const arguments[] = { "stackcount",	      "-f", "-D",      "5",
						 "c:write",	      "--", "/bin/sh", "-c",
						 "echo x >/dev/null", NULL };
	struct self_run run;
	struct counts counts;

	if (access("/bin/sh", X_OK) < 0) {
		findings_add(findings, "functions of programs", FINDING_UNTRIED, "no /bin/sh here");
		return;
	}
	self_run(arguments, &run);
	counts = count(self_run_out(&run));
	if (run.status == 0 && counts.all)
		findings_add(findings, "functions of programs", FINDING_OK, "c:write in /bin/sh");
	else if (run.status == 0)
		findings_add(findings, "functions of programs", FINDING_UNTRIED,
			     "/bin/sh did not call libc's write");
	else
		add_failure(findings, "functions of programs", &run, FINDING_LIMITED);
	self_run_clear(&run);
}

/* The line of the report that has the text; its length, 0: there is none. */
static size_t find_line(const char *said, const char *text, const char **ret_line)
{
	const char *at = strstr(said, text);

	while (at && at > said && at[-1] != '\n')
		at--;
	*ret_line = at;
	return at ? strcspn(at, "\n") : 0;
}

static void try_machine(struct findings *findings)
{
	static const char *const arguments[] = { "profile", "-F", "199", "-f", "1", NULL };
	struct self_run run;
	const char *line;
	size_t size;

	self_run(arguments, &run);
	if (run.status != 0) {
		add_failure(findings, "the whole machine", &run, FINDING_MISSING);
		self_run_clear(&run);
		return;
	}
	size = find_line(self_run_said(&run), "WARNING", &line);
	if (size)
		findings_add(findings, "the whole machine", FINDING_LIMITED, "%.*s", (int)size,
			     line);
	else
		findings_add(findings, "the whole machine", FINDING_OK, "%llu samples in 1 s",
			     (unsigned long long)count(self_run_out(&run)).all);
	size = find_line(self_run_said(&run), "have no symbol", &line);
	if (size)
		snprintf(findings_add(findings, "symbols", FINDING_LIMITED, "%.*s",
				      (int)strcspn(line, ";\n"), line)
				 ->remedy,
			 400, "profile --symbols tells which packages have them");
	else if (count(self_run_out(&run)).all)
		findings_add(findings, "symbols", FINDING_OK, "nearly all functions that ran");
	else
		findings_add(findings, "symbols", FINDING_UNTRIED, "nothing ran for 1 s");
	self_run_clear(&run);
}

void trials_run(struct findings *findings)
{
	pid_t busy = begin(compute_and_call), asleep = begin(sleep_for_ever);

	if (busy && asleep) {
		if (try_samples(findings, busy))
			try_cycles(findings, busy);
		try_off_cpu(findings, asleep);
		try_events(findings, "tracepoints", "t:syscalls:sys_enter_pread64", busy,
			   FINDING_MISSING);
		try_events(findings, "kernel functions", "vfs_read", busy, FINDING_LIMITED);
		try_user_functions(findings);
		try_machine(findings);
		interpreters_try_all(findings);
	} else {
		findings_add(findings, "CPU samples", FINDING_MISSING,
			     "no child process could be started");
	}
	end(busy);
	end(asleep);
}
