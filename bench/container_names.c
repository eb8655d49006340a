// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it takes to name containers: container_names < IDS_OF_CGROUPS
 *
 * Names the cgroups as a measurement does, which meets all before its report has them, and prints
 * how many got the name of a container; and what that took of this process and of its child, which
 * reads the files: CPU time in ms, and KB of the peak RSS. The child is there before, as a
 * measurement has it for the files that processes have mapped.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "process/images.h"

#define MAX_CGROUPS 4096u

DEFINE_OWN(struct images, images_free)

struct costs {
	double ms;
	long kb;
};

static double ms_of(int pid)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static long peak_kb(int pid)
{
	char path[64], line[256];
	FILE *status;
	long kb = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status) && sscanf(line, "VmHWM: %ld", &kb) != 1)
		;
	if (status)
		fclose(status);
	return kb;
}

/* Of this process and its children. */
static struct costs costs(void)
{
	struct costs sum = { ms_of(getpid()), peak_kb(getpid()) };
	FILE *children = fopen("/proc/thread-self/children", "r");
	int pid;

	while (children && fscanf(children, "%d", &pid) == 1) {
		sum.ms += ms_of(pid);
		sum.kb += peak_kb(pid);
	}
	if (children)
		fclose(children);
	return sum;
}

/* Has the child read what it reads of any file. */
static int begin(struct images *images)
{
	own(own_fd) int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint32_t file;

	return images_learn_file(images, self, &file);
}

int main(void)
{
	static uint64_t ids[MAX_CGROUPS];
	own(own_images_free) struct images *images = NULL;
	unsigned int named = 0, n = 0;
	struct costs before, after;

	while (n < MAX_CGROUPS && scanf("%" SCNu64, &ids[n]) == 1)
		n++;
	if (images_new(NULL, &images) < 0 || begin(images) < 0)
		return 1;
	before = costs();
	for (unsigned int i = 0; i < n; i++)
		if (images_learn_cgroup(images, ids[i]) < 0)
			return 1;
	for (unsigned int i = 0; i < n; i++)
		named += names_cgroup_label(images_cgroup(images, ids[i]), LABEL_CONTAINER_NAME) !=
			 NULL;
	after = costs();
	printf("%u %.3f %ld\n", named, after.ms - before.ms, after.kb - before.kb);
	return 0;
}
