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

/* Far more than any kernel's. */
#define MAX_SIZE (256l << 20)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* The description, in memory that is given back with munmap(). */
struct description {
	void *bytes;
	size_t size;
};

static void unmap(struct description *description)
{
	if (description->bytes)
		munmap(description->bytes, description->size);
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

/* Where the kernel does not map it yet (before Linux 6.16), a copy. */
static int map(struct description *description)
{
	own(own_fd) int fd = open(KERNEL_BTF_PATH, O_RDONLY | O_CLOEXEC);
	struct stat is;
	void *bytes;

	if (fd < 0 || fstat(fd, &is) < 0)
		return -errno;
	if (is.st_size <= 0 || is.st_size > MAX_SIZE)
		return -EFBIG;
	description->size = (size_t)is.st_size;
	bytes = mmap(NULL, description->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes != MAP_FAILED) {
		description->bytes = bytes;
		return 0;
	}
	bytes = mmap(NULL, description->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	description->bytes = bytes;
	return read_all(fd, bytes, description->size);
}

/* sysctl vm.memfd_noexec may insist on a flag that kernels before 6.3 do not know. */
static int new_file(void)
{
	int fd = memfd_create("kernel types", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create("kernel types", MFD_CLOEXEC) : fd;
}

int kernel_btf_new(struct kernel_btf *ret_types, struct error *err)
{
	struct kernel_btf types = { .fd = -1 };

	if (access(KERNEL_BTF_PATH, R_OK) == 0) {
		types.fd = new_file();
		if (types.fd < 0)
			return error_set(err, -errno, "cannot make a file in memory: %s",
					 strerror(errno));
		snprintf(types.path, sizeof(types.path), "/proc/self/fd/%d", types.fd);
	}
	*ret_types = types;
	return 0;
}

void kernel_btf_close(struct kernel_btf *types)
{
	if (types->fd >= 0)
		close(types->fd);
	types->fd = -1;
}

/* Names of what can be the root of an access; those that only we have cost nothing. */
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

static bool has_name(const struct description *all, const char *name, size_t size)
{
	return memmem(all->bytes, all->size, name, size);
}

/*
 * On kernels after 6.18 (7.2 does it) SRCU guards tracepoints in place of disabled preemption: its
 * data for each CPU is a variable. There was one up to 6.12, too, for those in idle tasks; but no
 * struct tracepoint_ext then.
 */
static bool have_srcu_tracepoints(const struct description *all)
{
	static const char data[] = "\0tracepoint_srcu_srcu_data", extension[] = "\0tracepoint_ext";

	return has_name(all, data, sizeof(data)) && has_name(all, extension, sizeof(extension));
}

int kernel_btf_fill(const struct kernel_btf *types, const struct btf *wanted, bool *ret_preemptible,
		    struct error *err)
{
	own(own_free) const char **names = calloc(btf__type_cnt(wanted), sizeof(*names));
	own(unmap) struct description all = { 0 };
	own(own_free) void *part = NULL;
	size_t size;
	int r = names ? map(&all) : -ENOMEM;

	if (r == 0)
		r = btf_subset(all.bytes, all.size, names, collect_names(wanted, names), &part,
			       &size);
	if (r == 0 && ret_preemptible)
		*ret_preemptible = have_srcu_tracepoints(&all);
	if (r == 0 && write(types->fd, part, size) != (ssize_t)size)
		r = -errno;
	return r < 0 ? error_set(err, r,
				 "cannot read the kernel's types in " KERNEL_BTF_PATH ": %s",
				 strerror(-r))
		     : 0;
}
