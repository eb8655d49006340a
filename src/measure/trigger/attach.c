// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/own.h"

#define PERF_CONFIG_RETURN 1 /* format/retprobe: config:0 */
#define MULTI_RETURN	   1 /* BPF_F_KPROBE_MULTI_RETURN, BPF_F_UPROBE_MULTI_RETURN */

#define SYSFS_SOURCES "/sys/bus/event_source/devices/"

/* The program runs on whatever CPU the event happens; perf_event_open() wants one all the same. */
static int first_cpu(void)
{
	own(own_fd) int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	return (int)strtol(text, NULL, 10);
}

static int perf_type(const char *source, uint32_t *ret_type)
{
	char path[64], text[16] = "";
	unsigned long type;

	snprintf(path, sizeof(path), SYSFS_SOURCES "%s/type", source);
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		return -EIO;
	type = strtoul(text, NULL, 10);
	if (type == 0 || type > UINT32_MAX)
		return -EIO;
	*ret_type = (uint32_t)type;
	return 0;
}

/*
 * A perf event with the program on it. A link (Linux 5.15, b89fbfbb854c) would take a second
 * descriptor for each probe and, on some kernels, a second wait to close.
 */
static int attach_perf(int prog, struct perf_event_attr *attr, pid_t pid)
{
	own(own_fd) int fd = -1;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, pid > 0 ? pid : -1, pid > 0 ? -1 : first_cpu(),
			  -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	return take_fd(&fd);
}

int attach_kprobe(int prog, enum attach_point point, const char *symbol, uint64_t address)
{
	struct perf_event_attr attr = { 0 };
	int r = perf_type("kprobe", &attr.type);

	if (r < 0)
		return r;
	/* By address where possible: Linux 6.7 and later refuse a symbol that is not unique. */
	if (address)
		attr.kprobe_addr = address;
	else
		attr.kprobe_func = (uintptr_t)symbol;
	attr.config = point == ATTACH_RETURN ? PERF_CONFIG_RETURN : 0;
	return attach_perf(prog, &attr, 0);
}

int attach_uprobe(int prog, enum attach_point point, const char *path, uint64_t offset,
		  uint64_t ref_ctr_offset, pid_t pid)
{
	struct perf_event_attr attr = { 0 };
	int r = perf_type("uprobe", &attr.type);

	if (r < 0)
		return r;
	if (ref_ctr_offset > UINT32_MAX)
		return -EINVAL;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = offset;
	attr.config = ref_ctr_offset << 32; /* format/ref_ctr_offset: config:32-63 */
	attr.config |= point == ATTACH_RETURN ? PERF_CONFIG_RETURN : 0;
	return attach_perf(prog, &attr, pid);
}

int attach_tracepoint(int prog, uint64_t id)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .config = id };

	return attach_perf(prog, &attr, 0);
}

/*
 * Only a map refers to the perf event. Some time after the map's close a kernel thread releases the
 * event, and waits in our place.
 */
int attach_tracepoint_left(int prog, uint64_t id)
{
	own(own_fd) int event = attach_tracepoint(prog, id);
	own(own_fd) int map = -1;
	uint32_t first = 0;
	int r;

	if (event < 0)
		return event;
	map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "tracepoint", sizeof(first),
			     sizeof(event), 1, NULL);
	if (map < 0)
		return map;
	r = bpf_map_update_elem(map, &first, &event, BPF_ANY);
	return r < 0 ? r : take_fd(&map);
}

int attach_raw_tracepoint(int prog, const char *name)
{
	return bpf_raw_tracepoint_open(name, prog);
}

int attach_kprobe_multi(int prog, enum attach_point point, const uint64_t *addresses,
			const char *const *symbols, uint32_t n)
{
	LIBBPF_OPTS(bpf_link_create_opts, options);

	if (addresses)
		options.kprobe_multi.addrs = (const unsigned long *)addresses;
	else
		options.kprobe_multi.syms = (const char **)symbols;
	options.kprobe_multi.cnt = n;
	options.kprobe_multi.flags = point == ATTACH_RETURN ? MULTI_RETURN : 0;
	return bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &options);
}

int attach_fentry(int prog)
{
	return bpf_raw_tracepoint_open(NULL, prog);
}

/* The part of union bpf_attr by which BPF_LINK_CREATE makes a uprobe.multi link. */
struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t padding;
};

_Static_assert(sizeof(struct uprobe_multi_attr) == 64, "as in linux/bpf.h");

int attach_uprobe_multi(int prog, enum attach_point point, const char *path,
			const uint64_t *offsets, const uint64_t *ref_ctr_offsets, uint32_t n,
			pid_t pid)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = ATTACH_TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)ref_ctr_offsets,
		.cnt = n,
		.multi_flags = point == ATTACH_RETURN ? MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

bool have_kprobe(void)
{
	return access(SYSFS_SOURCES "kprobe/type", F_OK) == 0;
}

bool have_uprobe(void)
{
	return access(SYSFS_SOURCES "uprobe/type", F_OK) == 0;
}

/* Loads `return 0` for this way of attaching. */
static int load_nothing(enum bpf_attach_type attach_type)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "nothing", "GPL", program,
			     sizeof(program) / sizeof(program[0]), &options);
}

/*
 * Tried for real: a made-up request fails with EINVAL both with kprobe.multi (Linux 5.18,
 * 0dcac2725406) and without.
 */
bool have_kprobe_multi(const uint64_t *addresses, const char *const *symbols, uint32_t n)
{
	own(own_fd) int prog = load_nothing(BPF_TRACE_KPROBE_MULTI);

	for (uint32_t i = 0; prog >= 0 && i < n && i < 8; i++) {
		own(own_fd) int link =
			attach_kprobe_multi(prog, ATTACH_ENTRY, addresses ? addresses + i : NULL,
					    symbols ? symbols + i : NULL, 1);
		if (link >= 0)
			return true;
	}
	return false;
}

/* The error for a directory in place of a file. */
static int uprobe_multi_refusal(pid_t pid)
{
	own(own_fd) int prog = load_nothing(ATTACH_TRACE_UPROBE_MULTI);
	uint64_t offset = 0;

	return prog < 0 ? prog
			: attach_uprobe_multi(prog, ATTACH_ENTRY, "/", &offset, NULL, 1, pid);
}

/* Linux 6.6 (89ae89f53d20) is the first to look at the path: EBADF if it is no regular file. */
bool have_uprobe_multi(void)
{
	return uprobe_multi_refusal(0) == -EBADF;
}

/* Linux 6.10 (46ba0e49b642) filters by process, and refuses a negative pid before it looks. */
bool have_uprobe_multi_pid(void)
{
	return have_uprobe_multi() && uprobe_multi_refusal(-1) == -EINVAL;
}
