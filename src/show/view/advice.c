// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/advice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "view/frame_text.h"

/* Advice is given from this part of all samples on. */
#define LEAST_PERCENT 10
#define LEAST_SAMPLES 10

/* Programs that generate code and of which a remedy is known. */
enum runtime {
	RUNTIME_UNKNOWN,
	RUNTIME_JAVA,
	RUNTIME_NODE,
	N_RUNTIMES,
};

static const struct {
	const char *file;	     /* that its processes map */
	const char *callers, *names; /* what to do; NULL: nothing. PID is that of the process */
} runtimes[N_RUNTIMES] = {
	[RUNTIME_JAVA] = { "libjvm.so", "start Java with -XX:+PreserveFramePointer",
			   "run `jcmd PID Compiler.perfmap` before the measurement ends" },
	[RUNTIME_NODE] = { "node", NULL, "start Node.js with --perf-basic-prof" },
};

/* What a stack lacks, and the runtime that it shows. */
struct stack_facts {
	unsigned char runtime; /* enum runtime */
	bool lacks_callers, lacks_name;
};

/* The entries of one process. */
struct process {
	uint32_t tgid;
	const char *comm;
	enum runtime runtime;
	uint64_t lack_callers, lack_names;
};

struct counted {
	const struct tally_entry *entry;
	struct stack_facts facts;
};

/* All processes of a runtime. */
struct found {
	uint64_t count, most;
	const char *comm; /* of the process with the most; NULL: none */
	uint32_t tgid;
};

static enum runtime runtime_of(const struct names *names, struct names_frame frame)
{
	const char *path, *slash;

	if (frame.object == NAMES_NONE)
		return RUNTIME_UNKNOWN;
	path = names_objects(names)[frame.object].path;
	slash = strrchr(path, '/');
	for (int i = RUNTIME_UNKNOWN + 1; i < N_RUNTIMES; i++)
		if (strcmp(slash ? slash + 1 : path, runtimes[i].file) == 0)
			return (enum runtime)i;
	return RUNTIME_UNKNOWN;
}

static bool is_nameless_code(struct names_frame frame)
{
	return (frame.flags & NAMES_FRAME_JIT) && strcmp(frame_text_name(&frame), "[jit]") == 0;
}

static struct stack_facts facts_of(const struct tally *tally, const struct names *names,
				   const struct tally_stack *stack)
{
	const uint32_t *frames = tally_frames(tally, stack);
	struct stack_facts facts = { .lacks_callers =
					     TALLY_STACK_END(stack->flags) == TALLY_END_JIT };

	for (uint32_t i = 0; i < stack->n_frames && frames[i] < names_n_addresses(names); i++) {
		struct names_frame frame =
			names_frame(names, names_address(names, frames[i]).first);

		if (i == 0)
			facts.lacks_name = is_nameless_code(frame);
		if (!facts.runtime)
			facts.runtime = (unsigned char)runtime_of(names, frame);
	}
	return facts;
}

static int compare(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	return a->entry->tgid < b->entry->tgid ? -1 : a->entry->tgid > b->entry->tgid;
}

static void add_process(struct found *found, const struct process *process, uint64_t count)
{
	found->count += count;
	if (count <= found->most)
		return;
	found->most = count;
	found->comm = process->comm;
	found->tgid = process->tgid;
}

/* Adds up what the processes of each runtime lack. */
static void find(const struct counted *list, uint32_t n, struct found callers[static N_RUNTIMES],
		 struct found nameless[static N_RUNTIMES])
{
	for (uint32_t i = 0; i < n;) {
		struct process process = { .tgid = list[i].entry->tgid };

		for (; i < n && list[i].entry->tgid == process.tgid; i++) {
			const struct tally_entry *entry = list[i].entry;

			if (list[i].facts.runtime)
				process.runtime = (enum runtime)list[i].facts.runtime;
			if (list[i].facts.lacks_callers || list[i].facts.lacks_name)
				process.comm = entry->comm;
			process.lack_callers += list[i].facts.lacks_callers ? entry->count : 0;
			process.lack_names += list[i].facts.lacks_name ? entry->count : 0;
		}
		add_process(&callers[process.runtime], &process, process.lack_callers);
		add_process(&nameless[process.runtime], &process, process.lack_names);
	}
}

static void put(char line[static ADVICE_SIZE], const struct found *found, uint64_t total,
		const char *what, const char *remedy)
{
	bool enough = found->count >= LEAST_SAMPLES && found->count >= total / 100 * LEAST_PERCENT;
	const char *pid = remedy ? strstr(remedy, "PID") : NULL;
	int used;

	if (!enough || !found->comm || !remedy || *line)
		return;
	used = snprintf(line, ADVICE_SIZE, "%.0f %% of all stacks lack %s in %.*s (%u): ",
			100.0 * (double)found->count / (double)total, what, TALLY_COMM_SIZE,
			found->comm, found->tgid);
	if (pid)
		snprintf(line + used, ADVICE_SIZE - (size_t)used, "%.*s%u%s", (int)(pid - remedy),
			 remedy, found->tgid, pid + strlen("PID"));
	else
		snprintf(line + used, ADVICE_SIZE - (size_t)used, "%s", remedy);
}

static int collect(const struct tally *tally, const struct names *names, struct counted **ret_list,
		   uint32_t *ret_n)
{
	uint32_t n = 0, n_stacks = tally_n_stacks(tally);
	own(own_free) struct counted *list =
		reallocarray(NULL, (size_t)tally_n_entries(tally) + 1, sizeof(*list));
	own(own_free) struct stack_facts *facts =
		reallocarray(NULL, (size_t)n_stacks + 1, sizeof(*facts));

	if (!list || !facts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_stacks; i++)
		facts[i] = facts_of(tally, names, &tally_stacks(tally)[i]);
	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];

		if (entry->user < n_stacks)
			list[n++] = (struct counted){ entry, facts[entry->user] };
	}
	qsort(list, n, sizeof(*list), compare);
	*ret_list = take_ptr(list);
	*ret_n = n;
	return 0;
}

/* Most measurements have no generated code at all. */
static bool has_generated_code(const struct names *names)
{
	for (uint32_t i = 0; i < names_n_frames(names); i++)
		if (names_frame(names, i).flags & NAMES_FRAME_JIT)
			return true;
	return false;
}

int advice_of(const struct tally *tally, const struct names *names, struct advice *ret_advice)
{
	struct found callers[N_RUNTIMES] = { 0 }, nameless[N_RUNTIMES] = { 0 };
	own(own_free) struct counted *list = NULL;
	struct advice advice = { 0 };
	uint64_t total = tally_total(tally);
	uint32_t n = 0;
	int r = has_generated_code(names) ? collect(tally, names, &list, &n) : 0;

	if (r < 0)
		return r;
	if (n > 0)
		find(list, n, callers, nameless);
	for (int i = RUNTIME_UNKNOWN + 1; i < N_RUNTIMES; i++) {
		put(advice.callers, &callers[i], total, "callers", runtimes[i].callers);
		put(advice.names, &nameless[i], total, "names", runtimes[i].names);
	}
	*ret_advice = advice;
	return 0;
}
