// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lives SHAPE: a process whose life takes an unusual course, and which then works for ever: each
 * round burns 2 ms, calls counted() and sleeps, in main or in the entry of its thread or clone.
 * Prints `ready PID` of the process that works, whose name is SHAPE.
 *
 * leader: the first thread has ended. fork, vfork: a child. memory: a process that shares the
 * memory of another. files: one that shares its files. exec: a thread has executed the program.
 * renamed: a thread changes its name all the time. namespaces: in new mount and pid namespaces.
 * setns: it has joined the mount namespace of a child. chroot: in a root without any file. traced:
 * a debugger stops it again and again. seccomp: it may do next to nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "burn.h"

#define STACK (256 << 10)

static const char *shape;

__attribute__((noinline)) void counted(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void doze(void)
{
	struct timespec time = { .tv_nsec = 8000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static __attribute__((noinline)) int work(void)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "ready %ld\n", syscall(SYS_getpid));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(shape, "renamed") != 0)
		prctl(PR_SET_NAME, shape);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		return 1;
	for (int i = 0;; i++) {
		if (strcmp(shape, "renamed") == 0)
			prctl(PR_SET_NAME, i % 2 ? "renamed-1" : "renamed-0");
		burn(2000000);
		counted();
		doze();
	}
}

static void *work_in_thread(void *unused)
{
	(void)unused;
	work();
	return NULL;
}

static void *execute(void *program)
{
	execl(program, program, "executed", NULL);
	return NULL;
}

static int work_in_clone(void *unused)
{
	(void)unused;
	return work();
}

static int clone_and_wait(int flags)
{
	char *stack = malloc(STACK);

	if (!stack || clone(work_in_clone, stack + STACK, flags | SIGCHLD, NULL) < 0)
		return 1;
	for (;;)
		pause();
}

static int lead(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_in_thread, NULL))
		return 1;
	pthread_exit(NULL);
}

static int trace(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		return work();
	if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL, NULL) < 0)
		return 1;
	for (;;) {
		usleep(20000);
		if (ptrace(PTRACE_INTERRUPT, child, NULL, NULL) < 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return 1;
		usleep(1000);
		if (ptrace(PTRACE_CONT, child, NULL, NULL) < 0)
			return 1;
	}
}

static int join(void)
{
	char path[64];
	pid_t child = fork();
	int fd;

	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0)
			return 1;
		kill(getpid(), SIGSTOP);
		return 0;
	}
	if (child < 0 || waitpid(child, NULL, WUNTRACED) != child)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)child);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
		return 1;
	kill(child, SIGKILL);
	return work();
}

static int restrict_calls(void)
{
#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(write),
		ALLOW(getpid),
		ALLOW(prctl),
		ALLOW(clock_nanosleep),
		ALLOW(clock_gettime),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0;
}

static int enter_empty_root(void)
{
	char root[] = "/tmp/lives.XXXXXX";

	if (!mkdtemp(root) || chroot(root) < 0 || chdir("/") < 0)
		return 1;
	return 0;
}

static int run(char *program)
{
	pthread_t thread;

	if (strcmp(shape, "leader") == 0)
		return lead();
	if (strcmp(shape, "fork") == 0)
		return fork() == 0 ? work() : pause();
	if (strcmp(shape, "vfork") == 0)
		return vfork() == 0 ? work() : pause();
	if (strcmp(shape, "memory") == 0)
		return clone_and_wait(CLONE_VM);
	if (strcmp(shape, "files") == 0)
		return clone_and_wait(CLONE_FILES | CLONE_FS | CLONE_PARENT);
	if (strcmp(shape, "exec") == 0)
		return pthread_create(&thread, NULL, execute, program) ? 1 : pause();
	if (strcmp(shape, "namespaces") == 0)
		return clone_and_wait(CLONE_NEWNS | CLONE_NEWPID);
	if (strcmp(shape, "setns") == 0)
		return join();
	if (strcmp(shape, "chroot") == 0)
		return enter_empty_root() || work();
	if (strcmp(shape, "traced") == 0)
		return trace();
	if (strcmp(shape, "seccomp") == 0)
		return restrict_calls() || work();
	return work();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	shape = argv[1];
	return run(argv[0]);
}
