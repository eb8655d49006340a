// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/process_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "process/thread_comm.h"

struct process {
	uint32_t tgid;
	char comm[COMM_SIZE]; /* "": it has ended */
};

struct processes {
	struct process *list;
	uint32_t n, capacity;
	struct index index; /* by tgid */
};

static void processes_clear(struct processes *processes)
{
	free(processes->list);
	index_free(&processes->index);
}

/* Reads the comm of a process that was not asked for before. NULL: no memory. */
static const struct process *find_process(struct processes *processes, uint32_t tgid)
{
	uint64_t hash = hash_u64(tgid);
	struct index_cursor cursor;
	struct process *new;

	for (uint32_t at = index_first(&processes->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&processes->index, &cursor))
		if (processes->list[at].tgid == tgid)
			return &processes->list[at];
	if (grow(&processes->list, &processes->capacity, (size_t)processes->n + 1) < 0 ||
	    index_add(&processes->index, hash, processes->n) < 0)
		return NULL;
	new = &processes->list[processes->n++];
	new->tgid = tgid;
	comm_read(tgid, new->comm);
	return new;
}

int process_names_add(const struct tally *tally, struct names *names)
{
	own(processes_clear) struct processes processes = { 0 };
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];
		const struct process *process;

		/* Threads of the kernel are processes each; /proc tells more than their comm. */
		if (!entry->tgid || entry->user == TALLY_STACK_NONE)
			continue;
		process = find_process(&processes, entry->tgid);
		if (!process)
			return -ENOMEM;
		/* In an earlier interval, another process may have had this id. */
		if (*process->comm &&
		    (strncmp(process->comm, entry->comm, TALLY_COMM_SIZE) != 0 ||
		     names_process_by_tgid(names_processes(names), names_n_processes(names),
					   entry->tgid)))
			r = names_add_process(names, &(struct names_process){ process->tgid,
									      process->comm });
	}
	return r;
}

static uint32_t count_threads(const char *process, const char *wildcard)
{
	char path[64], comm[COMM_SIZE];
	own(own_directory) DIR *tasks = NULL;
	const struct dirent *entry;
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/task", process);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		comm[0] = '\0';
		if (tid)
			comm_read(tid, comm);
		n += *comm && fnmatch(wildcard, comm, 0) == 0;
	}
	return n;
}

uint32_t process_names_count(const char *wildcard)
{
	own(own_directory) DIR *processes = opendir("/proc");
	const struct dirent *entry;
	uint32_t n = 0;

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			n += count_threads(entry->d_name, wildcard);
	return n;
}
