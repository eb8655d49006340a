// SPDX-License-Identifier: GPL-2.0-or-later
#include "confined/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "confined/confined_internal.h"

/* A child may take so many times its CPU time, because other programs want CPUs, too. */
#define PATIENCE      4
#define BUFFER_SIZE   CONFINED_PIECE_SIZE
#define TICK_MS	      1000 /* between calls of `waiting` */
#define FIRST_TICK_MS 50   /* until the CPU time of a call is first checked */
#define REAP_MS	      200
#define SMALL_BYTES   (16ull << 20)
#define SEND_S	      5 /* for a child that was taken over, which may not read */

const struct confined_limits confined_limits_default = {
	.call_ns = 20 * NS_PER_SECOND,
	.owner_ns = 10 * NS_PER_SECOND,
	.others_ns = 20 * NS_PER_SECOND,
	.renew_ns = 60 * NS_PER_SECOND,
	.answers = 256 << 20,
	.bytes = 1ull << 30,
};

/* The child of one owner, and its costs. */
struct confined_child {
	struct confined *of;
	uid_t owner;
	/* Since the last renewal: */
	uint64_t used_ns;  /* without the call that runs */
	uint64_t answered; /* bytes */

	uint32_t n_lost; /* calls */

	pid_t pid;     /* 0: none */
	bool is_small; /* made while this process was */
	bool has_answered;
	int socket;
	clockid_t clock; /* its CPU time */

	/* The call that runs. */
	uint64_t begin_ns, begin_cpu_ns;
	uint64_t allowed_ns;
	uint32_t left; /* bytes of the piece that is being read */
	bool ended;    /* ... the last one was read */
	int result;

	uint8_t *bytes; /* read ahead: [at, end) */
	size_t at, end;
};

struct confined {
	struct confined_limits limits;
	struct confined_child **children;
	uint32_t n, capacity;
	uint64_t others_used_ns, renewed_ns;
	uint64_t cpu_ns;
	struct confined_losses losses;
	void (*waiting)(void *context);
	void *waiting_context;
};

int confined_new(const struct confined_limits *limits, struct confined **ret_confined)
{
	struct confined *confined = calloc(1, sizeof(*confined));

	if (!confined)
		return -ENOMEM;
	confined->limits = *limits;
	confined->renewed_ns = monotonic_ns();
	*ret_confined = confined;
	return 0;
}

/*
 * A child that could not give up its rights says so by its exit status, before its first call. Of
 * one that has answered, the status says nothing: the file that it read may have made it.
 */
static void note_rights(struct confined_child *child, int status)
{
	if (!child->has_answered && WIFEXITED(status) && WEXITSTATUS(status) > CONFINED_EXIT_RIGHTS)
		child->of->losses.unconfined = WEXITSTATUS(status) - CONFINED_EXIT_RIGHTS;
}

/* Ends the child's process. One that blocks in the kernel is left behind. */
static void end_child(struct confined_child *child)
{
	uint64_t end = monotonic_ms() + REAP_MS;
	int status = 0;

	own_fd(&child->socket);
	child->socket = -1;
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, WNOHANG) == 0 && monotonic_ms() < end)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	note_rights(child, status);
	child->pid = 0;
}

void confined_free(struct confined *confined)
{
	if (!confined)
		return;
	for (uint32_t i = 0; i < confined->n; i++) {
		end_child(confined->children[i]);
		free(confined->children[i]->bytes);
		free(confined->children[i]);
	}
	free(confined->children);
	free(confined);
}

uid_t confined_owner(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || (status.st_mode & (S_IWGRP | S_IWOTH)))
		return CONFINED_ANYBODY;
	return status.st_uid;
}

uid_t confined_owner_of_all(const int *fds, uint32_t n)
{
	uid_t all = 0;

	for (uint32_t i = 0; i < n; i++) {
		uid_t owner = confined_owner(fds[i]);

		if (owner != 0 && all != 0 && owner != all)
			return CONFINED_ANYBODY;
		all = owner != 0 ? owner : all;
	}
	return all;
}

void confined_set_waiting(struct confined *confined, void (*waiting)(void *context), void *context)
{
	confined->waiting = waiting;
	confined->waiting_context = context;
}

/* Gives all owners their full time again, once a period has passed. */
static void renew(struct confined *confined)
{
	uint64_t now = monotonic_ns();

	if (now - confined->renewed_ns < confined->limits.renew_ns)
		return;
	for (uint32_t i = 0; i < confined->n; i++)
		confined->children[i]->used_ns = confined->children[i]->answered = 0;
	confined->others_used_ns = 0;
	confined->renewed_ns = now;
}

struct confined_losses confined_losses(const struct confined *confined)
{
	struct confined_losses losses = confined->losses;
	uint32_t most = 0;

	for (uint32_t i = 0; i < confined->n; i++) {
		if (confined->children[i]->n_lost <= most)
			continue;
		most = confined->children[i]->n_lost;
		losses.owner = confined->children[i]->owner;
	}
	return losses;
}

uint64_t confined_cpu_ns(const struct confined *confined)
{
	return confined->cpu_ns;
}

static int child_of(struct confined *confined, uid_t owner, struct confined_child **ret_child)
{
	struct confined_child *child;
	int r;

	for (uint32_t i = 0; i < confined->n; i++) {
		if (confined->children[i]->owner == owner) {
			*ret_child = confined->children[i];
			return 0;
		}
	}
	r = grow(&confined->children, &confined->capacity, confined->n + 1ull);
	if (r < 0)
		return r;
	child = calloc(1, sizeof(*child));
	if (!child)
		return -ENOMEM;
	child->bytes = malloc(BUFFER_SIZE);
	if (!child->bytes) {
		free(child);
		return -ENOMEM;
	}
	child->of = confined;
	child->owner = owner;
	child->socket = -1;
	confined->children[confined->n++] = child;
	*ret_child = child;
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
/* A child made beside threads may find the sanitizer's allocator locked. */
static bool is_small(void)
{
	return true;
}
#else
/*
 * Whether this process has so little anonymous memory that copies of it do not matter. (The largest
 * size in struct rusage may be that of a program that this process was before execve().)
 */
static bool is_small(void)
{
	own(own_fd) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	unsigned long long resident, shared;
	char text[256];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || shared > resident)
		return false;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) < SMALL_BYTES;
}
#endif

static int start_child(struct confined_child *child)
{
	const struct timeval send_timeout = { .tv_sec = SEND_S };
	int status = 0;
	own(own_fd) int ours = -1;
	own(own_fd) int theirs = -1;
	int ends[2];

	/* It may have ended between two calls, with the thread that made it. */
	if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) != 0) {
		note_rights(child, status);
		child->pid = 0;
	}
	if (child->pid > 0)
		return 0;
	own_fd(&child->socket);
	child->socket = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	if (setsockopt(ours, SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof(send_timeout)) < 0)
		return -errno;
	child->is_small = is_small();
	child->has_answered = false;
	child->pid = fork();
	if (child->pid == 0)
		confined_serve(theirs, &child->of->limits);
	if (child->pid < 0)
		return -errno;
	if (clock_getcpuclockid(child->pid, &child->clock) != 0)
		child->clock = CLOCK_MONOTONIC;
	child->socket = take_fd(&ours);
	return 0;
}

int confined_prepare(struct confined *confined)
{
	struct confined_child *root;
	int r = child_of(confined, 0, &root);

	return r < 0 ? r : start_child(root);
}

void confined_retire(struct confined *confined)
{
	for (uint32_t i = 0; i < confined->n; i++)
		if (!confined->children[i]->is_small)
			end_child(confined->children[i]);
}

/* ---- time ---- */

/* The child's CPU time; 0 when it has ended. */
static uint64_t cpu_ns(const struct confined_child *child)
{
	struct timespec now;

	if (clock_gettime(child->clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* What the call that runs has used: CPU time, or a part of the time that it kept us waiting. */
static uint64_t used_ns(const struct confined_child *child)
{
	uint64_t waited = (monotonic_ns() - child->begin_ns) / PATIENCE, now = cpu_ns(child);
	uint64_t cpu = now > child->begin_cpu_ns ? now - child->begin_cpu_ns : 0;

	return cpu > waited ? cpu : waited;
}

static uint64_t left_of(uint64_t limit, uint64_t used)
{
	return used < limit ? limit - used : 0;
}

static uint64_t allowed_ns(const struct confined_child *child)
{
	const struct confined_limits *limits = &child->of->limits;
	uint64_t allowed = limits->call_ns, left;

	if (child->owner == 0)
		return allowed;
	left = left_of(limits->owner_ns, child->used_ns);
	allowed = left < allowed ? left : allowed;
	left = left_of(limits->others_ns, child->of->others_used_ns);
	return left < allowed ? left : allowed;
}

static void charge(struct confined_child *child)
{
	uint64_t used = used_ns(child), now = cpu_ns(child);

	if (now > child->begin_cpu_ns)
		child->of->cpu_ns += now - child->begin_cpu_ns;
	child->used_ns += used;
	if (child->owner != 0)
		child->of->others_used_ns += used;
}

/* ---- a call ---- */

static int lose(struct confined_child *child, int error)
{
	child->n_lost++;
	if (error == -EDQUOT || error == -ETIMEDOUT)
		child->of->losses.refused++;
	else if (!child->of->losses.unconfined)
		child->of->losses.crashed++;
	return error;
}

static int send_all(int socket, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t n = send(socket, from, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

static int send_call(const struct confined_child *child, const struct confined_call *call)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(CONFINED_MAX_FDS * sizeof(int))];
	} control = { 0 };
	struct confined_message head = { .work = call->work, .n_fds = call->n_fds };
	struct iovec parts[2] = { { &head, sizeof(head) } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 1 };
	ssize_t sent;

	for (uint32_t i = 0; i < call->n_parts; i++)
		head.size += call->request[i].iov_len;
	if (head.size > CONFINED_MAX_REQUEST || call->n_fds > CONFINED_MAX_FDS)
		return -E2BIG;
	if (call->n_fds) {
		size_t size = call->n_fds * sizeof(int);

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(size);
		control.header.cmsg_len = CMSG_LEN(size);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.header), call->fds, size);
	}
	/* With the first part, so that the child is woken once. */
	if (call->n_parts)
		parts[message.msg_iovlen++] = call->request[0];
	sent = sendmsg(child->socket, &message, MSG_NOSIGNAL);
	if (sent < (ssize_t)sizeof(head))
		return sent < 0 ? -errno : -EIO;
	sent -= (ssize_t)sizeof(head);
	for (uint32_t i = 0; i < call->n_parts; i++, sent = 0) {
		int r = send_all(child->socket, (const char *)call->request[i].iov_base + sent,
				 call->request[i].iov_len - (size_t)sent);

		if (r < 0)
			return r;
	}
	return 0;
}

int confined_begin(struct confined *confined, const struct confined_call *call,
		   struct confined_child **ret_child)
{
	struct confined_child *child;
	int r = child_of(confined, call->owner, &child);

	if (r < 0)
		return r;
	renew(confined);
	child->allowed_ns = allowed_ns(child);
	if (child->allowed_ns == 0)
		return lose(child, -EDQUOT);
	r = start_child(child);
	if (r < 0)
		return r;
	child->begin_ns = monotonic_ns();
	child->begin_cpu_ns = cpu_ns(child);
	child->left = child->result = 0;
	child->ended = false;
	child->at = child->end = 0;
	r = send_call(child, call);
	if (r < 0) {
		end_child(child);
		return lose(child, r);
	}
	*ret_child = child;
	return 0;
}

static int give_up(struct confined_child *child, int error)
{
	charge(child);
	end_child(child);
	child->result = lose(child, error);
	child->ended = true;
	return child->result;
}

/* Waits for more of the answer. */
static int refill(struct confined_child *child)
{
	int wait_ms = FIRST_TICK_MS;

	for (;;) {
		struct pollfd ready = { .fd = child->socket, .events = POLLIN };
		int n = poll(&ready, 1, wait_ms);
		ssize_t got;

		if (n == 0) {
			if (used_ns(child) >= child->allowed_ns)
				return give_up(child, -ETIMEDOUT);
			if (child->of->waiting)
				child->of->waiting(child->of->waiting_context);
			wait_ms = wait_ms * 2 < TICK_MS ? wait_ms * 2 : TICK_MS;
			continue;
		}
		got = n < 0 ? -1 : read(child->socket, child->bytes, BUFFER_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return give_up(child, -EIO);
		child->has_answered = true;
		child->at = 0;
		child->end = (size_t)got;
		return 0;
	}
}

/* Reads bytes as they come over the socket. */
static int read_raw(struct confined_child *child, void *bytes, size_t size)
{
	char *to = bytes;

	while (size > 0) {
		size_t n = child->end - child->at;
		int r;

		if (n == 0) {
			r = refill(child);
			if (r < 0)
				return r;
			continue;
		}
		n = n < size ? n : size;
		memcpy(to, child->bytes + child->at, n);
		child->at += n;
		to += n;
		size -= n;
	}
	return 0;
}

/* Reads the head of the next piece. */
static int next_piece(struct confined_child *child)
{
	struct confined_piece piece;
	int r;

	/* A child that sends without end is stopped here: poll() need not wait for it. */
	if (used_ns(child) >= child->allowed_ns)
		return give_up(child, -ETIMEDOUT);
	r = read_raw(child, &piece, sizeof(piece));
	if (r < 0)
		return r;
	if (piece.size > CONFINED_PIECE_SIZE || piece.result > 0)
		return give_up(child, -EPROTO);
	child->answered += piece.size;
	if (child->owner != 0 && child->answered > child->of->limits.answers)
		return give_up(child, -EDQUOT);
	child->left = piece.size;
	child->ended = piece.size == 0;
	child->result = child->ended ? piece.result : 0;
	return 0;
}

int confined_read(struct confined_child *child, void *bytes, size_t size)
{
	char *to = bytes;

	while (size > 0) {
		size_t n = child->left < size ? child->left : size;
		int r;

		if (child->ended)
			return child->result < 0 ? child->result : -ENODATA;
		r = n ? read_raw(child, to, n) : next_piece(child);
		if (r < 0)
			return r;
		child->left -= (uint32_t)n;
		to += n;
		size -= n;
	}
	return 0;
}

static int read_child(void *context, void *bytes, size_t size)
{
	return confined_read(context, bytes, size);
}

struct byte_source confined_source(struct confined_child *child)
{
	return (struct byte_source){ read_child, child };
}

int confined_finish(struct confined_child *child)
{
	if (!child->ended && child->left == 0)
		next_piece(child);
	if (!child->ended)
		return give_up(child, -EPROTO);
	if (child->pid > 0)
		charge(child);
	return child->result;
}
