// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/answering.h"

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
#include <time.h>

#include "base/index.h"
#include "base/own.h"
#include "process/namespaces.h"

#define MOST	  64	/* places that are remembered; the oldest makes room */
#define PATIENCE  1500	/* ms without a word: a server that is only slow says something */
#define ALL_IN	  10000 /* ms */
#define ASK_AGAIN 30000
#define PIECE	  (4u << 20)
#define HEAD_SIZE 65536
#define MAX_PARTS 64

/* The child's descriptors. */
#define ASKED_FD 0
#define SAID_FD	 1
#define COPY_FD	 2

/* A place that did not answer. */
struct verdict {
	uint64_t place;
	uint64_t until_ms;
	pid_t left; /* the child that did not come back */
};

struct answering {
	struct mounts *mounts;
	struct verdict verdicts[MOST];
	uint32_t n;
};

/* What the child does. */
struct question {
	int fd;		  /* the root, or the file's place */
	const char *path; /* in the root; NULL: copies */
	bool follow;
	enum answering_part part;
	int copy;
};

/* What it says, after any number of single bytes. */
struct said {
	int result;
	struct stat status;
};

int answering_new(struct answering **ret_answering)
{
	own(own_free) struct answering *answering = calloc(1, sizeof(*answering));
	int r = answering ? mounts_new(&answering->mounts) : -ENOMEM;

	if (r < 0)
		return r;
	*ret_answering = answering;
	answering = NULL;
	return 0;
}

/* Whether a child that was left behind has ended since. */
static bool is_gone(struct verdict *verdict)
{
	if (verdict->left && waitpid(verdict->left, NULL, WNOHANG) != 0)
		verdict->left = 0;
	return !verdict->left;
}

void answering_free(struct answering *answering)
{
	if (!answering)
		return;
	for (uint32_t i = 0; i < answering->n; i++)
		is_gone(&answering->verdicts[i]);
	mounts_free(answering->mounts);
	free(answering);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the child: system calls only, as others may have held what libc needs ---- */

static void alive(void)
{
	ssize_t unused = write(SAID_FD, "", 1);

	(void)unused;
}

static int copy_range(int fd, uint64_t from, uint64_t to)
{
	static char bytes[65536];
	uint64_t told = from;

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
		if (from - told >= PIECE) {
			told = from;
			alive();
		}
	}
	return 0;
}

/* Where its build-id may be, beyond the beginning. */
static int copy_notes(int fd, uint64_t size)
{
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (uint32_t i = 0; i < head.e_phnum && i < MAX_PARTS; i++) {
		uint64_t at = head.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr part;
		int r;

		if (pread(fd, &part, sizeof(part), (off_t)at) != sizeof(part))
			break;
		if (part.p_type != PT_NOTE || part.p_offset > size || part.p_filesz > HEAD_SIZE)
			continue;
		r = copy_range(fd, at, at + sizeof(part));
		if (r == 0)
			r = copy_range(fd, part.p_offset, part.p_offset + part.p_filesz);
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy(enum answering_part part, struct stat *status)
{
	uint64_t size;
	int fd, r;

	if (fstat(ASKED_FD, status) < 0)
		return -errno;
	if (!S_ISREG(status->st_mode))
		return -EINVAL;
	size = (uint64_t)status->st_size;
	if (part == ANSWERING_WHOLE && size > ANSWERING_MOST)
		return -EFBIG;
	fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	alive();
	if (ftruncate(COPY_FD, status->st_size) < 0)
		return -errno;
	if (part == ANSWERING_WHOLE || size <= HEAD_SIZE)
		return copy_range(fd, 0, size);
	r = copy_range(fd, 0, HEAD_SIZE);
	return r < 0 ? r : copy_notes(fd, size);
}

/* With what was found, if there is something. */
static void say(const struct said *said, int found)
{
	struct iovec bytes = { (void *)said, sizeof(*said) };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { 0 };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (found >= 0) {
		message.msg_control = &with;
		message.msg_controllen = sizeof(with.room);
		with.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&with.header), &found, sizeof(found));
	}
	sendmsg(SAID_FD, &message, MSG_NOSIGNAL);
}

/* Nothing of ours stays open in it, for what is open goes on measuring. */
static _Noreturn void answer(const struct question *question, int saying)
{
	int fds[] = { question->fd, saying, question->copy < 0 ? saying : question->copy };
	struct said said = { 0 };
	int found = -1;

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
	if (question->path) {
		found = place_in_root(ASKED_FD, question->path, question->follow);
		said.result = found < 0 ? found : 0;
	} else {
		said.result = copy(question->part, &said.status);
	}
	say(&said, found);
	_exit(0);
}

/* ---- who asks ---- */

/* The last message, and the descriptor that came with it. -ETIMEDOUT: it says nothing any more. */
static int hear(int hearing, struct said *said, int *ret_found)
{
	uint64_t now = now_ms(), end = now + ALL_IN, patient = now + PATIENCE;

	for (; now < end && now < patient; now = now_ms()) {
		struct pollfd more = { .fd = hearing, .events = POLLIN };
		struct iovec bytes = { said, sizeof(*said) };
		union {
			struct cmsghdr header;
			char room[CMSG_SPACE(sizeof(int))];
		} with;
		struct msghdr message = { .msg_iov = &bytes,
					  .msg_iovlen = 1,
					  .msg_control = &with,
					  .msg_controllen = sizeof(with.room) };
		int r = poll(&more, 1, (int)((patient < end ? patient : end) - now));
		ssize_t n;

		if (r <= 0)
			continue;
		n = recvmsg(hearing, &message, MSG_CMSG_CLOEXEC);
		if (n == sizeof(*said)) {
			if (message.msg_controllen >= sizeof(with.header) &&
			    with.header.cmsg_type == SCM_RIGHTS)
				memcpy(ret_found, CMSG_DATA(&with.header), sizeof(*ret_found));
			return 0;
		}
		if (n == 0)
			return -EIO; /* it died */
		patient = now_ms() + PATIENCE;
	}
	return -ETIMEDOUT;
}

static struct verdict *find_verdict(struct answering *answering, uint64_t place)
{
	for (uint32_t i = 0; i < answering->n; i++) {
		if (answering->verdicts[i].place == place)
			return &answering->verdicts[i];
	}
	return NULL;
}

static void remember(struct answering *answering, uint64_t place, pid_t left)
{
	struct verdict *verdict = find_verdict(answering, place);

	if (!verdict && answering->n < MOST)
		verdict = &answering->verdicts[answering->n++];
	for (uint32_t i = 0; !verdict && i < answering->n; i++) {
		if (is_gone(&answering->verdicts[i]))
			verdict = &answering->verdicts[i];
	}
	if (!verdict)
		verdict = &answering->verdicts[0]; /* init has that child in the end */
	*verdict =
		(struct verdict){ .place = place, .until_ms = now_ms() + ASK_AGAIN, .left = left };
}

/* A file is asked by its mount, a path by its directory: the same root may lead to many mounts. */
static uint64_t place_of(const struct question *question)
{
	uint64_t mount = mounts_id(question->fd);
	const char *slash = question->path ? strrchr(question->path, '/') : NULL;

	if (!question->path)
		return mount;
	return hash_u64(mount + 1) ^ hash_bytes(question->path, slash ? slash - question->path : 0);
}

static int ask(struct answering *answering, const struct question *question, struct said *said,
	       int *ret_found)
{
	uint64_t place = place_of(question);
	struct verdict *known = find_verdict(answering, place);
	own(own_fd) int hearing = -1;
	pid_t child;
	int ends[2], r;

	if (known && (now_ms() < known->until_ms || !is_gone(known)))
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	hearing = ends[0];
	child = fork();
	if (child == 0)
		answer(question, ends[1]);
	close(ends[1]);
	if (child < 0)
		return -errno;
	r = hear(hearing, said, ret_found);
	if (r != -ETIMEDOUT) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		return r < 0 ? r : said->result;
	}
	kill(child, SIGKILL);
	remember(answering, place, child);
	return r;
}

enum mount_kind answering_kind(struct answering *answering, int path_fd, int process_dir)
{
	return mounts_kind(answering->mounts, path_fd, process_dir);
}

struct mounts *answering_mounts(const struct answering *answering)
{
	return answering->mounts;
}

int answering_place(struct answering *answering, int root, const char *path, bool follow,
		    bool local)
{
	const struct question question = { .fd = root, .path = path, .follow = follow, .copy = -1 };
	own(own_fd) int found = -1;
	struct said said;
	int r;

	if (root < 0)
		return -ENOENT;
	if (local)
		return place_in_root(root, path, follow);
	r = ask(answering, &question, &said, &found);
	return r < 0 ? r : take_fd(&found);
}

int answering_open(struct answering *answering, int path_fd, enum mount_kind kind,
		   enum answering_part part, struct stat *ret_status)
{
	struct question question = { .fd = path_fd, .part = part, .copy = -1 };
	own(own_fd) int copy = -1;
	struct said said;
	int unused = -1, r;

	if (kind == MOUNT_LOCAL)
		return open_regular(fcntl(path_fd, F_DUPFD_CLOEXEC, 3), ret_status);
	copy = memfd_create("copy", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	question.copy = copy;
	r = ask(answering, &question, &said, &unused);
	if (r < 0)
		return r;
	*ret_status = said.status;
	return take_fd(&copy);
}
