// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define NOBODY	    65534
#define MAX_SECONDS 20		 /* of CPU time */
#define MAX_BYTES   (3ull << 30) /* of memory, beyond what the child starts with */
#define MAX_FDS	    64
#define BUFFER_SIZE 65536
/* The child's only descriptors. */
#define FILE_FD	  0
#define OUTPUT_FD 1

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "which AUDIT_ARCH_ is this?"
#endif

#define WRITING		   (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define LOAD(member)	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ALLOW		   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSAL		   (SECCOMP_RET_ERRNO | EPERM)
#define REFUSE		   BPF_STMT(BPF_RET | BPF_K, REFUSAL)
#define ALLOW_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), ALLOW
/* The three instructions that follow check a call by `member`. */
#define WITH_CALL(number, member)                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 4), LOAD(member)

/*
 * Allows the system calls that libelf and libdw need, on the descriptors they need. `may_open`
 * allows open() as well, for the files that dwz moves shared DWARF to; it must be true only after
 * the child runs as nobody, who can read no secrets. x32 calls have other numbers and are refused.
 */
static int refuse_other_calls(bool may_open)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW_CALL(pread64), ALLOW_CALL(read), ALLOW_CALL(lseek), ALLOW_CALL(fstat),
		ALLOW_CALL(newfstatat), ALLOW_CALL(close),
		ALLOW_CALL(brk), ALLOW_CALL(mmap), ALLOW_CALL(munmap), ALLOW_CALL(mremap),
		ALLOW_CALL(madvise), ALLOW_CALL(mprotect), ALLOW_CALL(futex),
		ALLOW_CALL(getrandom), ALLOW_CALL(clock_gettime), ALLOW_CALL(rt_sigreturn),
		ALLOW_CALL(exit_group),
		WITH_CALL(write, args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUTPUT_FD, 0, 1), ALLOW, REFUSE,
		WITH_CALL(openat, args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, may_open ? SECCOMP_RET_ALLOW : REFUSAL), REFUSE,
		REFUSE,
	};
	/* clang-format on */
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
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

/* Moves the two descriptors to their numbers and closes all others. */
static int keep_only(int fd, int output)
{
	/* First above both numbers, so that neither overwrites the other. */
	int high_fd = fcntl(fd, F_DUPFD, OUTPUT_FD + 1);
	int high_output = fcntl(output, F_DUPFD, OUTPUT_FD + 1);
	struct rlimit open_files;

	if (high_fd < 0 || high_output < 0 || dup2(high_fd, FILE_FD) < 0 ||
	    dup2(high_output, OUTPUT_FD) < 0)
		return -errno;
	if (syscall(SYS_close_range, OUTPUT_FD + 1, ~0u, 0) == 0)
		return 0;
	/* A sandbox around us may refuse close_range(), which is new in 5.9. */
	if (getrlimit(RLIMIT_NOFILE, &open_files) < 0)
		return -errno;
	for (rlim_t each = OUTPUT_FD + 1; each < open_files.rlim_max && each < 1 << 20; each++)
		close((int)each);
	return 0;
}

/*
 * Drops users, groups and capabilities: by system calls, since libc's functions change all threads
 * of a process, and this process has lost its threads in the fork. *ret_may_open: the child cannot
 * open files that only we may read.
 */
static int become_nobody(bool *ret_may_open)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	bool root = geteuid() == 0;

	*ret_may_open = !root || (syscall(SYS_setgroups, 0, NULL) == 0 &&
				  syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0 &&
				  syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) == 0);
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

static void reset_signals(void)
{
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
}

static int confine(int fd, int output, FILE **ret_stream)
{
	bool may_open;
	int r;

	raise_oom_score();
	reset_signals();
	r = set_limit(RLIMIT_DATA, data_bytes() + MAX_BYTES);
	if (r < 0)
		return r;
	r = set_limit(RLIMIT_CPU, MAX_SECONDS);
	if (r < 0)
		return r;
	r = set_limit(RLIMIT_CORE, 0);
	if (r < 0)
		return r;
	r = keep_only(fd, output);
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
	/* Before the filter, which refuses a call of fdopen(). */
	*ret_stream = fdopen(OUTPUT_FD, "w");
	if (!*ret_stream)
		return -errno;
	return refuse_other_calls(may_open);
}

static _Noreturn void run_child(void (*work)(void *context, int fd, FILE *output), void *context,
				int fd, int output)
{
	static char buffer[BUFFER_SIZE];
	FILE *stream = NULL;

	if (confine(fd, output, &stream) < 0)
		_exit(1);
	setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
	work(context, FILE_FD, stream);
	fflush(stream);
	_exit(0);
}

int confined_open(int output, struct confined *ret_confined)
{
	own(own_fd) int fd = output;
	char *bytes = malloc(BUFFER_SIZE);

	if (!bytes)
		return -ENOMEM;
	*ret_confined = (struct confined){ .child = -1, .output = take_fd(&fd), .bytes = bytes };
	return 0;
}

int confined_start(void (*work)(void *context, int fd, FILE *output), void *context, int fd,
		   struct confined *ret_confined)
{
	own(confined_end) struct confined confined = CONFINED_NONE;
	own(own_fd) int writing = -1;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	writing = ends[1];
	r = confined_open(ends[0], &confined);
	if (r < 0)
		return r;
	confined.child = fork();
	if (confined.child == 0)
		run_child(work, context, fd, writing);
	if (confined.child < 0)
		return -errno;
	*ret_confined = confined;
	confined = CONFINED_NONE;
	return 0;
}

static int64_t left_ms(uint64_t end_ns)
{
	uint64_t now = monotonic_ns();

	return now >= end_ns ? 0 : (int64_t)((end_ns - now) / NS_PER_MS) + 1;
}

/* Waits for more of the result. */
static int refill(struct confined *confined, uint64_t end_ns)
{
	for (;;) {
		struct pollfd ready = { .fd = confined->output, .events = POLLIN };
		int64_t left = left_ms(end_ns);
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (confined->waiting)
			confined->waiting(confined->waiting_context);
		n = poll(&ready, 1, left < 1000 ? (int)left : 1000);
		if (n == 0 || (n < 0 && errno == EINTR))
			continue;
		n = n < 0 ? -1 : read(confined->output, confined->bytes, BUFFER_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		confined->at = 0;
		confined->end = (size_t)n;
		return n == 0 ? -ENODATA : 0;
	}
}

int confined_read(struct confined *confined, void *bytes, size_t size, uint64_t end_ns)
{
	char *to = bytes;

	while (size > 0) {
		size_t n = confined->end - confined->at;

		if (n == 0) {
			int r = refill(confined, end_ns);

			if (r < 0)
				return r;
			continue;
		}
		if (n > size)
			n = size;
		memcpy(to, confined->bytes + confined->at, n);
		confined->at += n;
		to += n;
		size -= n;
	}
	return 0;
}

void confined_end(struct confined *confined)
{
	if (confined->child > 0) {
		kill(confined->child, SIGKILL);
		while (waitpid(confined->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	own_fd(&confined->output);
	free(confined->bytes);
	*confined = CONFINED_NONE;
}
