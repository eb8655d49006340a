// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel tracepoints. A few are attached through perf, by their ids; more are attached as raw
 * tracepoints, by their names, where all that match have one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/pool.h"
#include "kernel/kallsyms_lines.h"
#include "trigger/attach.h"
#include "trigger/entry.h"
#include "trigger/kinds.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"
#include "trigger/probes.h"
#include "trigger/raw_tracepoint.h"
#include "trigger/refusals.h"
#include "trigger/refused.h"
#include "trigger/tracefs.h"
#include "trigger/tracepoint_fields.h"

/* Closing a perf event of a tracepoint takes the kernel 100 ms; so many take about a second. */
#define FEW 8

struct tracepoints {
	struct probes probes; /* first */
	struct event *events;
	uint32_t n, capacity;
	struct pool *names;
	bool have_raw; /* each has a raw tracepoint of its name */
	bool raw;
	int program;
	struct refusals *refusals; /* NULL: none are counted */
	struct value_list fields;  /* empty until they are asked for */
};

static void tracepoints_free(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	probes_clear(&tracepoints->probes);
	refusals_free(tracepoints->refusals);
	value_list_clear(&tracepoints->fields);
	free(tracepoints->events);
	pool_free(tracepoints->names);
	free(tracepoints);
}

DEFINE_OWN(struct tracepoints, tracepoints_free)

static void free_trigger(struct trigger *trigger)
{
	tracepoints_free((struct tracepoints *)trigger);
}

static const char *entry_of(const struct tracepoints *tracepoints)
{
	return tracepoints->raw ? "on_raw_tracepoint" : "on_tracepoint";
}

static bool counts_refusals(const struct tracepoints *tracepoints)
{
	return !tracepoints->raw && tracepoints->have_raw &&
	       !tracepoints->probes.trigger.scope.counts_refused;
}

/*
 * Where tasks can be preempted in a raw tracepoint's program, perf is used: the kernel drops events
 * while the program runs on the same CPU, which lost nine of ten system calls of 16 threads.
 */
static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct tracepoints *tracepoints = (struct tracepoints *)trigger;
	struct bpf_program *program;
	int r = 0;

	/* Programs of raw tracepoints see arguments, and not the record with its fields. */
	if (trigger->scope.raw_tracepoints_preemptible || trigger->scope.asks) {
		tracepoints->raw = false;
		trigger->frames = TRIGGER_FRAMES_TRACEPOINT;
	}

	/* bcc applies its limit to tracepoints only if the variable is set. */
	if (getenv("BCC_PROBE_LIMIT"))
		r = probes_check_limit(tracepoints->n, true, err);
	/* The object that walks interpreters, to which the loaded programs jump, does not count. */
	if (r == 0 && counts_refusals(tracepoints) &&
	    bpf_object__find_program_by_name(object, REFUSALS_PROGRAM))
		r = entry_select(&trigger->scope, object, REFUSALS_PROGRAM, &program, err);
	return r < 0 ? r
		     : entry_select(&trigger->scope, object, entry_of(tracepoints), &program, err);
}

static int attach_one(const void *context, uint32_t from, uint32_t n)
{
	const struct tracepoints *tracepoints = context;
	const struct event *event = &tracepoints->events[from];

	(void)n; /* always 1 */
	if (tracepoints->raw)
		return attach_raw_tracepoint(tracepoints->program, strchr(event->name, ':') + 1);
	if (tracepoints->n <= FEW)
		return attach_tracepoint_left(tracepoints->program, event->id);
	return attach_tracepoint(tracepoints->program, event->id);
}

static const char *event_name(const void *context, uint32_t i)
{
	return ((const struct tracepoints *)context)->events[i].name;
}

static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct tracepoints *tracepoints = (struct tracepoints *)trigger;
	struct probes_source source = { .n = tracepoints->n,
					.attach = attach_one,
					.name = event_name,
					.context = tracepoints };

	tracepoints->program = entry_fd(object, entry_of(tracepoints), err);
	if (tracepoints->program < 0)
		return tracepoints->program;
	if (counts_refusals(tracepoints)) {
		tracepoints->refusals = refusals_new(object, tracepoints->events, tracepoints->n);
		trigger->hides_refused = refusals_hidden(tracepoints->refusals);
	}
	return probes_attach(&tracepoints->probes, &source, err);
}

static uint64_t unseen(const struct trigger *trigger)
{
	return refusals_count(((const struct tracepoints *)trigger)->refusals);
}

static int values(struct trigger *trigger, bool of_returns, struct event_values *ret_values,
		  struct error *err)
{
	struct tracepoints *tracepoints = (struct tracepoints *)trigger;
	own(own_free) const char **names = calloc(tracepoints->n, sizeof(*names));
	int r = 0;

	(void)of_returns; /* they are refused */
	if (!names)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < tracepoints->n; i++)
		names[i] = tracepoints->events[i].name;
	if (!tracepoints->fields.n)
		r = tracepoint_fields_read(names, tracepoints->n, &tracepoints->fields, err);
	if (r == 0)
		*ret_values = value_list_values(&tracepoints->fields);
	return r;
}

static int list(const struct trigger *trigger, const struct listing *listing, struct error *err)
{
	const struct tracepoints *tracepoints = (const struct tracepoints *)trigger;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tracepoints->n; i++) {
		char pattern[600];

		snprintf(pattern, sizeof(pattern), "t:%s", tracepoints->events[i].name);
		listing->probe(listing->to, &(struct listed){ pattern, "kernel", PROBE_COST_LOW });
		r = tracepoint_fields_list(tracepoints->events[i].name, listing, err);
	}
	return r;
}

static const struct trigger_ops TRACEPOINT_OPS = {
	.select = select_programs,
	.attach = attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = free_trigger,
	.n_attached = probes_n_attached,
	.unseen = unseen,
	.values = values,
	.list = list,
};

/* The search in the events directory. */
struct walk {
	const struct matcher *category, *name; /* category may be NULL */
	struct nearest *nearest;
	struct tracepoints *found;
	int events;
};

static int add(struct walk *walk, const char *category, const char *name)
{
	struct tracepoints *found = walk->found;
	own(own_file) FILE *file = NULL;
	char path[600], text[24];
	int r;

	snprintf(path, sizeof(path), "%s/%s/id", category, name);
	file = tracefs_file(walk->events, path);
	/* Files among the directories ("enable", "filter") and events without an id cannot fire. */
	if (!file || !fgets(text, sizeof(text), file))
		return 0;
	r = grow(&found->events, &found->capacity, found->n + 1);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s:%s", category, name);
	found->events[found->n].name = pool_string(found->names, path);
	found->events[found->n].id = strtoull(text, NULL, 10);
	if (!found->events[found->n].name)
		return -ENOMEM;
	found->n++;
	return 0;
}

static int walk_category(struct walk *walk, const char *category)
{
	own(own_directory) DIR *directory = NULL;
	int fd = openat(walk->events, category, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	char full[600];
	int r = 0;

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (r == 0 && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		if ((!walk->category || matcher_matches(walk->category, category)) &&
		    matcher_matches(walk->name, entry->d_name)) {
			r = add(walk, category, entry->d_name);
		} else {
			snprintf(full, sizeof(full), "%s:%s", category, entry->d_name);
			nearest_add(walk->nearest, full);
		}
	}
	return r;
}

static int compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/*
 * Raw tracepoints need the kernel's addresses: their stacks begin with frames of the tracing, which
 * are removed by address (kernel/tracepoint_frames.h). Stacks of perf events hardly ever do.
 */
static void decide_raw(int tracefs, struct tracepoints *found)
{
	own(own_file) FILE *dynamic = tracefs_file(tracefs, "dynamic_events");
	bool readable = dynamic || errno == ENOENT;
	own(own_fd) int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (found->n) /* else there is no array */
		qsort(found->events, found->n, sizeof(*found->events), compare);
	found->have_raw = readable && raw_tracepoints_serve(found->events, found->n, dynamic);
	found->raw = found->n > FEW && found->have_raw && kallsyms >= 0 &&
		     kallsyms_lines_show_addresses(kallsyms);
	found->probes.trigger.frames =
		found->raw ? TRIGGER_FRAMES_RAW_TRACEPOINT : TRIGGER_FRAMES_TRACEPOINT;
	found->probes.trigger.walks_kernel = !found->raw;
}

static int walk_all(struct walk *walk, struct error *err)
{
	own(own_directory) DIR *directory = NULL;
	own(own_fd) int tracefs = tracefs_open(err);
	own(own_fd) int events = -1;
	struct dirent *entry;
	int fd, r = 0;

	if (tracefs < 0)
		return tracefs;
	events = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = events < 0 ? -1 : openat(events, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		r = refused_file(err, -errno, "cannot open the events of tracefs");
		if (fd >= 0)
			close(fd);
		return r;
	}
	walk->events = events;
	while (r == 0 && (entry = readdir(directory))) {
		/* "ftrace" only describes the records of tracers: its events never fire. */
		if (entry->d_name[0] != '.' && entry->d_type != DT_REG &&
		    strcmp(entry->d_name, "ftrace") != 0)
			r = walk_category(walk, entry->d_name);
	}
	if (r == 0)
		decide_raw(tracefs, walk->found);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *category = NULL;
	own(own_matcher_free) struct matcher *name = NULL;
	own(own_tracepoints_free) struct tracepoints *found = NULL;
	char full[400], pattern[600], near[400];
	struct nearest nearest;
	int r = matcher_new(spec->name, spec->regexp, &name, err);

	(void)pid; /* the BPF program filters */
	if (r == 0 && spec->provider)
		r = matcher_new(spec->provider, spec->regexp, &category, err);
	if (r < 0)
		return r;
	snprintf(full, sizeof(full), "%.190s:%.190s", spec->provider ? spec->provider : "*",
		 spec->name);
	nearest_init(&nearest, spec->regexp ? "" : full);
	found = calloc(1, sizeof(*found));
	if (!found || pool_new(&found->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	found->probes.trigger.ops = &TRACEPOINT_OPS;
	r = walk_all(&(struct walk){ .category = category,
				     .name = name,
				     .nearest = &nearest,
				     .found = found },
		     err);
	if (r < 0)
		return r;
	if (found->n == 0) {
		matcher_describe(full, spec->regexp, pattern, sizeof(pattern));
		nearest_describe(&nearest, near, sizeof(near));
		return error_set(err, -ENOENT, "No functions matched by pattern %.400s%s", pattern,
				 near);
	}
	*ret_probes = &take_ptr(found)->probes;
	return 0;
}

static bool complete(const struct spec *spec, char *ret_pattern, size_t size)
{
	const struct spec any = { .name = spec->name, .regexp = spec->regexp };
	struct probes *probes = NULL;
	const struct tracepoints *found;

	if (make(&any, 0, &probes, NULL) < 0)
		return false;
	found = (const struct tracepoints *)probes;
	if (found->n == 1)
		snprintf(ret_pattern, size, "t:%s", found->events[0].name);
	else
		snprintf(ret_pattern, size, "t::%s", spec->name);
	free_trigger(&probes->trigger);
	return true;
}

const struct trigger_kind tracepoint_kind = {
	.type = 't',
	.form = "tracepoints are t:CATEGORY:EVENT",
	.complete = complete,
	.takes_provider = true,
	.make = make,
};
