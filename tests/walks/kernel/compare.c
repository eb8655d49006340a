// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare SECONDS EVENT COMMAND...: runs the command and walks the kernel stacks of the event twice
 * (compare.bpf.c). EVENT is "clock", "switches", "faults" or a tracepoint CATEGORY/NAME. Prints
 * "EVENT: N events, N walked, N different" and the first difference. Exits with 1 on a difference,
 * with 2 if the kernel has no ORC tables of a known form or no such event.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "compare.h"
#include "kernel/orc_tables.h"
#include "trigger/tracefs.h"

#include "compare.skel.h"

#define HZ 997

#define ORC_FORM_OTHER 2 /* as in bpf/orc.bpf.h */

static int attach(const char *event, struct compare *skeleton)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	bool sampled = !strchr(event, '/');
	int cpus = sampled ? libbpf_num_possible_cpus() : 1;
	int program = bpf_program__fd(sampled ? skeleton->progs.compare_clock
					      : skeleton->progs.compare_tracepoint);

	if (sampled) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		if (strcmp(event, "clock") == 0) {
			attr.freq = 1;
			attr.sample_freq = HZ;
		} else {
			attr.config = strcmp(event, "switches") == 0
					      ? PERF_COUNT_SW_CONTEXT_SWITCHES
					      : PERF_COUNT_SW_PAGE_FAULTS;
			attr.sample_period = 1;
		}
	} else {
		own(own_fd) int tracefs = tracefs_open(NULL);
		own(own_file) FILE *file = NULL;
		char path[200];
		unsigned id;

		snprintf(path, sizeof(path), "events/%.150s/id", event);
		file = tracefs < 0 ? NULL : tracefs_file(tracefs, path);
		if (!file || fscanf(file, "%u", &id) != 1)
			return -ENOENT;
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = id;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

		if (fd < 0 && errno == ENODEV) /* the CPU is offline */
			continue;
		if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0 ||
		    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
	}
	return 0;
}

static void run_for(double seconds, char **command)
{
	pid_t child = fork();

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	usleep((useconds_t)(seconds * 1e6));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void print_difference(const struct compare *skeleton)
{
	struct compare_difference difference;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.difference), &zero, &difference) < 0)
		return;
	for (uint32_t i = 0; i < COMPARE_DEPTH; i++)
		if (i < difference.n_walked || i < difference.n_asked)
			printf("  walked %#llx, asked %#llx\n",
			       i < difference.n_walked ? difference.walked[i] : 0,
			       i < difference.n_asked ? difference.asked[i] : 0);
}

int main(int argc, char **argv)
{
	struct compare *skeleton = argc > 3 ? compare__open() : NULL;
	struct compare_totals totals;
	volatile struct wire_orc *orc;
	int r;

	if (!skeleton)
		return 1;
	bpf_map__set_max_entries(skeleton->maps.scratch, (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(skeleton->maps.asked, (uint32_t)libbpf_num_possible_cpus());
	if (compare__load(skeleton) < 0)
		return 1;
	orc = (volatile struct wire_orc *)&skeleton->bss->orc;
	orc_tables_write_modules(bpf_map__fd(skeleton->maps.kernel_modules), orc);
	printf("%u modules; ", orc->n_modules);
	orc_tables_read(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), orc);
	if (!orc->n) {
		printf("no tables\n");
		return 2;
	}
	r = attach(argv[2], skeleton);
	if (r < 0) {
		printf("%s: %s\n", argv[2], strerror(-r));
		return r == -ENOENT ? 2 : 1;
	}
	run_for(atof(argv[1]), argv + 3);
	if (skeleton->bss->orc_form == ORC_FORM_OTHER) {
		printf("no tables of a known form\n");
		return 2;
	}
	memcpy(&totals, &skeleton->bss->totals, sizeof(totals));
	printf("%s: %llu events, %llu walked, %llu different\n", argv[2], totals.events,
	       totals.walked, totals.different);
	if (totals.different)
		print_difference(skeleton);
	return totals.different != 0;
}
