/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has hostile files read by child processes that can do nothing but read the descriptors they are
 * sent and answer: they have no privileges, no other descriptors, few system calls (seccomp), and
 * limits of time and memory. A child that crashes or is taken over answers wrongly or not at all.
 *
 * Each owner of files has a child of its own, so that a file can spoil the answers about files of
 * its owner only, and can use up its owner's time only. A child is a copy of this process, made
 * when its owner's first file is met; it answers call after call. So what is called need not be
 * registered anywhere: a call carries the address of a function of this program.
 *
 * The caller may have threads. So work() must not take locks that they may have held at the fork,
 * except those of malloc() and stdio, which libc's fork() keeps usable (not so the malloc() of an
 * address sanitizer). For one thread at a time; the children end with the thread that made them.
 * Must not know: what the work is.
 */
#ifndef STACKTALLY_CONFINED_CONFINED_H
#define STACKTALLY_CONFINED_CONFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/byte_stream.h"
#include "base/own.h"

#define CONFINED_MAX_FDS 16
#define CONFINED_ANYBODY                                                                           \
	((uid_t)-1) /* the owner of files that others than their owner can write                   \
		     */

/* ---- the child's end ---- */

struct confined_answer;

/* One call, in the child. */
struct confined_job {
	int fds[CONFINED_MAX_FDS]; /* as sent, with their offsets shared; -1: not sent */
	const void *request;	   /* bytes, as sent, aligned for any type */
	size_t size;
	struct confined_answer *answer;
};

/*
 * Runs in the child. Answers with confined_send(), then returns 0 or a negative errno, which
 * confined_finish() returns.
 */
typedef int confined_work(const struct confined_job *job);

/* Adds bytes to the answer; ends the child if the answer cannot be sent. */
void confined_send(const struct confined_job *job, const void *bytes, size_t size);
/* The same as a sink. */
struct byte_sink confined_sink(const struct confined_job *job);

/* ---- our end ---- */

/* CPU time is in nanoseconds, and so is the time that a child keeps us waiting. */
struct confined_limits {
	uint64_t call_ns; /* CPU time of one call */
	/* Of all calls in each `renew_ns` of time: */
	uint64_t owner_ns;  /* CPU time for one owner other than root */
	uint64_t others_ns; /* ... for all of them together */
	uint64_t answers;   /* bytes of answers for one owner other than root */
	uint64_t renew_ns;
	uint64_t bytes; /* of memory that a child may have beyond what it starts with */
	bool may_open;	/* children may open files that every user of the machine can read */
};

/* The limits of what is done for each file, once. */
extern const struct confined_limits confined_limits_default;

struct confined;

/* 0 or -ENOMEM. */
int confined_new(const struct confined_limits *limits, struct confined **ret_confined);
/* Kills the children. */
void confined_free(struct confined *confined);
DEFINE_OWN(struct confined, confined_free)

/* Makes root's child now, while there is little memory to copy. 0 or a negative errno. */
int confined_prepare(struct confined *confined);

/*
 * Ends the children that were made when this process had become large; the next calls make new
 * ones. To be called when none is soon to come, and not during one. A child shares the memory that
 * this process had, and keeps what this process gives back or writes to afterwards: copies of the
 * stacks of a long measurement, which the kernel counts in the same control group.
 */
void confined_retire(struct confined *confined);

/*
 * The owner of what a descriptor refers to: CONFINED_ANYBODY where users other than its owner can
 * write, and for files in memory.
 */
uid_t confined_owner(int fd);
/* Of several: CONFINED_ANYBODY where users other than root own some and not all. */
uid_t confined_owner_of_all(const int *fds, uint32_t n);

struct confined_call {
	confined_work *work;
	uid_t owner;
	const int *fds; /* borrowed */
	uint32_t n_fds; /* at most CONFINED_MAX_FDS */
	const struct iovec *request;
	uint32_t
		n_parts; /* of the request, one behind the other, of CONFINED_MAX_REQUEST at most */
};

#define CONFINED_MAX_REQUEST (1ull << 30) /* bytes */

struct confined_child;

/*
 * Starts a call; the previous one of this owner must be finished. 0; -EDQUOT: the owner's time is
 * used up; or another negative errno. After 0 call confined_finish().
 */
int confined_begin(struct confined *confined, const struct confined_call *call,
		   struct confined_child **ret_child);

/*
 * Reads exactly `size` bytes of the answer. 0; -ENODATA: it ended before; -EIO: the child died;
 * -ETIMEDOUT: it took too long and was killed; or the error that the work returned.
 */
int confined_read(struct confined_child *child, void *bytes, size_t size);
/* The same as a source. */
struct byte_source confined_source(struct confined_child *child);

/*
 * Ends a call. Returns what the work returned, if all of the answer was read. -EPROTO: there is
 * more of it, and the child was killed, since it cannot be trusted; or an error of confined_read().
 */
int confined_finish(struct confined_child *child);

/*
 * A whole call about one file, whose answer has a known size: confined_begin(), confined_read() and
 * confined_finish(). 0, or the first error of these.
 */
int confined_ask(struct confined *confined, confined_work *work, int fd,
		 const struct iovec *request, void *answer, size_t size);

/* Called at least once a second while an answer is waited for; or NULL. */
void confined_set_waiting(struct confined *confined, void (*waiting)(void *context), void *context);

/* What limits and damage have cost. */
struct confined_losses {
	uint32_t refused; /* calls that were not made, or not to their end, for lack of time */
	uint32_t crashed; /* calls whose child died or sent something that no answer has */
	uid_t owner;	  /* the owner who lost most calls */
	int unconfined;	  /* the errno with which children could not give up their rights; or 0 */
};
struct confined_losses confined_losses(const struct confined *confined);

/* The CPU time of all calls that were finished, in nanoseconds. */
uint64_t confined_cpu_ns(const struct confined *confined);

#endif
