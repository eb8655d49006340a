// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/own.h"
#include "kernel/btf_subset.h"

/* Far more than any kernel's BTF has. */
#define MAX_SIZE (256l << 20)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* The kernel's BTF in memory, to be unmapped. */
struct whole {
	void *bytes;
	size_t size;
};

static void unmap(struct whole *whole)
{
	if (whole->bytes)
		munmap(whole->bytes, whole->size);
}

static int read_all(int fd, char *bytes, size_t size)
{
	while (size) {
		ssize_t n = read(fd, bytes, size);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* The kernel's file can be mapped since Linux 6.16; before, it is copied. */
static int map(struct whole *whole)
{
	own(own_fd) int fd = open(KERNEL_BTF_PATH, O_RDONLY | O_CLOEXEC);
	struct stat is;
	void *bytes;

	if (fd < 0 || fstat(fd, &is) < 0)
		return -errno;
	if (is.st_size <= 0 || is.st_size > MAX_SIZE)
		return -EFBIG;
	whole->size = (size_t)is.st_size;
	bytes = mmap(NULL, whole->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes != MAP_FAILED) {
		whole->bytes = bytes;
		return 0;
	}
	bytes = mmap(NULL, whole->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	whole->bytes = bytes;
	return read_all(fd, bytes, whole->size);
}

/* sysctl vm.memfd_noexec may demand a flag that kernels before 6.3 refuse. */
static int new_file(void)
{
	int fd = memfd_create("kernel BTF", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create("kernel BTF", MFD_CLOEXEC) : fd;
}

int kernel_btf_new(struct kernel_btf *ret_btf, struct error *err)
{
	struct kernel_btf btf = { .fd = -1 };

	if (access(KERNEL_BTF_PATH, R_OK) == 0) {
		btf.fd = new_file();
		if (btf.fd < 0)
			return error_set(err, -errno, "cannot make a file in memory: %s",
					 strerror(errno));
		snprintf(btf.path, sizeof(btf.path), "/proc/self/fd/%d", btf.fd);
	}
	*ret_btf = btf;
	return 0;
}

void kernel_btf_close(struct kernel_btf *btf)
{
	if (btf->fd >= 0)
		close(btf->fd);
	btf->fd = -1;
}

/* Names of types that an access can begin at; names that the kernel does not have cost nothing. */
static uint32_t collect_names(const struct btf *wanted, const char **names)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(wanted); id++) {
		const struct btf_type *type = btf__type_by_id(wanted, id);

		if (type->name_off &&
		    (btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type)))
			names[n++] = btf__name_by_offset(wanted, type->name_off);
	}
	return n;
}

static bool has_name(const struct whole *all, const char *name, size_t size)
{
	return memmem(all->bytes, all->size, name, size);
}

/*
 * Some kernel after 6.18 (7.2 is one) guards tracepoints by SRCU in place of disabled preemption.
 * Its per-CPU variable tells. Kernels up to 6.12 have that variable as well, for tracepoints in
 * idle tasks, but no struct tracepoint_ext.
 */
static bool have_srcu_tracepoints(const struct whole *all)
{
	static const char data[] = "\0tracepoint_srcu_srcu_data", extension[] = "\0tracepoint_ext";

	return has_name(all, data, sizeof(data)) && has_name(all, extension, sizeof(extension));
}

/*
 * Linux counts refused events since 6.7 (dd8657894c11). That leaves no name, but functions that
 * came with the same version do.
 */
static bool have_counts_of_refused(const struct whole *all)
{
	static const char came_with[] = "\0bpf_iter_css_task_new";

	return has_name(all, came_with, sizeof(came_with));
}

static int fill(const struct kernel_btf *btf, const struct btf *wanted,
		struct kernel_tracing *ret_tracing)
{
	own(own_free) const char **names = calloc(btf__type_cnt(wanted), sizeof(*names));
	own(unmap) struct whole all = { 0 };
	own(own_free) void *subset = NULL;
	ssize_t written;
	size_t size;
	int r;

	if (!names)
		return -ENOMEM;
	r = map(&all);
	if (r < 0)
		return r;
	r = btf_subset(all.bytes, all.size, names, collect_names(wanted, names), &subset, &size);
	if (r < 0)
		return r;
	if (ret_tracing)
		*ret_tracing = (struct kernel_tracing){
			.raw_preemptible = have_srcu_tracepoints(&all),
			.counts_refused = have_counts_of_refused(&all),
		};
	written = write(btf->fd, subset, size);
	return written == (ssize_t)size ? 0 : written < 0 ? -errno : -EFBIG;
}

int kernel_btf_fill(const struct kernel_btf *btf, const struct btf *wanted,
		    struct kernel_tracing *ret_tracing, struct error *err)
{
	int r = fill(btf, wanted, ret_tracing);

	if (r < 0)
		return error_set(err, r,
				 "cannot read the kernel's BTF in " KERNEL_BTF_PATH ": %s%s",
				 strerror(-r), error_remedy(r));
	return 0;
}
