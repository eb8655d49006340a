// SPDX-License-Identifier: GPL-2.0-or-later
/* Our end of the children that resolve paths and copy files. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/own.h"
#include "files/file_opener_internal.h"

/* The child sends heartbeats, so a slow server differs from a dead one. */
#define MAX_SILENCE_MS 1500
#define MAX_TOTAL_MS   10000
#define RETRY_MS       30000

/* Each that did not respond lately halves these times for the next, at most this often. */
#define MAX_HALVINGS 5

/* Reaps the child if it has ended; true if none is left. */
static bool reap(struct unresponsive *unresponsive)
{
	if (unresponsive->child && waitpid(unresponsive->child, NULL, WNOHANG) != 0)
		unresponsive->child = 0;
	return !unresponsive->child;
}

/*
 * How often to halve the times that are waited: so a user who serves many file systems that do not
 * respond, or makes many links to one, delays us by little more than with one of them.
 */
static uint32_t halvings(const struct file_opener *opener)
{
	uint64_t now = monotonic_ms();
	uint32_t n = 0;

	for (uint32_t i = 0; i < opener->n && n < MAX_HALVINGS; i++)
		n += now < opener->unresponsive[i].until_ms;
	return n;
}

/* Receives a message of at most `size` bytes; returns how many it has, or as recvmsg(). */
static ssize_t receive_message(int socket, void *bytes, size_t size, int *ret_found)
{
	struct iovec part = { bytes, size };
	union descriptor_message descriptor;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &descriptor,
				  .msg_controllen = sizeof(descriptor.bytes) };
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);

	if (n > 0 && message.msg_controllen >= sizeof(descriptor.header) &&
	    descriptor.header.cmsg_type == SCM_RIGHTS)
		memcpy(ret_found, CMSG_DATA(&descriptor.header), sizeof(*ret_found));
	return n;
}

/*
 * Waits for what the child sends, up to its result, which is returned. -EIO: it died; -ETIMEDOUT:
 * it sent nothing for too long.
 */
static int receive_reply(int socket, uint32_t halved, struct file_reply *reply)
{
	const uint64_t max_silence = MAX_SILENCE_MS >> halved, max_total = MAX_TOTAL_MS >> halved;
	uint64_t now = monotonic_ms(), end = now + max_total, silent = now + max_silence;

	for (; now < end && now < silent; now = monotonic_ms()) {
		struct pollfd readable = { .fd = socket, .events = POLLIN };
		union {
			int result;
			struct stat status;
		} message;
		ssize_t n;

		if (poll(&readable, 1, (int)((silent < end ? silent : end) - now)) <= 0)
			continue;
		n = receive_message(socket, &message, sizeof(message), &reply->found);
		if (n == 0)
			return -EIO;
		if (n == sizeof(message.result))
			return message.result > 0 ? -EIO : message.result;
		if (n == sizeof(message.status) && !reply->status.st_mode)
			reply->status = message.status;
		silent = monotonic_ms() + max_silence;
	}
	return -ETIMEDOUT;
}

/* Keeps the path of what took too long. No file system is asked for it. */
static void note_late(struct file_opener *opener, const struct opening *job)
{
	char link[32], at[128];
	ssize_t n;

	if (opener->n_late++)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", job->fd);
	n = readlink(link, at, sizeof(at) - 1);
	at[n > 0 ? n : 0] = '\0';
	snprintf(opener->first_late, sizeof(opener->first_late), "%.100s%s%.150s",
		 job->path && strcmp(at, "/") == 0 ? "" : at,
		 job->path && job->path[0] != '/' ? "/" : "", job->path ? job->path : "");
}

const char *file_opener_late(const struct file_opener *opener, uint32_t *ret_n)
{
	*ret_n = opener->n_late;
	return opener->n_late ? opener->first_late : NULL;
}

static struct unresponsive *find_unresponsive(struct file_opener *opener, uint64_t key)
{
	for (uint32_t i = 0; i < opener->n; i++) {
		if (opener->unresponsive[i].key == key)
			return &opener->unresponsive[i];
	}
	return NULL;
}

static void add_unresponsive(struct file_opener *opener, uint64_t key, pid_t child)
{
	struct unresponsive *entry = find_unresponsive(opener, key);

	if (!entry && opener->n < MAX_UNRESPONSIVE)
		entry = &opener->unresponsive[opener->n++];
	for (uint32_t i = 0; !entry && i < opener->n; i++) {
		if (reap(&opener->unresponsive[i]))
			entry = &opener->unresponsive[i];
	}
	if (!entry)
		entry = &opener->unresponsive[0]; /* init reaps its child after our end */
	*entry = (struct unresponsive){
		.key = key,
		.until_ms = monotonic_ms() + RETRY_MS,
		.child = child,
	};
}

/* A file stands for its mount, a path for its directory: one root leads to many mounts. */
static uint64_t key_of(const struct opening *job)
{
	uint64_t mount = mounts_id(job->fd);
	const char *slash = job->path ? strrchr(job->path, '/') : NULL;

	if (!job->path)
		return mount;
	return hash_u64(mount + 1) ^ hash_bytes(job->path, slash ? slash - job->path : 0);
}

static void wait_for(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void file_opener_rest(struct file_opener *opener)
{
	if (!opener->resolver)
		return;
	/* Without waiting for it to see the end: a process forked since may have the socket. */
	kill(opener->resolver, SIGKILL);
	close(opener->requests);
	wait_for(opener->resolver);
	opener->resolver = 0;
}

static int start_resolver(struct file_opener *opener)
{
	pid_t child;
	int ends[2];

	if (opener->resolver)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	child = fork();
	if (child == 0)
		file_opener_resolve_all(ends[1]);
	close(ends[1]);
	if (child < 0) {
		int code = -errno;

		close(ends[0]);
		return code;
	}
	opener->resolver = child;
	opener->requests = ends[0];
	return 0;
}

static int send_request(int socket, const struct opening *job)
{
	struct resolving head = { .follow = job->follow };
	struct iovec parts[] = { { &head, sizeof(head) },
				 { (void *)job->path, strlen(job->path) } };
	union descriptor_message descriptor = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = parts,
				  .msg_iovlen = 2,
				  .msg_control = &descriptor,
				  .msg_controllen = sizeof(descriptor.bytes) };

	memcpy(CMSG_DATA(&descriptor.header), &job->fd, sizeof(job->fd));
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Has the resolver do it. */
static int resolve(struct file_opener *opener, const struct opening *job, uint64_t key,
		   struct file_reply *reply)
{
	size_t length = strlen(job->path);
	int r;

	if (length == 0 || length > PATH_MAX)
		return length ? -ENAMETOOLONG : -ENOENT;
	r = start_resolver(opener);
	if (r < 0)
		return r;
	/* Whatever keeps a request from being sent, it is not there any more. */
	r = send_request(opener->requests, job) < 0
		    ? -EIO
		    : receive_reply(opener->requests, halvings(opener), reply);
	if (r != -ETIMEDOUT && r != -EIO)
		return r;
	/* One that is late may be blocked for ever; one that died has left only its status. */
	kill(opener->resolver, SIGKILL);
	close(opener->requests);
	if (r == -ETIMEDOUT) {
		note_late(opener, job);
		add_unresponsive(opener, key, opener->resolver);
	} else {
		wait_for(opener->resolver);
	}
	opener->resolver = 0;
	return r;
}

int file_opener_run(struct file_opener *opener, const struct opening *job, struct file_reply *reply)
{
	uint64_t key = key_of(job);
	struct unresponsive *known = find_unresponsive(opener, key);
	own(own_fd) int socket = -1;
	pid_t child;
	int ends[2], r;

	*reply = (struct file_reply){ .found = -1 };
	if (known && (monotonic_ms() < known->until_ms || !reap(known)))
		return -ETIMEDOUT;
	if (job->path)
		return resolve(opener, job, key, reply);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	socket = ends[0];
	child = fork();
	if (child == 0)
		file_opener_serve(job, ends[1]);
	close(ends[1]);
	if (child < 0)
		return -errno;
	r = receive_reply(socket, halvings(opener), reply);
	if (r == -ETIMEDOUT) {
		kill(child, SIGKILL);
		note_late(opener, job);
		add_unresponsive(opener, key, child);
		return r;
	}
	wait_for(child);
	return r;
}

void file_opener_reap(struct file_opener *opener)
{
	for (uint32_t i = 0; i < opener->n; i++)
		reap(&opener->unresponsive[i]);
}
