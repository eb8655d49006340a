// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/empty.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/message.h"
#include "files/process_view.h"
#include "view/quantity.h"

#define GROUPS_SIZE 1024 /* bytes of what a filter by cgroup says */

/* Inode of the initial pid namespace: PROC_PID_INIT_INO of include/linux/proc_ns.h. */
#define INITIAL_PIDNS 0xEFFFFFFCu

/* What /proc/ID/stat says. */
struct task {
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z'; 0: there is none */
	uint32_t children;
};

static uint32_t count_words(FILE *file)
{
	uint32_t n = 0;
	int id;

	while (fscanf(file, "%d", &id) == 1)
		n++;
	return n;
}

/* A process whose first thread has ended, and others go on, is looked at by one of those. */
static struct task look_at(pid_t id)
{
	struct task task = { 0 };
	char path[64], text[512];
	const char *name_end;
	size_t n;

	id = process_view_thread(id);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)id);
	{
		own(own_file) FILE *file = fopen(path, "re");

		n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	}
	text[n] = '\0';
	name_end = strrchr(text, ')');
	if (name_end && name_end[1] == ' ')
		task.state = name_end[2];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)id, (int)id);
	{
		own(own_file) FILE *file = fopen(path, "re");

		task.children = file ? count_words(file) : 0;
	}
	return task;
}

/* Tells why the first of the processes or threads that were asked for has no samples. */
static void tell_task(const char *program, const char *what, char letter, pid_t id)
{
	struct task task = look_at(id);

	if (id == 0) /* the idle tasks: a message of their own has told that they are left out */
		return;
	if (task.state == 'T' || task.state == 't')
		message_note("%s %d is stopped, by a signal or a debugger, and does not run: "
			     "kill -CONT %d",
			     what, (int)id, (int)id);
	else if (task.state == 'Z' || !task.state)
		message_note("%s %d has ended: %s --name NAME finds its successor", what, (int)id,
			     program);
	else if (task.children)
		message_note("%s %d did not run, but it has children (%" PRIu32 "): --children "
			     "measures them as well, %s --off-cpu -%c %d what it waits for",
			     what, (int)id, task.children, program, letter, (int)id);
	else if (task.state == 'R')
		message_note("%s %d runs, but no sample met it: measure for longer, or sample more "
			     "often with -F",
			     what, (int)id);
	else
		message_note("%s %d did not run, it sleeps: %s --off-cpu -%c %d shows what it "
			     "waits for",
			     what, (int)id, program, letter, (int)id);
}

static void tell_groups(const struct cgroup_filter *groups)
{
	const char *directory = groups->cgroup;
	char path[4200], text[GROUPS_SIZE];
	own(own_file) FILE *file = NULL;

	cgroup_filter_text(groups, text, sizeof(text));
	if (!directory) {
		message_note("no process of the %s ran", text);
		return;
	}
	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	file = fopen(path, "re");
	if (file && count_words(file) == 0)
		message_note("the cgroup %s has no processes of its own now", directory);
	else
		message_note("no process of the cgroup %s ran", directory);
}

/* Whether samples by time were asked for, and the first of them was not due yet. */
static bool is_too_short(const struct profile_meta *meta)
{
	double period = meta->frequency ? 1e9 / (double)meta->frequency : (double)meta->period;

	return strcmp(meta->event, "cpu-clock") == 0 && (double)meta->duration_ns < period;
}

/* Whether samples of an event were asked for, of which there was none on any CPU. */
static bool never_occurred(const struct run_report *report)
{
	return strcmp(report->meta.event, "cpu-clock") != 0 &&
	       tally_losses_of(report->tally)->due == 0;
}

/* Tells why there are no samples: what was asked for did not run. */
static void tell_no_samples(const struct run_report *report)
{
	const struct plan_filter *filter = &report->request->plan->filter;
	const char *program = report->request->program;
	bool grouped = cgroup_filter_is_given(&filter->groups);
	bool chosen = filter->tgids.n || filter->tids.n || grouped;

	if (chosen && filter->cpus.n == 1)
		message_note("nothing that was asked for ran on CPU %d; without -C, all CPUs count",
			     filter->cpus.ids[0]);
	else if (chosen && filter->cpus.n)
		message_note("nothing that was asked for ran on CPUs of -C; without it, all count");
	else if (chosen && filter->node)
		message_note("nothing that was asked for ran on NUMA node %s; without --node, all "
			     "CPUs count",
			     filter->node);
	else if (filter->exe)
		message_note("no process that executes %s ran", filter->exe);
	else if (filter->tgids.n)
		tell_task(program, "process", 'p', filter->tgids.ids[0]);
	else if (filter->tids.n)
		tell_task(program, "thread", 'L', filter->tids.ids[0]);
	else if (grouped)
		tell_groups(&filter->groups);
	else if (filter->cgroupmap || filter->mntnsmap)
		message_note("nothing ran that is in the map %s",
			     filter->cgroupmap ? filter->cgroupmap : filter->mntnsmap);
	else if (report->request->plan->command)
		message_note(
			"the command ended before it was sampled: sample more often (-F 9999)");
	else if (is_too_short(&report->meta))
		message_note("no sample was due in that time: measure for longer, or sample more "
			     "often with -F");
	else if (filter->include_idle || never_occurred(report))
		message_note("the event did not occur: -e cpu-clock samples by time");
	else if (filter->cpus.n == 1)
		message_note("CPU %d was idle: -I counts idle CPUs as well", filter->cpus.ids[0]);
	else if (filter->cpus.n)
		message_note("the CPUs of -C were idle: -I counts idle CPUs as well");
	else
		message_note("the CPUs were idle: -I counts idle CPUs as well, %s --off-cpu shows "
			     "what threads wait for",
			     program);
}

/* The same for calls of a function or another event. */
static void tell_no_events(const struct run_report *report)
{
	const struct plan_filter *filter = &report->request->plan->filter;
	const char *event = report->meta.event ? report->meta.event : "the event";
	char of[64] = "";

	if (report->unmet) {
		message_note("%s occurred, but never with --if '%.200s': %" PRIu64 " events", event,
			     report->request->plan->filter.condition, report->unmet);
		return;
	}
	if (filter->tgids.n == 1)
		snprintf(of, sizeof(of), " in process %d", (int)filter->tgids.ids[0]);
	else if (filter->tids.n == 1)
		snprintf(of, sizeof(of), " in thread %d", (int)filter->tids.ids[0]);
	if (*of && !look_at(filter->tgids.n ? filter->tgids.ids[0] : filter->tids.ids[0]).state)
		message_note("%s did not occur%s, which has ended", event, of);
	else if (*of && report->instead && *report->instead && filter->tgids.n == 1)
		message_note("%s did not occur%s, which has that function in another file as well: "
			     "%s -p %d %s",
			     event, of, report->request->program, (int)filter->tgids.ids[0],
			     report->instead);
	else if (*of)
		message_note("%s did not occur%s; without -p and -L, all processes count", event,
			     of);
	else if (filter->name || cgroup_filter_is_given(&filter->groups) || filter->cpus.n ||
		 filter->node || filter->exe)
		message_note("%s did not occur where the filters want it", event);
	else
		message_note("%s did not occur in any process", event);
}

/* A recording holds what it holds; only what was asked for can be changed. */
static void tell_not_saved(const struct plan_filter *filter)
{
	const struct id_list *ids = filter->tgids.n ? &filter->tgids : &filter->tids;
	char text[GROUPS_SIZE];

	cgroup_filter_text(&filter->groups, text, sizeof(text));
	if (ids->n)
		message_note("no samples of %s %d are in what --from reads; without -%c it shows "
			     "all that are",
			     filter->tgids.n ? "process" : "thread", (int)ids->ids[0],
			     filter->tgids.n ? 'p' : 'L');
	else if (*text)
		message_note("no samples of the %s are in what --from reads; --show-cgroup "
			     "shows which are",
			     text);
}

void empty_tell(const struct run_report *report)
{
	if (report->saved) {
		tell_not_saved(&report->request->plan->filter);
		return;
	}
	if (tally_losses_of(report->tally)->unreturned)
		message_note("%s was called, but none of these calls returned while it was "
			     "measured",
			     report->meta.event);
	else if (report->meta.timed)
		message_note("no thread left a CPU that was asked for, or for as long as "
			     "--min-block and --max-block want");
	else if (strcmp(report->meta.command ? report->meta.command : "", "stackcount") == 0)
		tell_no_events(report);
	else
		tell_no_samples(report);
}

/* ---- what none of the stacks has ---- */

struct seen {
	bool user, inlined, line;
};

static struct seen look_at_frames(const struct names *names)
{
	struct seen seen = { 0 };

	for (uint32_t i = 0; i < names_n_frames(names); i++) {
		struct names_frame frame = names_frame(names, i);

		if (frame.flags & NAMES_FRAME_KERNEL)
			continue;
		seen.user = true;
		seen.inlined |= (frame.flags & NAMES_FRAME_INLINED) != 0;
		seen.line |= frame.line != 0;
	}
	return seen;
}

/* Samples of processes that have no id in our pid namespace. */
static uint64_t count_outside(const struct tally *tally)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];

		if (entry->tgid == 0 && strncmp(entry->comm, "swapper/", strlen("swapper/")) != 0)
			n += entry->count;
	}
	return n;
}

static void tell_namespace(const struct run_report *report)
{
	uint64_t total = tally_total(report->tally), outside = count_outside(report->tally);
	struct stat status;

	if (!outside || stat("/proc/self/ns/pid", &status) < 0 || status.st_ino == INITIAL_PIDNS)
		return;
	message_note("%.0f %% of the %s are of processes outside of this PID namespace, which have "
		     "no names here: run it in the host's (docker --pid=host, hostPID: true)",
		     100 * (double)outside / (double)total, quantity_unit(&report->meta));
}

void lacks_tell(const struct run_report *report)
{
	const struct plan *plan = report->request->plan;
	struct seen seen;

	if (report->saved || tally_total(report->tally) == 0)
		return;
	tell_namespace(report);
	if (!plan->inlines && !plan->lines)
		return;
	seen = look_at_frames(report->names);
	if (!seen.user)
		return;
	if (plan->lines && !seen.line)
		message_note("no source lines: none of the files in these stacks has debug "
			     "information (compile with -g; %s --symbols lists packages that have "
			     "it)",
			     report->request->program);
	else if (plan->inlines && !seen.inlined)
		message_note("no inlined functions: none of the files in these stacks has debug "
			     "information that tells any (compile with -g; %s --symbols lists "
			     "packages that have it)",
			     report->request->program);
}
