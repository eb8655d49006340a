// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the processed format of the Firefox Profiler, which it saves, and which samply and others
 * write: the samples of all threads. Markers, and where CPU time was measured as well, are not
 * read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "import/firefox_columns.h"
#include "import/kind.h"

#define KEY_SIZE  64
#define WHO_SIZE  256
#define TYPE_SIZE 32

struct firefox_reader {
	struct json_stacks stacks;
	struct profile_meta *meta;
	struct firefox_columns shared, own;
};

/* A thread: who it is, and where its samples are. */
struct thread {
	char name[WHO_SIZE], pid[TYPE_SIZE];
	struct json_reader samples;
};

static bool is_firefox(const char *text, size_t size)
{
	struct json_reader json = { .at = text, .end = text + size };
	bool meta = false, threads = false;
	char key[KEY_SIZE];

	if (size == 0 || *text != '{' || !json_enter(&json, '{'))
		return false;
	while (json_member(&json, key, sizeof(key))) {
		meta |= strcmp(key, "meta") == 0;
		threads |= strcmp(key, "threads") == 0;
		json_skip(&json);
	}
	return meta && threads;
}

/* ---- the measurement ---- */

/* Milliseconds: the time between samples, and of the beginning. */
static void describe(struct firefox_reader *reader, double interval, double start)
{
	double hertz = interval > 0 ? 1000 / interval : 0;
	uint64_t whole = hertz >= 1 && hertz < 1e6 ? (uint64_t)(hertz + 0.5) : 0;

	if (whole && hertz - (double)whole < 0.01 && (double)whole - hertz < 0.01)
		reader->meta->frequency = whole;
	if (start > 0 && start < 9e12)
		reader->meta->start_time_ns = (uint64_t)(start * 1e6);
}

static void read_meta(struct firefox_reader *reader, struct json_reader *json)
{
	double interval = 0, start = 0;
	char key[KEY_SIZE];

	if (!json_enter(json, '{')) {
		json_skip(json);
		return;
	}
	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, "interval") == 0)
			json_number(json, &interval);
		else if (strcmp(key, "startTime") == 0)
			json_number(json, &start);
		else
			json_skip(json);
	}
	describe(reader, interval, start);
}

/* ---- samples ---- */

struct samples {
	struct json_reader stacks, weights;
	char type[TYPE_SIZE];
};

static int find_samples(struct json_reader json, struct samples *ret_samples)
{
	char key[KEY_SIZE];

	*ret_samples = (struct samples){ .type = "samples" };
	if (!json_enter(&json, '{'))
		return -EBADMSG;
	while (json_member(&json, key, sizeof(key))) {
		if (strcmp(key, "weightType") == 0) {
			json_text(&json, ret_samples->type, sizeof(ret_samples->type));
			continue;
		}
		if (strcmp(key, "schema") == 0)
			return -EPROTO; /* not processed */
		if (strcmp(key, "stack") == 0)
			ret_samples->stacks = json;
		else if (strcmp(key, "weight") == 0)
			ret_samples->weights = json;
		json_skip(&json);
	}
	return json.failed ? -EBADMSG : 0;
}

static int add_sample(struct firefox_reader *reader, struct firefox_columns *tables, double stack,
		      double weight)
{
	uint32_t n = 0;
	bool cut = false;
	int r = 0;

	if (stack >= 0)
		r = stack < JSON_NONE ? firefox_columns_stack(tables, &reader->stacks,
							      (uint32_t)stack, &n, &cut)
				      : -EBADMSG;
	return r < 0 ? r : json_stacks_add(&reader->stacks, reader->stacks.stack, n, cut, weight);
}

static int read_samples(struct firefox_reader *reader, struct firefox_columns *tables,
			struct json_reader json)
{
	struct samples samples;
	bool weighted;
	int r = find_samples(json, &samples);

	if (r < 0)
		return r;
	if (!json_stacks_unit(&reader->stacks,
			      strcmp(samples.type, "tracing-ms") == 0 ? "milliseconds"
			      : strcmp(samples.type, "bytes") == 0    ? "bytes"
								      : "none",
			      reader->meta))
		return -EXDEV;
	weighted = samples.weights.at && json_enter(&samples.weights, '[');
	if (!samples.stacks.at || !json_enter(&samples.stacks, '['))
		return 0;
	while (r == 0 && json_element(&samples.stacks)) {
		double stack = -1, weight = 1;

		json_number(&samples.stacks, &stack);
		if (weighted &&
		    !(json_element(&samples.weights) && json_number(&samples.weights, &weight)))
			return -EBADMSG;
		r = add_sample(reader, tables, stack, weight);
	}
	return r == 0 && samples.stacks.failed ? -EBADMSG : r;
}

/* ---- threads ---- */

/* Ids are numbers or strings of them. */
static void read_id(struct json_reader *json, char *ret_text, size_t size)
{
	struct json_reader as_text = *json;
	double number = -1;

	if (json_text(&as_text, ret_text, size)) {
		*json = as_text;
	} else if (json_number(json, &number) && number >= 0 && number < INT32_MAX) {
		snprintf(ret_text, size, "%u", (unsigned int)number);
	}
}

static void read_who(struct json_reader json, struct thread *ret_thread)
{
	char key[KEY_SIZE];

	*ret_thread = (struct thread){ 0 };
	json_enter(&json, '{');
	while (json_member(&json, key, sizeof(key))) {
		if (strcmp(key, "name") == 0) {
			json_text(&json, ret_thread->name, sizeof(ret_thread->name));
			continue;
		}
		if (strcmp(key, "pid") == 0) {
			read_id(&json, ret_thread->pid, sizeof(ret_thread->pid));
			continue;
		}
		if (strcmp(key, "samples") == 0)
			ret_thread->samples = json;
		json_skip(&json);
	}
}

static int read_thread(struct firefox_reader *reader, struct json_reader *json)
{
	const struct json_reader start = *json;
	char who[WHO_SIZE + TYPE_SIZE + 4];
	struct thread thread;
	bool own;
	int r;

	json_skip(json);
	if (json->failed)
		return -EBADMSG;
	read_who(start, &thread);
	firefox_columns_clear(&reader->own);
	r = firefox_columns_read(&reader->own, &reader->stacks, start);
	if (r < 0 || !thread.samples.at)
		return r;
	own = firefox_columns_are_there(&reader->own);
	thread.pid[strspn(thread.pid, "0123456789")] = '\0';
	snprintf(who, sizeof(who), *thread.pid ? "%s (%s)" : "%s", thread.name, thread.pid);
	json_stacks_who(&reader->stacks, who);
	return read_samples(reader, own ? &reader->own : &reader->shared, thread.samples);
}

static int read_threads(struct firefox_reader *reader, struct json_reader *json)
{
	int r = 0;

	if (!json_enter(json, '['))
		return -EBADMSG;
	while (r == 0 && json_element(json))
		r = read_thread(reader, json);
	return r;
}

static int read_all(struct firefox_reader *reader, struct json_reader *json)
{
	struct json_reader threads = { 0 };
	char key[KEY_SIZE];
	int r = 0;

	if (!json_enter(json, '{'))
		return -EBADMSG;
	while (r == 0 && json_member(json, key, sizeof(key))) {
		if (strcmp(key, "meta") == 0) {
			read_meta(reader, json);
			continue;
		}
		if (strcmp(key, "shared") == 0)
			r = firefox_columns_read(&reader->shared, &reader->stacks, *json);
		else if (strcmp(key, "threads") == 0)
			threads = *json;
		json_skip(json);
	}
	return r < 0 ? r : json->failed ? -EBADMSG : read_threads(reader, &threads);
}

static int read_firefox(const struct import_file *file, struct baseline *base, struct error *err)
{
	struct json_reader json = { .at = file->bytes, .end = file->bytes + file->size };
	struct firefox_reader reader = { .meta = &base->meta };
	int r = json_stacks_start(&reader.stacks, base->tally, base->names);

	if (r == 0)
		r = read_all(&reader, &json);
	firefox_columns_clear(&reader.shared);
	firefox_columns_clear(&reader.own);
	json_stacks_clear(&reader.stacks);
	if (r == -EPROTO)
		return error_set(err, r,
				 "a raw profile of Firefox: open it in the Firefox Profiler, and "
				 "read what that saves");
	return json_stacks_explain(r, &json, err);
}

const struct import_kind firefox_kind = {
	.name = "Firefox's JSON",
	.knows = is_firefox,
	.read = read_firefox,
};
