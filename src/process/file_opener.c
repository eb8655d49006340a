// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/file_opener.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/own.h"
#include "confined/rights.h"
#include "process/path.h"

#define MAX_UNRESPONSIVE 64
/* The child sends a heartbeat after each HEARTBEAT_BYTES, so a slow server differs from a dead one.
 */
#define MAX_SILENCE_MS	  1500
#define MAX_TOTAL_MS	  10000
#define RETRY_MS	  30000
#define HEARTBEAT_BYTES	  (4u << 20)
#define HEAD_SIZE	  65536
#define MAX_PROGRAM_HEADS 64

/* Each that did not respond lately halves these times for the next, at most this often. */
#define MAX_HALVINGS 5

/* The child's only descriptors. */
#define INPUT_FD 0
#define REPLY_FD 1
#define COPY_FD	 2

/* A mount or directory that did not respond. */
struct unresponsive {
	uint64_t key;
	uint64_t until_ms;
	pid_t child; /* left behind, perhaps blocked for ever; 0: reaped */
};

struct file_opener {
	struct mounts *mounts;
	struct unresponsive unresponsive[MAX_UNRESPONSIVE];
	uint32_t n;
};

/* What the child is to do: to resolve `path` below `fd`, or, without a path, to copy `fd`. */
struct job {
	int fd;
	const char *path;
	bool follow;
	enum file_extent extent;
	int copy; /* the memfd to copy to; -1: none */
};

/*
 * The child's last message is its result, an int: 0 or a negative errno. Before it come heartbeats,
 * of one byte. The first message of a child that copies is the status of the file: it sends that
 * while it knows nothing of the content, which could have taken it over later.
 */

/* What the child has sent. */
struct reply {
	struct stat status; /* st_mode is 0 until it came */
	int found;	    /* the descriptor of a resolved path; -1: none */
};

union descriptor_message {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int file_opener_new(struct file_opener **ret_opener)
{
	own(own_free) struct file_opener *opener = calloc(1, sizeof(*opener));
	int r = opener ? mounts_new(&opener->mounts) : -ENOMEM;

	if (r < 0)
		return r;
	*ret_opener = take_ptr(opener);
	return 0;
}

/* Reaps the child if it has ended; true if none is left. */
static bool reap(struct unresponsive *unresponsive)
{
	if (unresponsive->child && waitpid(unresponsive->child, NULL, WNOHANG) != 0)
		unresponsive->child = 0;
	return !unresponsive->child;
}

void file_opener_free(struct file_opener *opener)
{
	if (!opener)
		return;
	for (uint32_t i = 0; i < opener->n; i++)
		reap(&opener->unresponsive[i]);
	mounts_free(opener->mounts);
	free(opener);
}

/* ---- the child: system calls only, since a thread of the parent may have held locks of libc ----
 */

static void send_heartbeat(void)
{
	ssize_t unused = write(REPLY_FD, "", 1);

	(void)unused;
}

static int copy_range(int fd, uint64_t from, uint64_t to)
{
	static char bytes[65536];
	uint64_t last_heartbeat = from;

	while (from < to) {
		size_t n = to - from < sizeof(bytes) ? (size_t)(to - from) : sizeof(bytes);
		ssize_t r = pread(fd, bytes, n, (off_t)from);

		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		if (pwrite(COPY_FD, bytes, (size_t)r, (off_t)from) != r)
			return -ENOSPC;
		from += (uint64_t)r;
		if (from - last_heartbeat >= HEARTBEAT_BYTES) {
			last_heartbeat = from;
			send_heartbeat();
		}
	}
	return 0;
}

/* Copies the note segments of an ELF file, one of which has the build-id. The child has no rights.
 */
static int copy_notes(int fd, uint64_t size)
{
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (uint32_t i = 0; i < head.e_phnum && i < MAX_PROGRAM_HEADS; i++) {
		uint64_t at = head.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;
		uint64_t end;
		int r;

		if (pread(fd, &segment, sizeof(segment), (off_t)at) != sizeof(segment))
			break;
		if (segment.p_type != PT_NOTE || segment.p_offset > size ||
		    segment.p_filesz > HEAD_SIZE)
			continue;
		r = copy_range(fd, at, at + sizeof(segment));
		if (r < 0)
			return r;
		end = segment.p_offset + segment.p_filesz;
		r = copy_range(fd, segment.p_offset, end < size ? end : size);
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_file(enum file_extent extent)
{
	struct stat status;
	uint64_t size;
	int fd, r;

	if (fstat(INPUT_FD, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	size = (uint64_t)status.st_size;
	if (extent == FILE_WHOLE && size > FILE_OPENER_MAX)
		return -EFBIG;
	fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (write(REPLY_FD, &status, sizeof(status)) != sizeof(status))
		return -EIO;
	if (ftruncate(COPY_FD, status.st_size) < 0)
		return -errno;
	r = rights_keep_copying(COPY_FD, size, REPLY_FD);
	if (r < 0)
		return r;
	if (extent == FILE_WHOLE || size <= HEAD_SIZE)
		return copy_range(fd, 0, size);
	r = copy_range(fd, 0, HEAD_SIZE);
	return r < 0 ? r : copy_notes(fd, size);
}

static void send_result(int result)
{
	ssize_t unused = write(REPLY_FD, &result, sizeof(result));

	(void)unused;
}

/* Sends the result 0 with a descriptor. */
static void send_descriptor(int found)
{
	int result = 0;
	struct iovec bytes = { &result, sizeof(result) };
	union descriptor_message descriptor = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &descriptor,
				  .msg_controllen = sizeof(descriptor.bytes) };

	memcpy(CMSG_DATA(&descriptor.header), &found, sizeof(found));
	sendmsg(REPLY_FD, &message, MSG_NOSIGNAL);
}

/* Closes all other descriptors: a child that is left behind would keep our BPF programs alive. */
static void keep_only(int input, int reply, int copy)
{
	int fds[] = { input, reply, copy < 0 ? reply : copy };

	for (int i = 0; i < 3; i++)
		fds[i] = fcntl(fds[i], F_DUPFD, COPY_FD + 1);
	for (int i = 0; i < 3; i++) {
		if (fds[i] < 0 || dup2(fds[i], i) < 0)
			_exit(1);
	}
	if (syscall(SYS_close_range, COPY_FD + 1, ~0u, 0) < 0) {
		for (int each = COPY_FD + 1; each < 4096; each++)
			close(each);
	}
}

static _Noreturn void run_child(const struct job *job, int reply_fd)
{
	int found;

	keep_only(job->fd, reply_fd, job->copy);
	if (!job->path) {
		send_result(copy_file(job->extent));
		_exit(0);
	}
	found = path_resolve(INPUT_FD, job->path, job->follow);
	if (found < 0)
		send_result(found);
	else
		send_descriptor(found);
	_exit(0);
}

/* ---- the parent ---- */

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
static int receive_reply(int socket, uint32_t halved, struct reply *reply)
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
static uint64_t key_of(const struct job *job)
{
	uint64_t mount = mounts_id(job->fd);
	const char *slash = job->path ? strrchr(job->path, '/') : NULL;

	if (!job->path)
		return mount;
	return hash_u64(mount + 1) ^ hash_bytes(job->path, slash ? slash - job->path : 0);
}

/* `reply` is set also on failure. */
static int run_job(struct file_opener *opener, const struct job *job, struct reply *reply)
{
	uint64_t key = key_of(job);
	struct unresponsive *known = find_unresponsive(opener, key);
	own(own_fd) int socket = -1;
	pid_t child;
	int ends[2], r;

	*reply = (struct reply){ .found = -1 };
	if (known && (monotonic_ms() < known->until_ms || !reap(known)))
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	socket = ends[0];
	child = fork();
	if (child == 0)
		run_child(job, ends[1]);
	close(ends[1]);
	if (child < 0)
		return -errno;
	r = receive_reply(socket, halvings(opener), reply);
	if (r == -ETIMEDOUT) {
		kill(child, SIGKILL);
		add_unresponsive(opener, key, child);
		return r;
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

enum mount_kind file_opener_mount_kind(struct file_opener *opener, int path_fd, int process_dir)
{
	return mounts_kind(opener->mounts, path_fd, process_dir);
}

struct mounts *file_opener_mounts(const struct file_opener *opener)
{
	return opener->mounts;
}

int file_opener_resolve(struct file_opener *opener, int root, const char *path, bool follow,
			bool local)
{
	const struct job job = { .fd = root, .path = path, .follow = follow, .copy = -1 };
	struct reply reply;
	int r;

	if (root < 0)
		return -ENOENT;
	if (local)
		return path_resolve(root, path, follow);
	r = run_job(opener, &job, &reply);
	return r < 0 ? r : reply.found;
}

int file_opener_open(struct file_opener *opener, int path_fd, enum mount_kind kind,
		     enum file_extent extent, struct stat *ret_status)
{
	own(own_fd) int copy = -1;
	struct job job = { .fd = path_fd, .extent = extent };
	struct reply reply;
	int r;

	if (kind == MOUNT_LOCAL)
		return path_open_regular(fcntl(path_fd, F_DUPFD_CLOEXEC, 3), ret_status);
	copy = memfd_create("copy", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	job.copy = copy;
	r = run_job(opener, &job, &reply);
	if (r < 0)
		return r;
	if (!reply.status.st_mode)
		return -EIO;
	*ret_status = reply.status;
	return take_fd(&copy);
}
