// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dead_mount DIRECTORY FILE [READS]: mounts and serves a FUSE file system with one file, `program`,
 * that has the content of FILE. The kernel caches its pages only. When this process is stopped
 * (SIGSTOP), the mount is like a network mount without its server: every request blocks. When it is
 * killed, all requests fail. After READS reads it stops itself instead of answering the next one.
 * Prints `ready PID`.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOT	FUSE_ROOT_ID
#define PROGRAM 2
#define MOST	(128u << 10)

static int device, file;
static uint64_t size;
static long reads_left = -1; /* -1: any number */

static void answer(uint64_t unique, int error, const void *data, size_t n)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + n),
					.error = -error,
					.unique = unique };
	const struct iovec parts[] = { { &head, sizeof(head) }, { (void *)data, n } };

	/* ENOENT: the request was interrupted, and no process waits for the answer. */
	if (writev(device, parts, n ? 2 : 1) < 0 && errno != ENOENT)
		perror("answer");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == ROOT ? 0 : size,
		.blocks = (size + 511) / 512,
		.mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	const struct fuse_entry_out entry = { .nodeid = PROGRAM, .attr = attributes(PROGRAM) };

	if (in->nodeid != ROOT || strcmp(name, "program") != 0)
		answer(in->unique, ENOENT, NULL, 0);
	else
		answer(in->unique, 0, &entry, sizeof(entry));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *wanted)
{
	static char bytes[MOST];
	ssize_t n;

	if (reads_left >= 0 && reads_left-- == 0)
		raise(SIGSTOP);
	n = pread(file, bytes, wanted->size < MOST ? wanted->size : MOST, (off_t)wanted->offset);

	answer(in->unique, n < 0 ? errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void serve(const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = MOST, .max_write = 4096
	};
	const struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	const struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };
	const struct fuse_statfs_out system = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		return answer(in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return look_up(in, (const char *)(in + 1));
	case FUSE_GETATTR:
		return answer(in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return answer(in->unique, 0, &opened, sizeof(opened));
	case FUSE_READ:
		return read_file(in, (const struct fuse_read_in *)(in + 1));
	case FUSE_STATFS:
		return answer(in->unique, 0, &system, sizeof(system));
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		return answer(in->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(in->unique, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[MOST + 4096] __attribute__((aligned(8)));
	char options[100];
	struct stat status;

	if (argc != 3 && argc != 4)
		return 2;
	if (argc == 4)
		reads_left = atol(argv[3]);
	file = open(argv[2], O_RDONLY | O_CLOEXEC);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (file < 0 || device < 0 || fstat(file, &status) < 0) {
		perror("dead_mount");
		return 1;
	}
	size = (uint64_t)status.st_size;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (mount("dead_mount", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		perror("mount");
		return 1;
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		ssize_t n = read(device, request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			return 0; /* unmounted */
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve((const struct fuse_in_header *)request);
	}
}
