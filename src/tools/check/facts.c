// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/own.h"
#include "base/seccomp.h"
#include "kernel/capability.h"
#include "kernel/lockdown.h"
#include "kernel/paranoid.h"
#include "process/cgroups.h"
#include "trigger/tracefs.h"

#define BTF_PATH  "/sys/kernel/btf/vmlinux"
#define BTF_MAGIC 0xeb9fu
/* PROC_PID_INIT_INO of include/linux/proc_ns.h */
#define INITIAL_PIDNS 0xEFFFFFFCu

static void set_remedy(struct finding *finding, const char *remedy)
{
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy);
}

/* Reads the beginning of a file; -1 with errno set. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

static void find_kernel(struct findings *findings)
{
	struct utsname name;

	if (uname(&name) == 0)
		findings_add(findings, "kernel", FINDING_OK, "%s %s, %s", name.sysname,
			     name.release, name.machine);
}

static void find_types(struct findings *findings)
{
	char text[16];
	uint16_t magic = 0;
	struct stat status;
	ssize_t n = read_file(BTF_PATH, text, sizeof(text));

	memcpy(&magic, text, sizeof(magic));
	if (n > 2 && magic == BTF_MAGIC && stat(BTF_PATH, &status) == 0) {
		findings_add(findings, "BTF", FINDING_OK, BTF_PATH ", %.1f MB",
			     (double)status.st_size / 1e6);
		return;
	}
	set_remedy(
		findings_add(findings, "BTF", FINDING_MISSING, BTF_PATH ": %s",
			     n < 0 ? strerror(errno) : "no BTF"),
		access("/sys/kernel", F_OK) < 0
			? "mount /sys (mount -t sysfs sysfs /sys; in a container, -v /sys:/sys:ro)"
			: "a kernel with CONFIG_DEBUG_INFO_BTF=y, as all distributions have since "
			  "2021");
}

#define NOBODY 65534

/* Whether what a process runs can be seen. 0 or a negative errno. */
static int see(pid_t pid)
{
	char path[64], target[256];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) < 0 ? -errno : 0;
}

/* A child becomes another user's process. -ENOTSUP: it may not; else as see(). */
static int see_child_of_nobody(void)
{
	int ends[2], r = -ENOTSUP;
	pid_t pid;
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return r;
	pid = fork();
	if (pid == 0) {
		if (setresuid(NOBODY, NOBODY, NOBODY) == 0 && write(ends[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &byte, 1) == 1)
		r = see(pid);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return r;
}

/* The first process of another user that there is. -ENOTSUP: there is none; else as see(). */
static int see_other(void)
{
	own(own_directory) DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char path[300];
		struct stat status;
		int r;

		snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || stat(path, &status) < 0 ||
		    status.st_uid == geteuid())
			continue;
		r = see(atoi(entry->d_name));
		if (r == 0 || r == -EACCES || r == -EPERM)
			return r;
	}
	return -ENOTSUP;
}

/* Whether files can be read that only their owners may: one that not even its owner may. */
static bool reads_whatever_may_not_be_read(void)
{
	own(own_fd) int file = memfd_create("file", MFD_CLOEXEC);
	own(own_fd) int again = -1;
	char path[64];

	if (file < 0 || fchmod(file, 0) < 0)
		return true; /* that says nothing */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	again = open(path, O_RDONLY | O_CLOEXEC);
	return again >= 0 || errno != EACCES;
}

static void find_capabilities(struct findings *findings)
{
	struct error err = { 0 };
	int r;

	if (capability_check(&err) < 0) {
		set_remedy(findings_add(findings, "capabilities", FINDING_MISSING, "%s", err.text),
			   "run it as root, or give them with setcap");
		return;
	}
	r = see_child_of_nobody();
	if (r == -ENOTSUP)
		r = see_other();
	if (r == 0 && reads_whatever_may_not_be_read())
		findings_add(findings, "capabilities", FINDING_OK,
			     "to measure, and to open files of other users' processes");
	else if (r == 0)
		set_remedy(findings_add(findings, "capabilities", FINDING_LIMITED,
					"to measure, but not to read programs that only their "
					"owners may read: their stacks and names are incomplete"),
			   "CAP_DAC_READ_SEARCH as well");
	else if (r == -ENOTSUP)
		findings_add(
			findings, "capabilities", FINDING_UNTRIED,
			"to measure; no other user's process runs whose files could be opened");
	else
		set_remedy(findings_add(findings, "capabilities", FINDING_LIMITED,
					"to measure, but not to open files of other users' "
					"processes: their stacks and names are incomplete"),
			   "CAP_SYS_PTRACE as well");
}

static void find_lockdown(struct findings *findings)
{
	char mode[LOCKDOWN_MODE_SIZE];

	if (!lockdown_mode(mode))
		findings_add(findings, "lockdown", FINDING_OK, "none");
	else if (strcmp(mode, "integrity") == 0)
		findings_add(findings, "lockdown", FINDING_OK,
			     "integrity: what is measured may be read");
	else
		set_remedy(findings_add(findings, "lockdown", FINDING_MISSING,
					"%s: the kernel denies BPF programs to read memory", mode),
			   "boot with lockdown=integrity, or without Secure Boot");
}

static void find_seccomp(struct findings *findings)
{
	if (!seccomp_is_filtered())
		findings_add(findings, "seccomp", FINDING_OK, "no filter on this process");
	else
		set_remedy(
			findings_add(findings, "seccomp", FINDING_LIMITED,
				     "a filter is in force, and may deny what a measurement takes"),
			"if a line below is missing: run the container with "
			"--security-opt seccomp=unconfined, or the profile of docs/containers.md");
}

static void find_tracefs(struct findings *findings)
{
	struct error err = { 0 };
	own(own_fd) int directory = tracefs_open(&err);
	own(own_file) FILE *file =
		directory < 0 ? NULL : tracefs_file(directory, "events/sched/sched_switch/id");
	bool mounted = access("/sys/kernel/tracing/events", F_OK) == 0 ||
		       access("/sys/kernel/debug/tracing/events", F_OK) == 0;
	int id;

	if (file && fscanf(file, "%d", &id) == 1)
		findings_add(findings, "tracefs", FINDING_OK, "%s",
			     mounted ? "mounted"
				     : "not mounted; the commands have a mount of their own");
	else
		set_remedy(findings_add(findings, "tracefs", FINDING_MISSING, "%s",
					directory < 0 ? err.text : "no event sched:sched_switch"),
			   "mount -t tracefs nodev /sys/kernel/tracing, and root or "
			   "CAP_DAC_READ_SEARCH to read it; in a container, "
			   "-v /sys/kernel/tracing:/sys/kernel/tracing:ro, and the same");
}

/* The clock of all tasks on one CPU, as a measurement opens it on each. */
static void find_perf_events(struct findings *findings)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = NS_PER_SECOND };
	own(own_fd) int fd = (int)syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1,
					  PERF_FLAG_FD_CLOEXEC);
	int code = errno;
	char seccomp[300];
	const char *filtered;

	if (fd >= 0) {
		findings_add(findings, "perf events", FINDING_OK, "of a whole CPU");
		return;
	}
	/* Engines' filters allow it to those who have the capability. */
	filtered = capability_check(NULL) < 0
			   ? NULL
			   : seccomp_remedy("perf_event_open", -code, seccomp, sizeof(seccomp));
	set_remedy(findings_add(findings, "perf events", FINDING_MISSING, "perf_event_open: %s",
				strerror(code)),
		   filtered	    ? filtered
		   : code == ENOSYS ? "a kernel with CONFIG_PERF_EVENTS=y"
				    : paranoid_remedy());
}

#define ROOT_CGROUP  1 /* the inode of the root of all */
#define CGROUP_MOUNT "in a container, -v /sys/fs/cgroup:/sys/fs/cgroup:ro"

static void find_cgroups(struct findings *findings)
{
	own(own_free) char *point = cgroups_mount_point();
	struct stat status;

	if (!point)
		set_remedy(findings_add(findings, "control groups", FINDING_LIMITED,
					"none of version 2 are mounted: --cgroup and names of "
					"services and containers do not work"),
			   "boot with systemd.unified_cgroup_hierarchy=1; " CGROUP_MOUNT);
	else if (stat(point, &status) == 0 && status.st_ino == ROOT_CGROUP)
		findings_add(findings, "control groups", FINDING_OK,
			     "%s has all of this machine, of version 2", point);
	else
		set_remedy(findings_add(findings, "control groups", FINDING_LIMITED,
					"%s has those of this container only: others have numbers, "
					"and no names of services and containers",
					point),
			   CGROUP_MOUNT);
}

static void find_namespace(struct findings *findings)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) < 0)
		set_remedy(findings_add(findings, "processes", FINDING_MISSING, "/proc: %s",
					strerror(errno)),
			   "mount -t proc proc /proc");
	else if (status.st_ino == INITIAL_PIDNS)
		findings_add(findings, "processes", FINDING_OK, "all of this machine");
	else
		set_remedy(findings_add(findings, "processes", FINDING_LIMITED,
					"only those of this PID namespace have names and stacks"),
			   "run it with the host's: --pid=host, or hostPID: true");
}

#define CLOCK_CALLS 100000
#define CLOCK_SLOW  500 /* ns; with a usual clock source it is 20 to 60 */

static void find_clocks(struct findings *findings)
{
	uint64_t began = monotonic_ns(), now = began;
	char source[64];
	double each;

	for (int i = 0; i < CLOCK_CALLS; i++) {
		uint64_t next = monotonic_ns();

		if (next < now) {
			findings_add(findings, "clocks", FINDING_MISSING,
				     "the monotonic clock goes backwards");
			return;
		}
		now = next;
	}
	each = (double)(now - began) / CLOCK_CALLS;
	if (read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		      sizeof(source)) <= 0)
		snprintf(source, sizeof(source), "not known");
	source[strcspn(source, "\n")] = '\0';
	if (each < CLOCK_SLOW)
		findings_add(findings, "clocks", FINDING_OK, "source %s, %.0f ns to read", source,
			     each);
	else
		set_remedy(findings_add(findings, "clocks", FINDING_LIMITED,
					"source %s takes %.0f ns to read: measuring costs more",
					source, each),
			   "a virtual machine with tsc or kvm-clock as its clock source");
}

/* Nothing is fetched here: whether a server answers is seen when names are needed. */
static void find_debuginfod(struct findings *findings)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const char *path = getenv("PATH");
	char file[512];

	if (!urls || !*urls) {
		set_remedy(findings_add(findings, "debuginfod", FINDING_UNTRIED,
					"DEBUGINFOD_URLS is not set: names come from files of this "
					"machine"),
			   "export DEBUGINFOD_URLS=... if symbols are missing");
		return;
	}
	for (const char *at = path ? path : "/usr/bin"; *at;
	     at += strcspn(at, ":"), at += *at == ':') {
		snprintf(file, sizeof(file), "%.*s/debuginfod-find", (int)strcspn(at, ":"), at);
		if (access(file, X_OK) == 0) {
			findings_add(findings, "debuginfod", FINDING_UNTRIED,
				     "%s asks %.200s when names are needed", file, urls);
			return;
		}
	}
	set_remedy(findings_add(findings, "debuginfod", FINDING_MISSING,
				"DEBUGINFOD_URLS is set, and there is no debuginfod-find"),
		   "install the package debuginfod (or elfutils-debuginfod-client)");
}

void facts_find(struct findings *findings)
{
	find_kernel(findings);
	find_types(findings);
	find_capabilities(findings);
	find_lockdown(findings);
	find_seccomp(findings);
	find_tracefs(findings);
	find_perf_events(findings);
	find_cgroups(findings);
	find_namespace(findings);
	find_clocks(findings);
	find_debuginfod(findings);
}
