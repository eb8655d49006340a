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
 * What generates code, or interprets programs whose functions are not shown, and what to do; NULL:
 * there is nothing. PID is that of the process. Each remedy is one of the documentation of that
 * program.
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
	RUNTIME_BUN,
	RUNTIME_LUA,
	RUNTIME_OCAML, /* its bytecode */
	N_RUNTIMES,
};

static const struct {
	const char *callers, *names, *functions;
} remedies[N_RUNTIMES] = {
	[RUNTIME_UNKNOWN] = { "the code that it generates keeps no frame pointers",
			      "code that a program generates has names if it writes them to "
			      "/tmp/perf-PID.map" },
	/* No option of Java is needed: what lacks callers is not known, or was just starting. */
	[RUNTIME_JAVA] = { "-v says what is not known of this Java virtual machine",
			   "run `jcmd PID Compiler.perfmap` before the measurement ends" },
	[RUNTIME_NODE] = { NULL, "start Node.js with --perf-basic-prof" },
	[RUNTIME_DENO] = { NULL, "start Deno with --v8-flags=--perf-basic-prof" },
	[RUNTIME_DOTNET] = { NULL, "start it with DOTNET_PerfMapEnabled=1 in its environment" },
	[RUNTIME_LUAJIT] = { "LuaJIT's code keeps no frame pointers; `luajit -j off`, or jit.off() "
			     "in the program, runs it without generated code",
			     "a LuaJIT that is built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS names "
			     "its traces",
			     "functions of Lua are not shown, only those of its interpreter" },
	[RUNTIME_PYPY] = { "PyPy's code keeps no frame pointers; `pypy3 --jit off` runs it without "
			   "generated code",
			   NULL, "functions of Python are shown if CPython runs them, not PyPy" },
	/* Erlang's processes have stacks of their own, which end where the walk does. */
	[RUNTIME_ERLANG] = { NULL, "start Erlang with +JPperf true, which keeps frame pointers, "
				   "too" },
	[RUNTIME_JULIA] = { NULL, "start Julia with ENABLE_JITPROFILING=1 in its environment" },
	[RUNTIME_PHP] = { "PHP's generated code keeps no frame pointers; -d opcache.jit=disable "
			  "runs it without",
			  "start PHP with -d opcache.jit_debug=16" },
	[RUNTIME_BUN] = { NULL, "Bun does not tell the names of its code; `bun --cpu-prof` writes "
				"a profile with functions" },
	[RUNTIME_LUA] = { .functions = "functions of Lua are not shown, only those of its "
				       "interpreter" },
	[RUNTIME_OCAML] = { .functions = "functions of OCaml's bytecode are not shown; compiled by "
					 "ocamlopt, they have names" },
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
	{ "bun", RUNTIME_BUN },
	{ "lua", RUNTIME_LUA },
	{ "lua5*", RUNTIME_LUA },
	{ "liblua5*", RUNTIME_LUA },
	{ "ocaml", RUNTIME_OCAML },
	{ "ocamlrun*", RUNTIME_OCAML },
	{ "libcamlrun*", RUNTIME_OCAML },
};

/* What a stack lacks, and the runtime that it shows. */
struct stack_facts {
	unsigned char runtime; /* enum runtime */
	bool lacks_callers, lacks_name, lacks_functions;
};

/* The entries of one process. */
struct process {
	uint32_t tgid;
	const char *comm;
	enum runtime runtime;
	uint64_t lack_callers, lack_names, lack_functions;
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

static enum runtime runtime_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return runtime_named(slash ? slash + 1 : path);
}

static enum runtime runtime_of(const struct names *names, struct names_frame frame)
{
	return frame.object == NAMES_NONE
		       ? RUNTIME_UNKNOWN
		       : runtime_of_path(names_objects(names)[frame.object].path);
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
	facts.lacks_functions = remedies[facts.runtime].functions != NULL;
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

/* What the processes of each runtime lack. */
struct lacks {
	struct found callers[N_RUNTIMES], names[N_RUNTIMES], functions[N_RUNTIMES];
};

static void add_up(const struct counted *list, uint32_t n, struct lacks *lacks)
{
	for (uint32_t i = 0; i < n;) {
		struct process process = { .tgid = list[i].entry->tgid };

		for (; i < n && list[i].entry->tgid == process.tgid; i++) {
			const struct tally_entry *entry = list[i].entry;

			if (list[i].facts.runtime)
				process.runtime = (enum runtime)list[i].facts.runtime;
			if (list[i].facts.lacks_callers || list[i].facts.lacks_name ||
			    list[i].facts.lacks_functions)
				process.comm = entry->comm;
			process.lack_callers += list[i].facts.lacks_callers ? entry->count : 0;
			process.lack_names += list[i].facts.lacks_name ? entry->count : 0;
			process.lack_functions += list[i].facts.lacks_functions ? entry->count : 0;
		}
		if (!process.runtime && process.comm)
			process.runtime = runtime_of_comm(process.comm);
		add_process(&lacks->callers[process.runtime], &process, process.lack_callers);
		add_process(&lacks->names[process.runtime], &process, process.lack_names);
		add_process(&lacks->functions[process.runtime], &process, process.lack_functions);
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

/* Most measurements have neither generated code nor such an interpreter. */
static bool may_lack(const struct names *names)
{
	for (uint32_t i = 0; i < names_n_objects(names); i++)
		if (remedies[runtime_of_path(names_objects(names)[i].path)].functions)
			return true;
	for (uint32_t i = 0; i < names_n_frames(names); i++)
		if (names_frame(names, i).flags & NAMES_FRAME_JIT)
			return true;
	return false;
}

int advice_of(const struct tally *tally, const struct names *names, struct advice *ret_advice)
{
	own(own_free) struct counted *list = NULL;
	struct advice advice = { 0 };
	struct lacks lacks = { 0 };
	uint64_t total = tally_total(tally);
	uint32_t n = 0;
	int r = may_lack(names) ? collect(tally, names, &list, &n) : 0;

	if (r < 0)
		return r;
	if (n > 0)
		add_up(list, n, &lacks);
	/* What is known first. */
	for (int i = N_RUNTIMES - 1; i >= RUNTIME_UNKNOWN; i--) {
		put(advice.callers, &lacks.callers[i], total, "callers", remedies[i].callers);
		put(advice.names, &lacks.names[i], total, "names", remedies[i].names);
		put(advice.functions, &lacks.functions[i], total, "functions",
		    remedies[i].functions);
	}
	*ret_advice = advice;
	return 0;
}
