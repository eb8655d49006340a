// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/waits.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "process/remote_memory.h"
#include "process/thread_comm.h"

/* A thread in a system call. */
struct call {
	struct remote_memory *memory;
	uint32_t tgid, tid;
	uint64_t number, arguments[6];
};

typedef void (*describe_fn)(const struct call *call, const char *name, struct thread_wait *wait);

/* Whether a thread of the process has that id. */
static bool is_thread(const struct call *call, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", call->tgid, tid);
	return tid && access(path, F_OK) == 0;
}

/* ---- files ---- */

static void describe_file(const struct call *call, const char *name, struct thread_wait *wait)
{
	char path[64], target[256];
	uint32_t fd = (uint32_t)call->arguments[0];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", call->tgid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(wait->text, sizeof(wait->text), "in %s of fd %u%s%s", name, fd,
		 *target ? ": " : "", target);
}

static void describe_poll(const struct call *call, const char *name, struct thread_wait *wait)
{
	snprintf(wait->text, sizeof(wait->text), "in %s of %u files", name,
		 (uint32_t)call->arguments[1]);
}

static void describe_select(const struct call *call, const char *name, struct thread_wait *wait)
{
	snprintf(wait->text, sizeof(wait->text), "in %s of files below fd %u", name,
		 (uint32_t)call->arguments[0]);
}

/* ---- what needs no argument ---- */

static void describe_plain(const struct call *call, const char *name, struct thread_wait *wait)
{
	(void)call;
	snprintf(wait->text, sizeof(wait->text), "in %s", name);
}

/* ---- children ---- */

static void describe_child(const struct call *call, const char *name, struct thread_wait *wait)
{
	int32_t pid =
		(int32_t)(call->number == SYS_wait4 ? call->arguments[0] : call->arguments[1]);
	char comm[COMM_SIZE];

	if (pid <= 0 || (call->number == SYS_waitid && call->arguments[0] != 1 /* P_PID */))
		snprintf(wait->text, sizeof(wait->text), "in %s, for any child process", name);
	else
		snprintf(wait->text, sizeof(wait->text), "in %s, for the child process %d %s", name,
			 pid, comm_read((uint32_t)pid, comm));
}

/* ---- locks ---- */

/* The beginning of glibc's struct pthread_mutex_t. */
struct glibc_mutex {
	uint32_t lock, count, owner, users, kind;
};

#define MUTEX_CONTENDED 2u
#define MUTEX_KINDS	0x3ffu /* all bits that a kind may have */
#define MUTEX_USERS	1000000u

static bool read_memory(const struct call *call, void *to, size_t size, uint64_t address)
{
	const struct remote_place from = { (pid_t)call->tgid, (pid_t)call->tid, address };

	return remote_memory_read(call->memory, &from, to, size) == size;
}

/*
 * The thread that a futex names as its owner: the kernel's own form, which robust locks and those
 * of priority inheritance have, and musl's.
 */
static uint32_t owner_in_word(const struct call *call, uint32_t word)
{
	uint32_t tid = word & FUTEX_TID_MASK;

	return word & FUTEX_WAITERS && is_thread(call, tid) ? tid : 0;
}

/* The owner of one of glibc's mutexes; 0: it is none. */
static uint32_t owner_of_mutex(const struct call *call, uint64_t address)
{
	struct glibc_mutex mutex;

	if ((uint32_t)call->arguments[2] != MUTEX_CONTENDED ||
	    !read_memory(call, &mutex, sizeof(mutex), address) || mutex.lock != MUTEX_CONTENDED ||
	    !mutex.users || mutex.users > MUTEX_USERS || mutex.kind & ~MUTEX_KINDS)
		return 0;
	return is_thread(call, mutex.owner) ? mutex.owner : 0;
}

static bool is_lock(uint32_t operation)
{
	return operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2, since 5.14 */;
}

static uint32_t find_owner(const struct call *call, uint32_t operation)
{
	uint64_t address = call->arguments[0];
	uint32_t word, owner;

	if (!read_memory(call, &word, sizeof(word), address))
		return 0;
	if (is_lock(operation))
		return owner_in_word(call, word | FUTEX_WAITERS);
	if (word != (uint32_t)call->arguments[2])
		return 0;
	owner = owner_in_word(call, word);
	return owner ? owner : owner_of_mutex(call, address);
}

/* The thread whose end another one waits for: the C library clears its id then. 0: none. */
static uint32_t joined_thread(const struct call *call)
{
	uint32_t value = (uint32_t)call->arguments[2], word;

	if (call->arguments[1] & FUTEX_PRIVATE_FLAG || !is_thread(call, value) ||
	    !read_memory(call, &word, sizeof(word), call->arguments[0]) || word != value)
		return 0;
	return value;
}

static void describe_futex(const struct call *call, const char *name, struct thread_wait *wait)
{
	uint32_t operation = (uint32_t)call->arguments[1] & (uint32_t)FUTEX_CMD_MASK, owner;
	unsigned long long address = call->arguments[0];
	char comm[COMM_SIZE];

	(void)name;
	wait->thread = joined_thread(call);
	if (wait->thread) {
		snprintf(wait->text, sizeof(wait->text), "waits for the end of thread %u %s",
			 wait->thread, comm_read(wait->thread, comm));
		return;
	}
	owner = find_owner(call, operation);
	wait->thread = owner;
	if (owner == call->tid)
		snprintf(wait->text, sizeof(wait->text),
			 "waits for the lock at 0x%llx, which it has itself", address);
	else if (owner)
		snprintf(wait->text, sizeof(wait->text),
			 "waits for the lock at 0x%llx, which thread %u %s has", address, owner,
			 comm_read(owner, comm));
	else
		snprintf(wait->text, sizeof(wait->text),
			 "waits for a lock or a condition (futex at 0x%llx)", address);
}

/* ---- all of them ---- */

static const struct {
	uint64_t number;
	const char *name;
	describe_fn describe;
} calls[] = {
	{ SYS_futex, "futex", describe_futex },
	{ SYS_read, "read", describe_file },
	{ SYS_pread64, "pread64", describe_file },
	{ SYS_readv, "readv", describe_file },
	{ SYS_write, "write", describe_file },
	{ SYS_pwrite64, "pwrite64", describe_file },
	{ SYS_writev, "writev", describe_file },
	{ SYS_recvfrom, "recvfrom", describe_file },
	{ SYS_recvmsg, "recvmsg", describe_file },
	{ SYS_recvmmsg, "recvmmsg", describe_file },
	{ SYS_sendto, "sendto", describe_file },
	{ SYS_sendmsg, "sendmsg", describe_file },
	{ SYS_accept, "accept", describe_file },
	{ SYS_accept4, "accept4", describe_file },
	{ SYS_connect, "connect", describe_file },
	{ SYS_flock, "flock", describe_file },
	{ SYS_fcntl, "fcntl", describe_file },
	{ SYS_ioctl, "ioctl", describe_file },
	{ SYS_fsync, "fsync", describe_file },
	{ SYS_fdatasync, "fdatasync", describe_file },
	{ SYS_getdents64, "getdents64", describe_file },
	{ SYS_epoll_pwait, "epoll_pwait", describe_file },
	{ 441, "epoll_pwait2", describe_file },
	{ SYS_ppoll, "ppoll", describe_poll },
	{ SYS_pselect6, "pselect6", describe_select },
#ifdef SYS_poll /* calls that newer architectures do not have */
	{ SYS_epoll_wait, "epoll_wait", describe_file },
	{ SYS_poll, "poll", describe_poll },
	{ SYS_select, "select", describe_select },
	{ SYS_pause, "pause", describe_plain },
	{ SYS_open, "open", describe_plain },
	{ SYS_stat, "stat", describe_plain },
	{ SYS_vfork, "vfork, until its child calls exec or ends", describe_plain },
#endif
	{ SYS_openat, "openat", describe_plain },
	{ SYS_wait4, "wait4", describe_child },
	{ SYS_waitid, "waitid", describe_child },
	{ SYS_nanosleep, "nanosleep", describe_plain },
	{ SYS_clock_nanosleep, "clock_nanosleep", describe_plain },
	{ SYS_rt_sigtimedwait, "rt_sigtimedwait, for a signal", describe_plain },
	{ SYS_rt_sigsuspend, "rt_sigsuspend, for a signal", describe_plain },
	{ SYS_msgrcv, "msgrcv, for a message", describe_plain },
	{ SYS_semop, "semop, for a semaphore", describe_plain },
	{ SYS_semtimedop, "semtimedop, for a semaphore", describe_plain },
	{ SYS_io_getevents, "io_getevents", describe_plain },
	{ 426, "io_uring_enter", describe_file },
	{ SYS_sync, "sync", describe_plain },
	{ SYS_restart_syscall, "a call that goes on after a stop", describe_plain },
	{ SYS_exit, "exit", describe_plain },
};

static bool read_call(struct call *call)
{
	unsigned long long number, arguments[6], sp, pc;
	char path[64], text[256];
	own(own_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", call->tgid, call->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &number, &arguments[0],
		   &arguments[1], &arguments[2], &arguments[3], &arguments[4], &arguments[5], &sp,
		   &pc) != 9)
		return false;
	call->number = number;
	for (int i = 0; i < 6; i++)
		call->arguments[i] = arguments[i];
	/* Calls of a 32-bit program have other numbers. */
	return sp >> 32 || pc >> 32;
}

bool wait_read(struct remote_memory *memory, uint32_t tgid, uint32_t tid,
	       struct thread_wait *ret_wait)
{
	struct call call = { .memory = memory, .tgid = tgid, .tid = tid };

	*ret_wait = (struct thread_wait){ 0 };
	if (!read_call(&call))
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number != call.number)
			continue;
		calls[i].describe(&call, calls[i].name, ret_wait);
		return true;
	}
	snprintf(ret_wait->text, sizeof(ret_wait->text), "in system call %llu",
		 (unsigned long long)call.number);
	return true;
}
