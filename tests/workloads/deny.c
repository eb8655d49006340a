// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deny CALL ERRNO COMMAND...: runs a command under a filter that refuses one system call (its
 * number), as container engines and service managers do.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? (unsigned int)atoi(argv[1]) : 0, 0,
			 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (argc > 2 ? (unsigned int)atoi(argv[2]) : 0)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (argc < 4 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 126;
	execvp(argv[3], argv + 3);
	return 127;
}
