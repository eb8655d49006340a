// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confined/confined_internal.h"
#include "confined/filter.h"
#include "confined/rights.h"

#define NOBODY	      65534
#define MAX_FDS	      64
#define SENDING_BYTES (64ull << 20) /* of memory */
#define SOCKET_FD     0		    /* the child's only descriptor, until it is sent others */

/*
 * Allows the system calls that receiving calls, reading files and answering take. `may_open` allows
 * open() as well, for the files that dwz moves shared DWARF to; it must be true only after the
 * child runs as nobody, who can read no secrets. x32 calls have other numbers and are refused.
 */
static int refuse_other_calls(bool may_open)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW_CALL(pread64), ALLOW_CALL(read), ALLOW_CALL(lseek), ALLOW_CALL(fstat),
		ALLOW_CALL(newfstatat), ALLOW_CALL(close),
		ALLOW_CALL(brk), ALLOW_CALL(mmap), ALLOW_CALL(munmap), ALLOW_CALL(mremap),
		ALLOW_CALL(madvise), ALLOW_CALL(mprotect), ALLOW_CALL(futex),
		ALLOW_CALL(getrandom), ALLOW_CALL(clock_gettime), ALLOW_CALL(rt_sigreturn),
		ALLOW_CALL(exit_group),
		WITH_CALL(write, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCKET_FD, 0, 1), ALLOW, REFUSE,
		WITH_CALL(recvmsg, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCKET_FD, 0, 1), ALLOW, REFUSE,
		WITH_CALL(openat, args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, may_open ? SECCOMP_RET_ALLOW : REFUSAL), REFUSE,
		REFUSE,
	};
	/* clang-format on */

	return filter_set(filter, sizeof(filter) / sizeof(filter[0]));
}

/* As rights_keep_copying(). */
static int refuse_all_but_copying(int copy, int reply)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW_CALL(pread64), ALLOW_CALL(exit_group),
		WITH_CALL(pwrite64, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)copy, 0, 1), ALLOW, REFUSE,
		WITH_CALL(write, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)reply, 0, 1), ALLOW, REFUSE,
		REFUSE,
	};
	/* clang-format on */

	return filter_set(filter, sizeof(filter) / sizeof(filter[0]));
}

/* As rights_keep_serving(). Sanitizers yield, and take down a thread's signal stack. */
static int refuse_all_but_serving(int wake)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW_CALL(epoll_pwait), ALLOW_CALL(epoll_ctl), ALLOW_CALL(ppoll),
#ifdef SYS_epoll_wait
		ALLOW_CALL(epoll_wait), ALLOW_CALL(poll),
#endif
		ALLOW_CALL(accept4), ALLOW_CALL(recvfrom), ALLOW_CALL(sendto), ALLOW_CALL(shutdown),
		ALLOW_CALL(close),
		ALLOW_CALL(brk), ALLOW_CALL(mmap), ALLOW_CALL(munmap), ALLOW_CALL(mremap),
		ALLOW_CALL(madvise), ALLOW_CALL(mprotect), ALLOW_CALL(futex),
		ALLOW_CALL(clock_gettime), ALLOW_CALL(rt_sigreturn), ALLOW_CALL(rt_sigprocmask),
		ALLOW_CALL(sched_yield), ALLOW_CALL(sigaltstack), ALLOW_CALL(exit),
		ALLOW_CALL(exit_group),
		WITH_CALL(read, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)wake, 0, 1), ALLOW, REFUSE,
		WITH_CALL(write, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)wake, 0, 1), ALLOW, REFUSE,
		WITH_CALL(ioctl, args[1]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIOCOUTQ, 0, 1), ALLOW, REFUSE,
		REFUSE,
	};
	/* clang-format on */

	return filter_set(filter, sizeof(filter) / sizeof(filter[0]));
}

/* If memory runs short, the kernel is to kill the child first. */
static void raise_oom_score(void)
{
	own(own_fd) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		return; /* it need not work */
}

/* The memory that counts for RLIMIT_DATA: our own, which the child starts with, may be large. */
static uint64_t data_bytes(void)
{
	own(own_fd) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned long long pages = 0;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int set_limit(int resource, uint64_t most)
{
	struct rlimit old;

	if (getrlimit((__rlimit_resource_t)resource, &old) < 0)
		return -errno;
	if (most > old.rlim_max)
		most = old.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ most, most }) < 0 ? -errno
											    : 0;
}

/* Gives the socket its number and closes all other descriptors. */
static int keep_only(int socket)
{
	struct rlimit open_files;

	if (socket != SOCKET_FD && dup2(socket, SOCKET_FD) < 0)
		return -errno;
	if (syscall(SYS_close_range, SOCKET_FD + 1, ~0u, 0) == 0)
		return 0;
	/* A sandbox around us may refuse close_range(), which is new in 5.9. */
	if (getrlimit(RLIMIT_NOFILE, &open_files) < 0)
		return -errno;
	for (rlim_t each = SOCKET_FD + 1; each < open_files.rlim_max && each < 1 << 20; each++)
		close((int)each);
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/*
 * Drops users, groups and capabilities, if this process has any. *ret_nobody: it cannot open files
 * that only we may read. By system calls: libc's functions change all threads of a process, and the
 * fork has left this one alone.
 */
static int become_nobody(bool *ret_nobody)
{
	bool root = geteuid() == 0;

	*ret_nobody = !root || (syscall(SYS_setgroups, 0, NULL) == 0 &&
				syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0 &&
				syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) == 0);
	return drop_capabilities();
}

void rights_drop_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
}

int rights_keep_copying(int copy, uint64_t size, int reply)
{
	bool nobody;
	int r = set_limit(RLIMIT_FSIZE, size);

	if (r == 0)
		r = become_nobody(&nobody);
	return r < 0 ? r : refuse_all_but_copying(copy, reply);
}

int rights_keep_serving(int wake)
{
	int r = drop_capabilities();

	return r < 0 ? r : refuse_all_but_serving(wake);
}

/* Signals to the process group, such as Ctrl-C, are for the parent: it still needs names then. */
static void reset_signals(void)
{
	static const int for_parent[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	for (size_t i = 0; i < sizeof(for_parent) / sizeof(for_parent[0]); i++)
		signal(for_parent[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_limits(const struct confined_limits *limits)
{
	int r = set_limit(RLIMIT_DATA, data_bytes() + limits->bytes);

	if (r == 0)
		r = set_limit(RLIMIT_CORE, 0);
	if (r == 0)
		r = set_limit(RLIMIT_FSIZE, 0);
	return r;
}

int confined_drop_rights(int socket, const struct confined_limits *limits)
{
	bool may_open;
	int r;

	rights_drop_priority();
	raise_oom_score();
	reset_signals();
	prctl(PR_SET_NAME, "stacktally-read");
	r = set_limits(limits);
	if (r < 0)
		return r;
	r = keep_only(socket);
	if (r < 0)
		return r;
	r = set_limit(RLIMIT_NOFILE, MAX_FDS);
	if (r < 0)
		return r;
	r = become_nobody(&may_open);
	if (r < 0)
		return r;
	/* After the ids were changed, which resets both. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	r = refuse_other_calls(may_open && limits->may_open);
	return r < 0 ? r : SOCKET_FD;
}

int rights_begin_sending(int *socket)
{
	bool nobody;
	int r;

	rights_drop_priority();
	raise_oom_score();
	r = set_limit(RLIMIT_CORE, 0);
	if (r == 0)
		r = set_limit(RLIMIT_FSIZE, 0);
	if (r == 0)
		r = set_limit(RLIMIT_DATA, data_bytes() + SENDING_BYTES);
	if (r == 0)
		r = keep_only(*socket);
	if (r < 0)
		return r;
	*socket = SOCKET_FD;
	r = set_limit(RLIMIT_NOFILE, MAX_FDS);
	if (r == 0)
		r = become_nobody(&nobody);
	if (r < 0)
		return r;
	return prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
			       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -errno
		       : 0;
}
