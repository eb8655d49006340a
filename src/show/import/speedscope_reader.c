// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the format of speedscope, sampled and evented profiles: py-spy, rbspy, austin and others
 * write it. All profiles of a file are read, but for that of our own files which repeats the
 * others; their names become comms. Weights of time are ns.
 */
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "import/json_stacks.h"
#include "import/kind.h"

#define KEY_SIZE  64
#define TYPE_SIZE 32
#define WHO_SIZE  256

struct speedscope_reader {
	struct json_stacks stacks;
	struct profile_meta *meta;
	uint32_t n_frames;
};

/* A profile: where its lists begin. */
struct part {
	char type[TYPE_SIZE], unit[TYPE_SIZE], name[WHO_SIZE];
	char of[TYPE_SIZE]; /* "all": it has the samples of the others again */
	struct json_reader samples, weights, events;
};

/* Enters the value of a member of the object that was entered. False: there is none. */
static bool find(struct json_reader *json, const char *wanted)
{
	char key[KEY_SIZE];

	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, wanted) == 0)
			return true;
		json_skip(json);
	}
	return false;
}

static bool is_speedscope(const char *text, size_t size)
{
	const struct json_reader start = { .at = text, .end = text + size };
	struct json_reader profiles = start, shared = start;

	return size > 0 && *text == '{' && json_enter(&profiles, '{') &&
	       find(&profiles, "profiles") && json_enter(&shared, '{') && find(&shared, "shared") &&
	       json_enter(&shared, '{') && find(&shared, "frames");
}

/* ---- frames ---- */

/* Our own files, and some others, give the module where the source is not known. */
static bool is_source(const char *file, double line)
{
	const char *dot = file ? strrchr(file, '.') : NULL;

	return file && (line > 0 || (dot && strncmp(dot, ".so", 3) != 0 && file[0] == '/'));
}

static int read_frame(struct speedscope_reader *reader, struct json_reader *json)
{
	const char *name = NULL, *file = NULL;
	double line = 0;
	char key[KEY_SIZE];
	uint32_t id;
	int r = 0;

	if (!json_enter(json, '{'))
		return -EBADMSG;
	while (r == 0 && json_member(json, key, sizeof(key))) {
		if (strcmp(key, "name") == 0)
			r = json_stacks_text(&reader->stacks, json, &name);
		else if (strcmp(key, "file") == 0)
			r = json_stacks_text(&reader->stacks, json, &file);
		else if (strcmp(key, "line") == 0)
			json_number(json, &line);
		else
			json_skip(json);
	}
	if (r < 0)
		return r;
	return json_stacks_frame(&reader->stacks, name, is_source(file, line) ? NULL : file,
				 is_source(file, line) ? file : NULL,
				 line > 0 && line < UINT32_MAX ? (uint32_t)line : 0, &id);
}

static int read_frames(struct speedscope_reader *reader, struct json_reader json)
{
	int r = 0;

	if (!json_enter(&json, '{') || !find(&json, "shared") || !json_enter(&json, '{') ||
	    !find(&json, "frames") || !json_enter(&json, '['))
		return -EBADMSG;
	while (r == 0 && json_element(&json))
		r = read_frame(reader, &json);
	reader->n_frames = tally_n_addresses(reader->stacks.tally);
	return r == 0 && json.failed ? -EBADMSG : r;
}

/* ---- sampled profiles ---- */

/* Reads a stack into the end of the buffer, so that it is leaf first. */
static int read_sample(struct speedscope_reader *reader, struct json_reader *json,
		       const uint32_t **ret_frames, uint32_t *ret_n)
{
	uint32_t *stack = reader->stacks.stack, n = 0;

	if (!json_enter(json, '['))
		return -EBADMSG;
	while (json_element(json)) {
		double frame = -1;

		json_number(json, &frame);
		if (!(frame >= 0 && frame < reader->n_frames))
			return -EBADMSG;
		if (n == JSON_STACK_MAX)
			return -E2BIG;
		stack[JSON_STACK_MAX - 1 - n++] = (uint32_t)frame;
	}
	*ret_frames = stack + JSON_STACK_MAX - n;
	*ret_n = n;
	return json->failed ? -EBADMSG : 0;
}

static int read_sampled(struct speedscope_reader *reader, struct part *part)
{
	bool weighted = part->weights.at && json_enter(&part->weights, '[');
	const uint32_t *frames;
	uint32_t n;
	int r = 0;

	if (!part->samples.at || !json_enter(&part->samples, '['))
		return -EBADMSG;
	while (r == 0 && json_element(&part->samples)) {
		double weight = 1;

		r = read_sample(reader, &part->samples, &frames, &n);
		if (r == 0 && weighted &&
		    !(json_element(&part->weights) && json_number(&part->weights, &weight)))
			r = -EBADMSG;
		if (r == 0)
			r = json_stacks_add(&reader->stacks, frames, n, false, weight);
	}
	return r == 0 && part->samples.failed ? -EBADMSG : r;
}

/* ---- evented profiles: functions are entered and left ---- */

struct event {
	char type[TYPE_SIZE];
	double at, frame;
};

static int read_event(struct json_reader *json, struct event *ret_event)
{
	char key[KEY_SIZE];

	*ret_event = (struct event){ .at = -1, .frame = -1 };
	if (!json_enter(json, '{'))
		return -EBADMSG;
	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, "type") == 0)
			json_text(json, ret_event->type, sizeof(ret_event->type));
		else if (strcmp(key, "at") == 0)
			json_number(json, &ret_event->at);
		else if (strcmp(key, "frame") == 0)
			json_number(json, &ret_event->frame);
		else
			json_skip(json);
	}
	return json->failed ? -EBADMSG : 0;
}

/* The stack grows down from the end of the buffer. */
static int apply(struct speedscope_reader *reader, const struct event *event, uint32_t *n)
{
	uint32_t *end = reader->stacks.stack + JSON_STACK_MAX;

	if (!(event->frame >= 0 && event->frame < reader->n_frames))
		return -EBADMSG;
	if (strcmp(event->type, "O") == 0) {
		if (*n == JSON_STACK_MAX)
			return -E2BIG;
		++*n;
		end[-(int)*n] = (uint32_t)event->frame;
		return 0;
	}
	if (strcmp(event->type, "C") != 0 || *n == 0 || end[-(int)*n] != (uint32_t)event->frame)
		return -EBADMSG;
	--*n;
	return 0;
}

static int read_evented(struct speedscope_reader *reader, struct part *part)
{
	struct event event;
	double last = 0;
	uint32_t n = 0;
	int r = 0;

	if (!part->events.at || !json_enter(&part->events, '['))
		return -EBADMSG;
	while (r == 0 && json_element(&part->events)) {
		r = read_event(&part->events, &event);
		if (r == 0 && n > 0)
			r = json_stacks_add(&reader->stacks,
					    reader->stacks.stack + JSON_STACK_MAX - n, n, false,
					    event.at - last);
		if (r == 0)
			r = apply(reader, &event, &n);
		last = event.at;
	}
	return r == 0 && part->events.failed ? -EBADMSG : r;
}

/* ---- profiles ---- */

static int read_part(struct speedscope_reader *reader, struct json_reader *json)
{
	struct part part = { .unit = "none", .type = "sampled" };
	char key[KEY_SIZE];

	if (!json_enter(json, '{'))
		return -EBADMSG;
	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, "type") == 0) {
			json_text(json, part.type, sizeof(part.type));
			continue;
		}
		if (strcmp(key, "unit") == 0) {
			json_text(json, part.unit, sizeof(part.unit));
			continue;
		}
		if (strcmp(key, "name") == 0) {
			json_text(json, part.name, sizeof(part.name));
			continue;
		}
		if (strcmp(key, "stacktally") == 0) {
			json_text(json, part.of, sizeof(part.of));
			continue;
		}
		if (strcmp(key, "samples") == 0)
			part.samples = *json;
		else if (strcmp(key, "weights") == 0)
			part.weights = *json;
		else if (strcmp(key, "events") == 0)
			part.events = *json;
		json_skip(json);
	}
	if (strcmp(part.of, "all") == 0)
		return 0;
	if (!json_stacks_unit(&reader->stacks, part.unit, reader->meta))
		return -EXDEV;
	json_stacks_who(&reader->stacks, part.name);
	return strcmp(part.type, "evented") == 0 ? read_evented(reader, &part)
						 : read_sampled(reader, &part);
}

static int read_parts(struct speedscope_reader *reader, struct json_reader *json)
{
	int r = 0;

	if (!json_enter(json, '{') || !find(json, "profiles") || !json_enter(json, '['))
		return -EBADMSG;
	while (r == 0 && json_element(json))
		r = read_part(reader, json);
	return r;
}

static int read_speedscope(const struct import_file *file, struct baseline *base, struct error *err)
{
	struct json_reader json = { .at = file->bytes, .end = file->bytes + file->size };
	struct speedscope_reader reader = { .meta = &base->meta };
	int r = json_stacks_start(&reader.stacks, base->tally, base->names);

	if (r == 0)
		r = read_frames(&reader, json);
	if (r == 0)
		r = read_parts(&reader, &json);
	json_stacks_clear(&reader.stacks);
	return json_stacks_explain(r, &json, err);
}

const struct import_kind speedscope_kind = {
	.name = "speedscope's JSON",
	.knows = is_speedscope,
	.read = read_speedscope,
};
