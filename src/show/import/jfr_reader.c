// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads recordings of the JDK's Flight Recorder and of async-profiler: one or more chunks, each
 * with its types, constants and events. One kind of events is counted (import/jfr_events.h); their
 * threads, stacks and times are kept. A note names the other events of the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "import/jfr_chunk.h"
#include "import/jfr_events.h"
#include "import/jfr_stacks.h"
#include "import/kind.h"
#include "import/sample_times.h"

enum {
	EVENT_TIME,
	EVENT_STACK,
	EVENT_STATE,
	EVENT_WEIGHT,
	EVENT_THREAD,	      /* whose it is */
	EVENT_SAMPLED_THREAD, /* or the thread that was sampled */
	EVENT_ALLOCATED,      /* a class that the event is about, as the following are */
	EVENT_MONITOR,
	EVENT_PARKED,
	EVENT_THROWN,
	EVENT_N
};

struct jfr_reader {
	const struct import_file *file;
	struct baseline *base;
	struct error *err;
	struct pool *pool;
	struct jfr_events events;
	struct jfr_wanted wanted;
	struct jfr_stacks stacks;
	struct sample_times times;
	uint32_t pid;
	uint64_t start_ns, end_ns; /* of all chunks, since 1970; 0: no chunk yet */
	uint64_t total;
};

static bool is_jfr(const char *bytes, size_t size)
{
	return size >= JFR_MAGIC_SIZE && memcmp(bytes, JFR_MAGIC, JFR_MAGIC_SIZE) == 0;
}

static int explain(struct jfr_reader *reader, const struct jfr_chunk *chunk, int code)
{
	switch (code) {
	case 0:
		return 0;
	case -EBADMSG:
		return error_set(reader->err, code,
				 "the chunk at byte %zu of this JFR file is damaged: %s",
				 (size_t)((const char *)chunk->start - reader->file->bytes),
				 chunk->why);
	case -ERANGE:
		return error_set(reader->err, code, "the sum of the weights is too large");
	case -ENOMEM:
		return error_set(reader->err, code, "out of memory");
	default:
		return error_set(reader->err, code, "too large");
	}
}

/* ---- all chunks ---- */

/* A note tells how much of the file is behind its last complete chunk. */
static bool is_cut(struct jfr_reader *reader, const struct jfr_chunk *chunk, size_t at)
{
	if (at == 0 || chunk->end != (const uint8_t *)reader->file->bytes + reader->file->size)
		return false;
	snprintf(reader->base->losses, sizeof(reader->base->losses),
		 "the last %zu bytes are lost, a chunk that is not complete: %s",
		 reader->file->size - at, chunk->why);
	return true;
}

static int each_chunk(struct jfr_reader *reader,
		      int (*take)(struct jfr_reader *reader, struct jfr_chunk *chunk))
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < reader->file->size) {
		struct jfr_chunk chunk;

		r = jfr_chunk_open(&chunk, reader->file->bytes + at, reader->file->size - at,
				   reader->pool);
		if (r == -EBADMSG && is_cut(reader, &chunk, at)) {
			jfr_chunk_clear(&chunk);
			return 0;
		}
		if (r == 0)
			r = take(reader, &chunk);
		r = explain(reader, &chunk, r);
		at += (size_t)(chunk.end - chunk.start);
		jfr_chunk_clear(&chunk);
	}
	return r;
}

/* ---- what there is ---- */

static int find_pid(struct jfr_reader *reader, struct jfr_chunk *chunk)
{
	static const char *const names[] = { "pid" };
	uint32_t wanted = jfr_type_named(&chunk->types, "jdk.JVMInformation"), type;
	struct jfr_cursor event;
	struct jfr_value value;
	uint64_t at = 0;
	int r = 0;

	while (wanted != JFR_NO_TYPE && reader->pid == 0 &&
	       (r = jfr_chunk_event(chunk, &at, &type, &event)) > 0) {
		int64_t pid;

		if (type != wanted)
			continue;
		r = jfr_chunk_fields(chunk, type, event, names, &value, 1);
		if (r < 0)
			return r;
		pid = jfr_chunk_number(chunk, &value);
		reader->pid = pid > 0 && pid <= INT32_MAX ? (uint32_t)pid : 0;
	}
	return r < 0 ? r : 0;
}

static int look_at(struct jfr_reader *reader, struct jfr_chunk *chunk)
{
	uint64_t end_ns = chunk->start_ns + chunk->duration_ns;
	int r = find_pid(reader, chunk);

	if (chunk->start_ns > INT64_MAX || chunk->duration_ns > INT64_MAX)
		end_ns = chunk->start_ns;
	if (!reader->start_ns || chunk->start_ns < reader->start_ns)
		reader->start_ns = chunk->start_ns;
	if (end_ns > reader->end_ns)
		reader->end_ns = end_ns;
	return r < 0 ? r : jfr_events_count(&reader->events, chunk);
}

/* ---- events ---- */

static uint64_t weight_of(const struct jfr_reader *reader, const struct jfr_chunk *chunk,
			  const struct jfr_value *weight)
{
	int64_t number = jfr_chunk_number(chunk, weight);

	if (!weight->field)
		return 1;
	return reader->wanted.measure == JFR_TICKS ? jfr_chunk_duration_ns(chunk, number)
	       : number > 0			   ? (uint64_t)number
						   : 0;
}

static int add_event(struct jfr_reader *reader, const struct tally_entry *entry, uint64_t at_ns)
{
	struct sample_time time = { .at_ns = at_ns,
				    .count = entry->count,
				    .events = (uint32_t)entry->events };
	int r;

	if (__builtin_add_overflow(reader->total, entry->count, &reader->total) ||
	    reader->total > INT64_MAX)
		return -ERANGE;
	if (at_ns > reader->end_ns)
		reader->end_ns = at_ns;
	r = tally_count(reader->base->tally, entry, &time.entry);
	return r < 0 ? r : sample_times_add(&reader->times, &time);
}

static int read_event(struct jfr_reader *reader, struct jfr_chunk *chunk, uint32_t type,
		      const struct jfr_cursor *event, const char *weight)
{
	const char *const names[EVENT_N] = {
		[EVENT_TIME] = "startTime",	   [EVENT_STACK] = "stackTrace",
		[EVENT_STATE] = "state",	   [EVENT_WEIGHT] = weight,
		[EVENT_THREAD] = "eventThread",	   [EVENT_SAMPLED_THREAD] = "sampledThread",
		[EVENT_ALLOCATED] = "objectClass", [EVENT_MONITOR] = "monitorClass",
		[EVENT_PARKED] = "parkedClass",	   [EVENT_THROWN] = "thrownClass",
	};
	struct jfr_value values[EVENT_N], *object = &values[EVENT_ALLOCATED], *thread;
	bool summed = reader->wanted.measure != JFR_COUNT;
	struct tally_entry entry = { .tgid = reader->pid, .events = summed };
	int r = jfr_chunk_fields(chunk, type, *event, names, values, EVENT_N);

	if (r < 0)
		return r;
	while (object < &values[EVENT_N - 1] && !object->field)
		object++;
	thread = &values[values[EVENT_SAMPLED_THREAD].field ? EVENT_SAMPLED_THREAD : EVENT_THREAD];
	entry.count = weight_of(reader, chunk, &values[EVENT_WEIGHT]);
	r = jfr_stacks_thread(&reader->stacks, thread, &entry);
	if (r == 0)
		r = jfr_stacks_stack(&reader->stacks, &values[EVENT_STACK], &values[EVENT_STATE],
				     object, &entry);
	return r < 0 || (entry.count == 0 && !summed)
		       ? r
		       : add_event(reader, &entry,
				   (uint64_t)jfr_chunk_time_ns(
					   chunk, jfr_chunk_number(chunk, &values[EVENT_TIME])));
}

static const struct jfr_wanted_type *wanted_type(const struct jfr_reader *reader, const char *name)
{
	const struct jfr_wanted_type *types = reader->wanted.types;

	for (size_t i = 0; i < JFR_WANTED_MAX && types[i].type; i++)
		if (strcmp(types[i].type, name) == 0)
			return &types[i];
	return NULL;
}

static int read_chunk(struct jfr_reader *reader, struct jfr_chunk *chunk)
{
	struct jfr_cursor event;
	uint64_t at = 0;
	uint32_t type;
	int r = jfr_chunk_read_constants(chunk);

	if (r == 0)
		r = jfr_stacks_begin(&reader->stacks, chunk);
	while (r == 0 && (r = jfr_chunk_event(chunk, &at, &type, &event)) > 0) {
		const struct jfr_wanted_type *wanted =
			type == JFR_NO_TYPE ? NULL
					    : wanted_type(reader, chunk->types.list[type].name);

		r = wanted ? read_event(reader, chunk, type, &event, wanted->weight) : 0;
	}
	return r;
}

/* ---- the file ---- */

static int choose(struct jfr_reader *reader)
{
	const char *value = reader->file->value;
	char there[800];

	if (jfr_events_choose(&reader->events, value, &reader->wanted, there, sizeof(there)))
		return 0;
	if (!value)
		return error_set(reader->err, -ENODATA, "it has no samples%s%s",
				 *there ? ", but, for --value: " : "", there);
	return error_set(reader->err, -EINVAL, "it has no value %s%s%s", value,
			 *there ? ", but: " : "", there);
}

static int describe(struct jfr_reader *reader)
{
	struct profile_meta *meta = &reader->base->meta;
	enum jfr_measure measure = reader->wanted.measure;
	const char *name = pool_string(reader->pool, reader->wanted.name);

	if (!name)
		return -ENOMEM;
	meta->start_time_ns = reader->start_ns;
	meta->duration_ns = reader->end_ns - reader->start_ns;
	if (measure == JFR_COUNT) {
		meta->event = name;
		return 0;
	}
	meta->summed = true;
	meta->measure = name;
	meta->unit = measure == JFR_BYTES ? "bytes" : "nanoseconds";
	return 0;
}

static int finish(struct jfr_reader *reader)
{
	struct baseline *base = reader->base;
	int r = describe(reader);

	if (r == 0)
		r = sample_times_make(&reader->times, reader->start_ns,
				      tally_n_entries(base->tally), &base->timeline);
	jfr_events_tell(&reader->events, &reader->wanted, base->notes, sizeof(base->notes));
	return r < 0 ? error_set(reader->err, r, "out of memory") : 0;
}

static int read_jfr(const struct import_file *file, struct baseline *base, struct error *err)
{
	struct jfr_reader reader = { .file = file, .base = base, .err = err };
	int r = pool_new(&reader.pool);

	jfr_stacks_start(&reader.stacks, base->tally, base->names, reader.pool);
	if (r == 0)
		r = names_share_strings(base->names, reader.pool);
	if (r < 0)
		error_set(err, r, "out of memory");
	if (r == 0)
		r = each_chunk(&reader, look_at);
	if (r == 0)
		r = choose(&reader);
	if (r == 0)
		r = each_chunk(&reader, read_chunk);
	if (r == 0)
		r = finish(&reader);
	jfr_stacks_clear(&reader.stacks);
	jfr_events_clear(&reader.events);
	sample_times_clear(&reader.times);
	pool_free(reader.pool);
	return r;
}

const struct import_kind jfr_kind = {
	.name = "a JFR file",
	.has_values = true,
	.knows = is_jfr,
	.read = read_jfr,
};
