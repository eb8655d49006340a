// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/jfr_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define SHOWN_MAX 8 /* types in a message */

/* In the order in which they are shown if --value does not say which. */
static const struct jfr_wanted values[] = {
	/* As async-profiler's converter: threads that run Java, and those in native methods. */
	{ "samples",
	  { { "jdk.ExecutionSample", NULL }, { "jdk.NativeMethodSample", NULL } },
	  JFR_COUNT },
	{ "cpu", { { "jdk.ExecutionSample", NULL } }, JFR_COUNT },
	{ "wall", { { "profiler.WallClockSample", "samples" } }, JFR_COUNT },
	/* Each allocation outside of a buffer of its thread, and the first in each buffer. */
	{ "alloc",
	  { { "jdk.ObjectAllocationInNewTLAB", "tlabSize" },
	    { "jdk.ObjectAllocationOutsideTLAB", "allocationSize" } },
	  JFR_BYTES },
	{ "alloc", { { "jdk.ObjectAllocationSample", "weight" } }, JFR_BYTES },
	{ "lock",
	  { { "jdk.JavaMonitorEnter", "duration" }, { "jdk.ThreadPark", "duration" } },
	  JFR_TICKS },
	{ "nativemem", { { "profiler.Malloc", "size" } }, JFR_BYTES },
	{ "live", { { "profiler.LiveObject", "allocationSize" } }, JFR_BYTES },
};

#define N_VALUES (sizeof(values) / sizeof(values[0]))

/* ---- counts ---- */

static int add_type(struct jfr_events *events, const struct jfr_types *types, uint32_t type,
		    uint32_t *ret_at)
{
	const char *name = types->list[type].name;
	uint64_t hash = hash_bytes(name, strlen(name));
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&events->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&events->index, &cursor))
		if (strcmp(events->list[at].type, name) == 0) {
			*ret_at = at;
			return 0;
		}
	r = grow(&events->list, &events->capacity, (size_t)events->n + 1);
	if (r == 0)
		r = index_add(&events->index, hash, events->n);
	if (r < 0)
		return r;
	*ret_at = events->n;
	events->list[events->n++] = (struct jfr_event_count){
		.type = name,
		.has_stacks = jfr_type_has(types, type, "stackTrace"),
	};
	return 0;
}

static int add_event(struct jfr_event_count *count, struct jfr_chunk *chunk, uint32_t type,
		     const struct jfr_cursor *event)
{
	static const char *const names[] = { "stackTrace", "duration" };
	struct jfr_value fields[2];
	int r;

	count->n++;
	if (!count->has_stacks)
		return 0;
	r = jfr_chunk_fields(chunk, type, *event, names, fields, 2);
	count->n_stacks += jfr_chunk_key(&fields[0]) != 0;
	count->has_duration |= jfr_chunk_number(chunk, &fields[1]) > 0;
	return r;
}

int jfr_events_count(struct jfr_events *events, struct jfr_chunk *chunk)
{
	struct jfr_cursor event;
	uint64_t at = 0;
	uint32_t type, counted;
	int r;

	while ((r = jfr_chunk_event(chunk, &at, &type, &event)) > 0) {
		if (type == JFR_NO_TYPE) {
			events->n_unknown++;
			continue;
		}
		r = add_type(events, &chunk->types, type, &counted);
		if (r == 0)
			r = add_event(&events->list[counted], chunk, type, &event);
		if (r < 0)
			return r;
	}
	return r;
}

void jfr_events_clear(struct jfr_events *events)
{
	free(events->list);
	index_free(&events->index);
	*events = (struct jfr_events){ 0 };
}

/* ---- what is counted ---- */

static const struct jfr_event_count *count_of(const struct jfr_events *events, const char *type)
{
	for (uint32_t i = 0; i < events->n; i++)
		if (strcmp(events->list[i].type, type) == 0)
			return &events->list[i];
	return NULL;
}

static bool has_type(const struct jfr_wanted *wanted, const char *type)
{
	for (size_t i = 0; i < JFR_WANTED_MAX && wanted->types[i].type; i++)
		if (strcmp(wanted->types[i].type, type) == 0)
			return true;
	return false;
}

static bool occurs(const struct jfr_events *events, const struct jfr_wanted *wanted)
{
	for (size_t i = 0; i < JFR_WANTED_MAX && wanted->types[i].type; i++)
		if (count_of(events, wanted->types[i].type))
			return true;
	return false;
}

/* The value that a type of events is of, unless it is of "samples" and of another. */
static const char *value_of(const char *type)
{
	for (size_t i = 1; i < N_VALUES; i++)
		if (has_type(&values[i], type))
			return values[i].name;
	return has_type(&values[0], type) ? values[0].name : NULL;
}

/* jdk.ThreadSleep, also without jdk. */
static bool is_type(const char *type, const char *name)
{
	const char *dot = strrchr(type, '.');

	return strcmp(type, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

/* One type of events, as the value that it is of counts it; else its time, or events. */
static void want_type(const struct jfr_event_count *count, struct jfr_wanted *ret_wanted)
{
	*ret_wanted = (struct jfr_wanted){
		.name = count->type,
		.types = { { count->type, count->has_duration ? "duration" : NULL } },
		.measure = count->has_duration ? JFR_TICKS : JFR_COUNT,
	};
	for (size_t i = 0; i < N_VALUES; i++)
		for (size_t k = 0; k < JFR_WANTED_MAX && values[i].types[k].type; k++)
			if (strcmp(values[i].types[k].type, count->type) == 0) {
				ret_wanted->types[0].weight = values[i].types[k].weight;
				ret_wanted->measure = values[i].measure;
			}
}

static void __attribute__((format(printf, 3, 4)))
put(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static void list_values(const struct jfr_events *events, char *ret_text, size_t size)
{
	const char *last = "";
	unsigned int n = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < N_VALUES; i++) {
		if (!occurs(events, &values[i]) || strcmp(values[i].name, last) == 0)
			continue;
		last = values[i].name;
		put(ret_text, size, "%s%s", *ret_text ? ", " : "", last);
	}
	for (uint32_t i = 0; i < events->n && n < SHOWN_MAX; i++)
		if (events->list[i].n_stacks > 0 && !value_of(events->list[i].type)) {
			put(ret_text, size, "%s%.100s", *ret_text ? ", " : "",
			    events->list[i].type);
			n++;
		}
}

bool jfr_events_choose(const struct jfr_events *events, const char *value,
		       struct jfr_wanted *ret_wanted, char *ret_text, size_t size)
{
	for (size_t i = 0; i < N_VALUES; i++)
		if ((!value || strcmp(value, values[i].name) == 0) && occurs(events, &values[i])) {
			*ret_wanted = values[i];
			return true;
		}
	for (uint32_t i = 0; value && i < events->n; i++)
		if (events->list[i].has_stacks && is_type(events->list[i].type, value)) {
			want_type(&events->list[i], ret_wanted);
			return true;
		}
	list_values(events, ret_text, size);
	return false;
}

/* ---- what is not ---- */

static int by_number(const void *a, const void *b)
{
	const struct jfr_event_count *const *one = a, *const *other = b;

	return (*one)->n_stacks > (*other)->n_stacks ? -1 : (*one)->n_stacks < (*other)->n_stacks;
}

/* "counted are 35 jdk.ExecutionSample and 516 jdk.NativeMethodSample". */
static void tell_parts(const struct jfr_events *events, const struct jfr_wanted *wanted,
		       char *ret_text, size_t size)
{
	const struct jfr_event_count *parts[JFR_WANTED_MAX];
	size_t n = 0;

	for (size_t i = 0; i < JFR_WANTED_MAX && wanted->types[i].type; i++) {
		parts[n] = count_of(events, wanted->types[i].type);
		n += parts[n] != NULL;
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		put(ret_text, size, "%s%" PRIu64 " %s", i ? " and " : "counted are ", parts[i]->n,
		    parts[i]->type);
}

void jfr_events_tell(const struct jfr_events *events, const struct jfr_wanted *wanted,
		     char *ret_text, size_t size)
{
	const struct jfr_event_count **shown =
		reallocarray(NULL, (size_t)events->n + 1, sizeof(*shown));
	uint64_t without = events->n_unknown, more = 0;
	uint32_t n = 0;

	ret_text[0] = '\0';
	if (!shown)
		return;
	tell_parts(events, wanted, ret_text, size);
	for (uint32_t i = 0; i < events->n; i++) {
		if (has_type(wanted, events->list[i].type))
			continue;
		if (events->list[i].n_stacks > 0)
			shown[n++] = &events->list[i];
		without += events->list[i].n - events->list[i].n_stacks;
	}
	qsort(shown, n, sizeof(*shown), by_number);
	for (uint32_t i = 0; i < n; i++) {
		const char *value = value_of(shown[i]->type);

		if (i < SHOWN_MAX)
			put(ret_text, size, "%s%" PRIu64 " %.100s%s%s%s",
			    i		? ", "
			    : *ret_text ? "; --value shows "
					: "--value shows ",
			    shown[i]->n_stacks, shown[i]->type, value ? " (" : "",
			    value ? value : "", value ? ")" : "");
		else
			more += shown[i]->n_stacks;
	}
	if (more)
		put(ret_text, size, ", %" PRIu64 " of %" PRIu32 " other types", more,
		    n - SHOWN_MAX);
	if (without)
		put(ret_text, size, "%s%" PRIu64 " event%s no stack", *ret_text ? "; " : "",
		    without, without == 1 ? " has" : "s have");
	free(shown);
}
