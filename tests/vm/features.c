// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tries each kernel feature that the commands use, and prints whether the running kernel has it.
 * Prints `feature NAME: yes` or `feature NAME: no (why)`; docs/kernels.md is made of these lines.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

/* A probe returns a descriptor or 0, or a negative errno. */
struct feature {
	const char *name;
	int (*probe)(void);
};

static const struct bpf_insn return_0[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load(enum bpf_prog_type type, int attach_type, const char *btf_name)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type);

	if (btf_name) {
		int id = libbpf_find_vmlinux_btf_id(btf_name, attach_type);

		if (id < 0)
			return id;
		options.attach_btf_id = id;
	}
	return bpf_prog_load(type, "probe", "GPL", return_0, 2, &options);
}

static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	int fd = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int read_number(const char *path)
{
	int number = -ENOENT;
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &number) != 1)
		number = -EINVAL;
	fclose(file);
	return number;
}

static int there(const char *path)
{
	return access(path, R_OK) ? -errno : 0;
}

static int btf(void)
{
	return there("/sys/kernel/btf/vmlinux");
}

static int clock_event(void)
{
	return open_event(&(struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
						     .config = PERF_COUNT_SW_CPU_CLOCK,
						     .freq = 1,
						     .sample_freq = 99 });
}

static int cycles_event(void)
{
	return open_event(&(struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
						     .config = PERF_COUNT_HW_CPU_CYCLES,
						     .freq = 1,
						     .sample_freq = 99 });
}

static int tracepoint(void)
{
	int id = read_number("/sys/kernel/tracing/events/sched/sched_switch/id");

	if (id == -ENOENT)
		id = read_number("/sys/kernel/debug/tracing/events/sched/sched_switch/id");

	return id < 0 ? id
		      : open_event(&(struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
							      .config = id });
}

static int raw_tracepoint(void)
{
	int prog = load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL);

	return prog < 0 ? prog : bpf_raw_tracepoint_open("sched_switch", prog);
}

static int kprobe(void)
{
	int type = read_number("/sys/bus/event_source/devices/kprobe/type");

	return type < 0 ? type
			: open_event(&(struct perf_event_attr){
				  .type = type, .config1 = (uintptr_t) "vfs_read" });
}

static int uprobe(void)
{
	int type = read_number("/sys/bus/event_source/devices/uprobe/type");

	/* Offset 0 is not code, but the kernel only checks it when a process maps the file. */
	return type < 0 ? type
			: open_event(&(struct perf_event_attr){
				  .type = type, .config1 = (uintptr_t) "/proc/self/exe" });
}

static int usdt_semaphore(void)
{
	return there("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset");
}

static int fentry(void)
{
	int prog = load(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "vfs_read");

	return prog < 0 ? prog : bpf_raw_tracepoint_open(NULL, prog);
}

static int kprobe_multi(void)
{
	const char *functions[] = { "vfs_read" };
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = functions,
		    .kprobe_multi.cnt = 1);
	int prog = load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, NULL);

	return prog < 0 ? prog : bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &options);
}

static int uprobe_multi(void)
{
	/* BPF_TRACE_UPROBE_MULTI, which older headers lack. */
	const uint32_t trace_uprobe_multi = 48;
	uint64_t offsets[] = { 0 };
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t cnt, multi_flags, pid, pad;
	} attr = {
		.attach_type = trace_uprobe_multi,
		.path = (uintptr_t) "/proc/self/exe",
		.offsets = (uintptr_t)offsets,
		.cnt = 1,
		.pid = getpid(),
	};
	int fd, prog = load(BPF_PROG_TYPE_KPROBE, trace_uprobe_multi, NULL);

	if (prog < 0)
		return prog;
	attr.prog_fd = prog;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

static int perf_link(void)
{
	int event = clock_event(), prog = load(BPF_PROG_TYPE_PERF_EVENT, 0, NULL);

	if (event < 0 || prog < 0)
		return event < 0 ? event : prog;
	return bpf_link_create(prog, event, BPF_PERF_EVENT, NULL);
}

static int task_iterator(void)
{
	int prog = load(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, "task");

	return prog < 0 ? prog : bpf_link_create(prog, 0, BPF_TRACE_ITER, NULL);
}

static int ring_buffer(void)
{
	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, getpagesize(), NULL);
}

static int helper(enum bpf_prog_type type, int id)
{
	int answer = libbpf_probe_bpf_helper(type, id, NULL);

	return answer < 0 ? answer : answer ? 0 : -ENOSYS;
}

static int get_ns_pid(void)
{
	return helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_get_ns_current_pid_tgid);
}

static int attach_cookie(void)
{
	return helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_get_attach_cookie);
}

static int task_pt_regs(void)
{
	return helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs);
}

static int loop(void)
{
	return helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop);
}

static int find_vma(void)
{
	return helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma);
}

static int mmap_build_id(void)
{
	return open_event(&(struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
						     .config = PERF_COUNT_SW_DUMMY,
						     .mmap = 1,
						     .mmap2 = 1,
						     .build_id = 1 });
}

static int procmap_query(void)
{
	/* struct procmap_query, which older headers lack. */
	struct {
		uint64_t size, query_flags, query_addr, answer[6];
		uint32_t dev_major, dev_minor, name_size, build_id_size;
		uint64_t name_addr, build_id_addr;
	} query = { .size = sizeof(query), .query_addr = (uintptr_t)&procmap_query };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, sizeof(query)), &query) ? -errno
										       : fd;
}

static int cgroup2(void)
{
	return there("/sys/fs/cgroup/cgroup.procs");
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static const struct feature features[] = {
	{ "kernel BTF", btf },
	{ "perf event cpu-clock", clock_event },
	{ "perf event cycles (PMU)", cycles_event },
	{ "tracepoint", tracepoint },
	{ "raw tracepoint", raw_tracepoint },
	{ "kprobe", kprobe },
	{ "kprobe.multi link", kprobe_multi },
	{ "fentry", fentry },
	{ "uprobe", uprobe },
	{ "uprobe.multi link", uprobe_multi },
	{ "USDT semaphores by the kernel", usdt_semaphore },
	{ "link for a perf event", perf_link },
	{ "bpf_get_attach_cookie", attach_cookie },
	{ "bpf_get_ns_current_pid_tgid", get_ns_pid },
	{ "bpf_task_pt_regs", task_pt_regs },
	{ "bpf_loop", loop },
	{ "bpf_find_vma", find_vma },
	{ "BPF ring buffer", ring_buffer },
	{ "BPF iterator over tasks", task_iterator },
	{ "build IDs in mmap records", mmap_build_id },
	{ "PROCMAP_QUERY", procmap_query },
	{ "cgroup v2", cgroup2 },
};

int main(void)
{
	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
		int result = features[i].probe();

		if (result >= 0)
			printf("feature %s: yes\n", features[i].name);
		else
			printf("feature %s: no (%s)\n", features[i].name,
			       result == -524 ? "not supported" : strerror(-result));
	}
	return 0;
}
