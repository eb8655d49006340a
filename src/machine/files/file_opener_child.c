// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confined/rights.h"
#include "files/file_opener_internal.h"
#include "files/path.h"

#define HEARTBEAT_BYTES	  (4u << 20) /* that are copied between two heartbeats */
#define HEAD_SIZE	  65536
#define MAX_PROGRAM_HEADS 64

/* The child's only descriptors. */
#define INPUT_FD 0
#define REPLY_FD 1
#define COPY_FD	 2

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

_Noreturn void file_opener_serve(const struct opening *job, int reply_fd)
{
	rights_drop_priority();
	keep_only(job->fd, reply_fd, job->copy);
	send_result(copy_file(job->extent));
	_exit(0);
}

/* The next request, NUL-terminated; -1: there will be none. */
static ssize_t receive_request(void *bytes, size_t size, int *ret_directory)
{
	struct iovec part = { bytes, size - 1 };
	union descriptor_message descriptor;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &descriptor,
				  .msg_controllen = sizeof(descriptor.bytes) };
	ssize_t n = recvmsg(REPLY_FD, &message, MSG_CMSG_CLOEXEC);

	if (n <= (ssize_t)sizeof(struct resolving) ||
	    message.msg_controllen < sizeof(descriptor.header) ||
	    descriptor.header.cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(ret_directory, CMSG_DATA(&descriptor.header), sizeof(*ret_directory));
	((char *)bytes)[n] = '\0';
	return n;
}

_Noreturn void file_opener_resolve_all(int reply_fd)
{
	static char request[sizeof(struct resolving) + PATH_MAX + 1];
	struct resolving head;
	int directory;

	rights_drop_priority();
	keep_only(reply_fd, reply_fd, -1);
	while (receive_request(request, sizeof(request), &directory) > 0) {
		int found;

		memcpy(&head, request, sizeof(head));
		found = path_resolve(directory, request + sizeof(head), head.follow);
		close(directory);
		if (found < 0) {
			send_result(found);
			continue;
		}
		send_descriptor(found);
		close(found);
	}
	_exit(0);
}
