// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sys/socket.h>

#include "confined/filter.h"
#include "confined/rights.h"

#define ALLOW_IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), ALLOW

int rights_keep_sending(void)
{
	/* clang-format off */
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW_CALL(connect), ALLOW_CALL(bind), ALLOW_CALL(getsockname),
		ALLOW_CALL(getpeername), ALLOW_CALL(getsockopt), ALLOW_CALL(setsockopt),
		ALLOW_CALL(sendto), ALLOW_CALL(sendmsg), ALLOW_CALL(sendmmsg), ALLOW_CALL(recvfrom),
		ALLOW_CALL(recvmsg), ALLOW_CALL(ppoll), ALLOW_CALL(ioctl),
		ALLOW_CALL(read), ALLOW_CALL(pread64), ALLOW_CALL(lseek), ALLOW_CALL(close),
		ALLOW_CALL(fstat), ALLOW_CALL(newfstatat), ALLOW_CALL(fcntl),
		ALLOW_CALL(brk), ALLOW_CALL(mmap), ALLOW_CALL(munmap), ALLOW_CALL(mremap),
		ALLOW_CALL(madvise), ALLOW_CALL(mprotect), ALLOW_CALL(futex),
		ALLOW_CALL(getrandom), ALLOW_CALL(clock_gettime), ALLOW_CALL(gettimeofday),
#ifdef SYS_poll
		ALLOW_CALL(poll), ALLOW_CALL(time),
#endif
		ALLOW_CALL(uname), ALLOW_CALL(getpid), ALLOW_CALL(geteuid),
		ALLOW_CALL(rt_sigreturn), ALLOW_CALL(rt_sigaction), ALLOW_CALL(rt_sigprocmask),
		ALLOW_CALL(restart_syscall), ALLOW_CALL(exit_group),
		/* No AF_UNIX: services of the machine would take us for a user. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 8), LOAD(args[0]),
		ALLOW_IF(AF_INET), ALLOW_IF(AF_INET6), ALLOW_IF(AF_NETLINK), REFUSE,
		WITH_CALL(openat, args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1), REFUSE, ALLOW,
		REFUSE,
	};
	/* clang-format on */

	return filter_set(filter, sizeof(filter) / sizeof(filter[0]));
}
