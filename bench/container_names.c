// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it takes to name containers: container_names < IDS_OF_CGROUPS
 *
 * Names the cgroups as a measurement does, each once, and prints how many got the name of a
 * container; the CPU time in ms, and the peak RSS in KB, of this process and of its child, which
 * reads the files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/own.h"
#include "process/images.h"

DEFINE_OWN(struct images, images_free)

static double ms_of(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
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
static long peaks_kb(void)
{
	FILE *children = fopen("/proc/thread-self/children", "r");
	long sum = peak_kb(getpid());
	int pid;

	while (children && fscanf(children, "%d", &pid) == 1)
		sum += peak_kb(pid);
	if (children)
		fclose(children);
	return sum;
}

int main(void)
{
	own(own_images_free) struct images *images = NULL;
	double began = ms_of(RUSAGE_SELF);
	unsigned int named = 0;
	uint64_t id;
	long kb;

	if (images_new(NULL, &images) < 0)
		return 1;
	while (scanf("%" SCNu64, &id) == 1) {
		if (images_learn_cgroup(images, id) < 0)
			return 1;
		named +=
			names_cgroup_label(images_cgroup(images, id), LABEL_CONTAINER_NAME) != NULL;
	}
	kb = peaks_kb();
	images_free(take_ptr(images)); /* its children end, so that their time is known */
	printf("%u %.3f %ld\n", named, ms_of(RUSAGE_SELF) - began + ms_of(RUSAGE_CHILDREN), kb);
	return 0;
}
