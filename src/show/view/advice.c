// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/advice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "view/frame_text.h"

/* Advice is given from this part of all samples on. */
#define LEAST_PERCENT 10
#define LEAST_SAMPLES 10

/*
 * What generates code, and what to do; NULL: there is nothing. PID is that of the process. Each
 * remedy is one of the documentation of that program.
 */
enum runtime {
	RUNTIME_UNKNOWN,
	RUNTIME_JAVA,
	RUNTIME_NODE,
	RUNTIME_DENO,
	RUNTIME_DOTNET,
	RUNTIME_LUAJIT,
	RUNTIME_PYPY,
	RUNTIME_ERLANG,
	RUNTIME_JULIA,
	RUNTIME_PHP,
	N_RUNTIMES,
};

static const struct {
	const char *callers, *names;
} remedies[N_RUNTIMES] = {
	/* No option of Java is needed: what lacks callers is not known, or was just starting. */
	[RUNTIME_JAVA] = { "-v says what is not known of this Java virtual machine",
			   "run `jcmd PID Compiler.perfmap` before the measurement ends" },
	[RUNTIME_NODE] = { NULL, "start Node.js with --perf-basic-prof" },
	[RUNTIME_DENO] = { NULL, "start Deno with --v8-flags=--perf-basic-prof" },
	[RUNTIME_DOTNET] = { NULL, "start it with DOTNET_PerfMapEnabled=1 in its environment" },
	[RUNTIME_LUAJIT] = { "LuaJIT's code keeps no frame pointers; `luajit -j off`, or jit.off() "
			     "in the program, runs it without generated code",
			     "a LuaJIT that is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS names "
			     "its traces" },
	[RUNTIME_PYPY] = { "PyPy's code keeps no frame pointers; `pypy3 --jit off` runs it without "
			   "generated code",
			   NULL },
	/* Erlang's processes have stacks of their own, which end where the walk does. */
	[RUNTIME_ERLANG] = { NULL, "start Erlang with +JPperf true, which keeps frame pointers, "
				   "too" },
	[RUNTIME_JULIA] = { NULL, "start Julia with ENABLE_JITPROFILING=1 in its environment" },
	[RUNTIME_PHP] = { "PHP's generated code keeps no frame pointers; -d opcache.jit=disable "
			  "runs it without",
			  "start PHP with -d opcache.jit_debug=16" },
};

/* What the names of files that such processes map, or of the processes, look like. */
static const struct {
	const char *pattern; /* of fnmatch() */
	enum runtime runtime;
} known_files[] = {
	{ "libjvm.so", RUNTIME_JAVA },
	{ "java", RUNTIME_JAVA },
	{ "node", RUNTIME_NODE },
	{ "nodejs", RUNTIME_NODE },
	{ "libnode.so*", RUNTIME_NODE },
	{ "deno", RUNTIME_DENO },
	{ "libcoreclr.so", RUNTIME_DOTNET },
	{ "dotnet", RUNTIME_DOTNET },
	{ "luajit*", RUNTIME_LUAJIT },
	{ "libluajit*", RUNTIME_LUAJIT },
	{ "pypy*", RUNTIME_PYPY },
	{ "libpypy*", RUNTIME_PYPY },
	{ "beam.*", RUNTIME_ERLANG },
	{ "julia", RUNTIME_JULIA },
	{ "libjulia*", RUNTIME_JULIA },
	{ "php*", RUNTIME_PHP },
	{ "libphp*", RUNTIME_PHP },
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

static enum runtime runtime_named(const char *name)
{
	for (size_t i = 0; i < sizeof(known_files) / sizeof(known_files[0]); i++)
		if (fnmatch(known_files[i].pattern, name, 0) == 0)
			return known_files[i].runtime;
	return RUNTIME_UNKNOWN;
}

static enum runtime runtime_of(const struct names *names, struct names_frame frame)
{
	const char *path, *slash;

	if (frame.object == NAMES_NONE)
		return RUNTIME_UNKNOWN;
	path = names_objects(names)[frame.object].path;
	slash = strrchr(path, '/');
	return runtime_named(slash ? slash + 1 : path);
}

/* By the name of a thread that generated code ran in: no stack shows a file of the runtime. */
static enum runtime runtime_of_comm(const char *comm)
{
	char name[TALLY_COMM_SIZE + 1];

	snprintf(name, sizeof(name), "%.*s", TALLY_COMM_SIZE, comm);
	return runtime_named(name);
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
		if (!process.runtime && process.comm)
			process.runtime = runtime_of_comm(process.comm);
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
		put(advice.callers, &callers[i], total, "callers", remedies[i].callers);
		put(advice.names, &nameless[i], total, "names", remedies[i].names);
	}
	*ret_advice = advice;
	return 0;
}
