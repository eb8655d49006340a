// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel tracepoints, raw_syscalls among them: a perf event for each, by its id, where they are
 * few; many are raw, by their names, where all that match have such a form.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "kernel/kallsyms_lines.h"
#include "trigger/attach.h"
#include "trigger/entry.h"
#include "trigger/kinds.h"
#include "trigger/nearest.h"
#include "trigger/raw_tracepoint.h"
#include "trigger/tracefs.h"

/* So many that a second is enough for the kernel to close their perf events. */
#define FEW 8

DEFINE_OWN(struct matcher, matcher_free)

struct tracepoints {
	struct probes probes; /* first */
	struct event *events;
	uint32_t n, capacity;
	struct pool *names;
	bool raw;
	int program;
};

static void tracepoints_free(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	probes_clear(&tracepoints->probes);
	free(tracepoints->events);
	pool_free(tracepoints->names);
	free(tracepoints);
}

DEFINE_OWN(struct tracepoints, tracepoints_free)

static void own_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static void free_trigger(struct trigger *trigger)
{
	tracepoints_free((struct tracepoints *)trigger);
}

static const char *entry_of(const struct tracepoints *tracepoints)
{
	return tracepoints->raw ? "on_raw_tracepoint" : "on_tracepoint";
}

/*
 * The kernel drops an event of a raw tracepoint that happens while its program runs on the same
 * CPU. Where another task may run meanwhile that is many: nine of ten system calls of 16 threads.
 */
static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct tracepoints *tracepoints = (struct tracepoints *)trigger;
	struct bpf_program *program;
	int rc = 0;

	if (trigger->scope.raw_tracepoints_preemptible) {
		tracepoints->raw = false;
		trigger->frames = TRIGGER_FRAMES_TRACEPOINT;
	}

	/* bcc counts tracepoints towards its limit only when that was set. */
	if (getenv("BCC_PROBE_LIMIT"))
		rc = probes_check_limit(tracepoints->n, true, err);
	return rc < 0 ? rc : entry_select(object, entry_of(tracepoints), &program, err);
}

static int attach_one(const void *context, uint32_t from, uint32_t n)
{
	const struct tracepoints *tracepoints = context;
	const struct event *event = &tracepoints->events[from];

	(void)n; /* 1: not at once */
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
	return probes_attach(&tracepoints->probes, &source, err);
}

static const struct trigger_ops TRACEPOINT_OPS = {
	.kind = "tracepoint",
	.walks_kernel = true,
	.select = select_programs,
	.attach = attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = free_trigger,
	.n_attached = probes_n_attached,
};

/* The events directory, under way. */
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

	snprintf(path, sizeof(path), "%s/%s/id", category, name);
	file = tracefs_file(walk->events, path);
	/* Files between the directories ("enable", "filter") and events without an id: no events.
	 */
	if (!file || !fgets(text, sizeof(text), file))
		return 0;
	if (found->n == found->capacity) {
		uint32_t capacity = found->capacity ? found->capacity * 2 : 64;
		struct event *events = reallocarray(found->events, capacity, sizeof(*events));

		if (!events)
			return -ENOMEM;
		found->events = events;
		found->capacity = capacity;
	}
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
	int rc = 0;

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (rc == 0 && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		if ((!walk->category || matcher_matches(walk->category, category)) &&
		    matcher_matches(walk->name, entry->d_name)) {
			rc = add(walk, category, entry->d_name);
		} else {
			snprintf(full, sizeof(full), "%s:%s", category, entry->d_name);
			nearest_add(walk->nearest, full);
		}
	}
	return rc;
}

static int compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/*
 * Without addresses the frames of a raw tracepoint's delivery cannot be told from the others
 * (kernel/tracepoint_frames.h); of a perf event there are hardly any.
 */
static void choose_form(int tracefs, struct tracepoints *found)
{
	own(own_file) FILE *dynamic = tracefs_file(tracefs, "dynamic_events");
	bool readable = dynamic || errno == ENOENT;
	own(own_fd) int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	qsort(found->events, found->n, sizeof(*found->events), compare);
	found->raw = found->n > FEW && readable &&
		     raw_tracepoints_serve(found->events, found->n, dynamic) && kallsyms >= 0 &&
		     kallsyms_lines_show_addresses(kallsyms);
	found->probes.trigger.frames =
		found->raw ? TRIGGER_FRAMES_RAW_TRACEPOINT : TRIGGER_FRAMES_TRACEPOINT;
}

static int walk_all(struct walk *walk, struct error *err)
{
	own(own_directory) DIR *directory = NULL;
	own(own_fd) int tracefs = tracefs_open(err);
	own(own_fd) int events = -1;
	struct dirent *entry;
	int fd, rc = 0;

	if (tracefs < 0)
		return tracefs;
	events = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = events < 0 ? -1 : openat(events, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		rc = refused(err, -errno, "cannot open the events of tracefs");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	walk->events = events;
	while (rc == 0 && (entry = readdir(directory))) {
		/* "ftrace" describes the records of tracers: nothing ever fires it. */
		if (entry->d_name[0] != '.' && entry->d_type != DT_REG &&
		    strcmp(entry->d_name, "ftrace") != 0)
			rc = walk_category(walk, entry->d_name);
	}
	if (rc == 0)
		choose_form(tracefs, walk->found);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}
int tracepoint_trigger_new(const struct spec *spec, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *category = NULL;
	own(own_matcher_free) struct matcher *name = NULL;
	own(own_tracepoints_free) struct tracepoints *found = NULL;
	char full[400], pattern[600], near[400];
	struct nearest nearest;
	int rc;

	rc = matcher_new(spec->name, spec->regexp, &name, err);
	if (rc == 0 && spec->provider)
		rc = matcher_new(spec->provider, spec->regexp, &category, err);
	if (rc < 0)
		return rc;
	snprintf(full, sizeof(full), "%.190s:%.190s", spec->provider ? spec->provider : "*",
		 spec->name);
	nearest_init(&nearest, spec->regexp ? "" : full);
	found = calloc(1, sizeof(*found));
	if (!found || pool_new(&found->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	found->probes.trigger.ops = &TRACEPOINT_OPS;
	rc = walk_all(&(struct walk){ .category = category,
				      .name = name,
				      .nearest = &nearest,
				      .found = found },
		      err);
	if (rc < 0)
		return rc;
	if (found->n == 0) {
		matcher_describe(full, spec->regexp, pattern, sizeof(pattern));
		nearest_describe(&nearest, near, sizeof(near));
		return error_set(err, -ENOENT, "No functions matched by pattern %.400s%s", pattern,
				 near);
	}
	*ret_probes = &take_ptr(found)->probes;
	return 0;
}
