/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of a filter of system calls (seccomp), for this room.
 */
#ifndef STACKTALLY_CONFINED_FILTER_H
#define STACKTALLY_CONFINED_FILTER_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "arch/machine.h"

#define WRITING		   (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define LOAD(member)	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ALLOW		   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSAL		   (SECCOMP_RET_ERRNO | EPERM)
#define REFUSE		   BPF_STMT(BPF_RET | BPF_K, REFUSAL)
#define ALLOW_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), ALLOW
/* The three instructions that follow check a call by `member`. */
#define WITH_CALL(number, member)                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 4), LOAD(member)

/* For this process and its children, for ever. 0 or a negative errno. */
int filter_set(struct sock_filter *filter, size_t n);

#endif
