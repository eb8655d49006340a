// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/process_tables.h"

#include <errno.h>
#include <string.h>

#define BUCKETS 4096u

/*
 * A process that generates code all the time is written no more often than this, and its newest
 * code is not known as long. Mappings of files are written at once.
 */
#define JIT_UPDATE_NS 50000000ull

struct process {
	struct process *next; /* in its bucket */
	struct process *next_dirty;
	pid_t tgid;
	struct layout *layout; /* NULL: none was written yet */
	uint64_t not_before;   /* next write if only generated code changed */
	uint32_t cut;	       /* mappings beyond MAX_LAYOUT_RANGES */
	bool dirty;	       /* in the list of processes to write */
	bool inherited;	       /* `layout` is its parent's, and not written for it yet */
	bool written;	       /* in the maps */
	bool ended;
	bool interprets; /* told so: see struct unwind_options */
};

struct process_tables {
	const struct images *images;
	struct layouts *layouts;
	struct unwind_maps *maps;
	struct process *buckets[BUCKETS];
	struct process *dirty;
	uint32_t n;
	uint32_t n_written;
	bool no_memory;
	uint64_t updates, cut;
};

int process_tables_new(const struct images *images, struct layouts *layouts,
		       struct unwind_maps *maps, struct process_tables **ret_processes)
{
	struct process_tables *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->images = images;
	processes->layouts = layouts;
	processes->maps = maps;
	*ret_processes = processes;
	return 0;
}

void process_tables_free(struct process_tables *processes)
{
	if (!processes)
		return;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		while (processes->buckets[i]) {
			struct process *process = processes->buckets[i];

			processes->buckets[i] = process->next;
			free(process);
		}
	}
	free(processes);
}

static struct process *find(const struct process_tables *processes, pid_t tgid)
{
	struct process *process = processes->buckets[(uint32_t)tgid % BUCKETS];

	while (process && process->tgid != tgid)
		process = process->next;
	return process;
}

/* The process, added if it is new, and to the list of processes to write. NULL: out of memory. */
static struct process *touch(struct process_tables *processes, pid_t tgid)
{
	struct process **bucket = &processes->buckets[(uint32_t)tgid % BUCKETS];
	struct process *process = find(processes, tgid);

	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process) {
			processes->no_memory = true;
			return NULL;
		}
		process->tgid = tgid;
		process->next = *bucket;
		*bucket = process;
		processes->n++;
	}
	if (!process->dirty) {
		process->dirty = true;
		process->next_dirty = processes->dirty;
		processes->dirty = process;
	}
	process->ended = false;
	return process;
}

void process_tables_changed(struct process_tables *processes, pid_t tgid)
{
	struct process *process = touch(processes, tgid);

	if (process)
		process->inherited = false;
}

void process_tables_forked(struct process_tables *processes, pid_t child, pid_t parent)
{
	const struct process *from = find(processes, parent);
	struct layout *layout = NULL;
	struct process *process;

	/* If the parent's layout is outdated, the child's mappings have to be looked up. */
	if (from && from->layout && (!from->dirty || from->inherited))
		layout = from->layout;
	process = touch(processes, child);
	if (!process)
		return;
	process->inherited = layout != NULL;
	if (layout) {
		layout->references++;
		layouts_unref(processes->layouts, process->layout);
		process->layout = layout;
	}
}

void process_tables_ended(struct process_tables *processes, pid_t tgid)
{
	struct process *process = find(processes, tgid) ? touch(processes, tgid) : NULL;

	if (process)
		process->ended = true;
}

void process_tables_missed(struct process_tables *processes, pid_t tgid)
{
	if (find(processes, tgid))
		touch(processes, tgid);
}

/* Tells which interpreters the process has mapped. */
static int tell_interpreters(struct process_tables *processes, struct process *process,
			     const struct wire_process *is)
{
	const struct layouts *layouts = processes->layouts;

	if (!layouts->interprets || (!is->n_interpreters && !process->interprets))
		return 0;
	process->interprets = is->n_interpreters != 0;
	return layouts->interprets(layouts->interpreter_context, process->tgid, is->interpreters,
				   is->n_interpreters);
}

/* Removes a process. */
static void forget(struct process_tables *processes, struct process *process)
{
	struct process **at = &processes->buckets[(uint32_t)process->tgid % BUCKETS];

	if (process->written)
		processes->maps->remove_process(processes->maps, (uint32_t)process->tgid);
	processes->n_written -= process->written;
	tell_interpreters(processes, process, &(struct wire_process){ 0 });
	layouts_unref(processes->layouts, process->layout);
	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	processes->n--;
	free(process);
}

/* Writes the process's layout to the maps. */
static int publish(struct process_tables *processes, struct process *process)
{
	int r = processes->maps->set_process(processes->maps, (uint32_t)process->tgid,
					     &process->layout->wire);

	processes->updates++;
	if (r == -E2BIG || r == -ENOSPC) {
		/* Too many processes: this one stays out until it changes again. */
		if (process->written)
			processes->maps->remove_process(processes->maps, (uint32_t)process->tgid);
		processes->n_written -= process->written;
		process->written = false;
		return 0;
	}
	if (r < 0)
		return r;
	processes->n_written += !process->written;
	process->written = true;
	return tell_interpreters(processes, process, &process->layout->wire);
}

/* Whether the ranges that have a table are the same: then mostly generated code has changed. */
static bool differ_in_jit(const struct layout *layout, const struct layout_range *ranges,
			  uint32_t n)
{
	uint32_t i = 0, j = 0;

	if (!layout)
		return false;
	for (;;) {
		const struct layout_range *a, *b;

		while (i < layout->n && layout->ranges[i].table == TABLE_NONE)
			i++;
		while (j < n && ranges[j].table == TABLE_NONE)
			j++;
		if (i == layout->n || j == n)
			return i == layout->n && j == n;
		a = &layout->ranges[i++];
		b = &ranges[j++];
		if (memcmp(a, b, sizeof(*a)) != 0)
			return false;
	}
}

/* Writes what has changed. Returns 1 if that has to wait. */
static int update(struct process_tables *processes, struct process *process, uint64_t now)
{
	struct layout *before = process->layout;
	const struct mapping *mappings;
	const struct layout_range *ranges;
	uint32_t n, cut;
	int r;

	if (process->inherited) {
		process->inherited = false;
		return publish(processes, process);
	}
	mappings = images_current(processes->images, process->tgid, &n);
	if (!mappings) {
		forget(processes, process);
		return 0;
	}
	r = layouts_ranges(processes->layouts, mappings, n, &ranges, &n, &cut);
	if (r < 0)
		return r;
	processes->cut += cut > process->cut ? cut - process->cut : 0;
	process->cut = cut;
	/* Written even so: the BPF program removes a process that calls execve(). */
	if (before && layout_has_ranges(before, ranges, n))
		return publish(processes, process);
	if (process->written && now < process->not_before && differ_in_jit(before, ranges, n))
		return 1;
	r = layouts_write(processes->layouts, ranges, n, &process->layout);
	if (r < 0) {
		process->layout = before;
		return r;
	}
	process->not_before = now + JIT_UPDATE_NS;
	r = publish(processes, process);
	layouts_unref(processes->layouts, before);
	return r;
}

int process_tables_flush(struct process_tables *processes, uint64_t now, struct error *err)
{
	struct process *list = processes->dirty;

	processes->dirty = NULL;
	while (list) {
		struct process *process = list;
		int r = 0;

		list = process->next_dirty;
		process->dirty = false;
		if (process->ended) {
			forget(processes, process);
			continue;
		}
		r = update(processes, process, now);
		if (r == 0)
			continue;
		/* Keep it for the next flush. */
		process->dirty = true;
		process->next_dirty = processes->dirty;
		processes->dirty = process;
		if (r == 1 || r == -ENOSPC)
			continue;
		for (; list; list = process) {
			process = list->next_dirty;
			list->next_dirty = processes->dirty;
			processes->dirty = list;
		}
		return error_set(err, r, "cannot tell the kernel what a process has mapped: %s",
				 strerror(-r));
	}
	if (processes->no_memory)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

struct layout *process_tables_find(const struct process_tables *processes, pid_t tgid)
{
	const struct process *process = find(processes, tgid);

	return process && process->written ? process->layout : NULL;
}

void process_tables_stats(const struct process_tables *processes, struct unwind_stats *stats)
{
	stats->processes = processes->n_written;
	stats->processes_cut = processes->n - processes->n_written;
	stats->process_updates = processes->updates;
	stats->mappings_cut = processes->cut;
}
