// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/thread_process.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"

static pid_t process_of(pid_t tid)
{
	char path[32], line[128];
	own(own_file) FILE *status = NULL;
	int tgid;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			return tgid;
	return 0;
}

pid_t thread_process(const pid_t *tids, uint32_t n)
{
	pid_t first = n ? process_of(tids[0]) : 0;

	for (uint32_t i = 1; i < n && first; i++)
		if (process_of(tids[i]) != first)
			return 0;
	return first;
}
