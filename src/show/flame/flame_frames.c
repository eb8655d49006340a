// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"

struct flame_frames {
	struct pool *strings;
	struct flame_frame *list;
	uint32_t n, capacity;
	struct index index;
	struct bytes clean; /* a buffer for making names printable */
};

int flame_frames_new(struct flame_frames **ret_frames)
{
	struct flame_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	bytes_start(&frames->clean, NULL);
	if (pool_new(&frames->strings) < 0) {
		free(frames);
		return -ENOMEM;
	}
	*ret_frames = frames;
	return 0;
}

void flame_frames_free(struct flame_frames *frames)
{
	if (!frames)
		return;
	pool_free(frames->strings);
	free(frames->list);
	index_free(&frames->index);
	bytes_clear(&frames->clean);
	free(frames);
}

/* The printable form of the string, from the pool: equal ones have equal addresses. */
static const char *shown(struct flame_frames *frames, const char *string)
{
	struct bytes *clean = &frames->clean;
	size_t size = strlen(string);

	clean->used = 0;
	bytes_name(clean, string, size < FLAME_NAME_MAX ? size : FLAME_NAME_MAX);
	if (size > FLAME_NAME_MAX) {
		/* A character that was cut has become question marks. */
		while (clean->used > 0 && clean->start[clean->used - 1] == '?')
			clean->used--;
		bytes_string(clean, "...");
	}
	if (clean->failed)
		return NULL;
	return pool_string_n(frames->strings, clean->used ? clean->start : "", clean->used);
}

static uint64_t hash_frame(const struct flame_frame *frame)
{
	uint64_t hash = hash_bytes(frame->name, strlen(frame->name));

	hash = hash_u64(hash + hash_bytes(frame->module, strlen(frame->module)) * 3);
	hash ^= (uint64_t)frame->tgid << 32 | frame->tid;
	return hash_u64(hash * 31 + (uint64_t)frame->kind * 2 + frame->kernel);
}

static bool equal(const struct flame_frame *a, const struct flame_frame *b)
{
	return a->name == b->name && a->module == b->module && a->kind == b->kind &&
	       a->kernel == b->kernel && a->tgid == b->tgid && a->tid == b->tid;
}

int flame_frames_add(struct flame_frames *frames, const struct flame_frame *frame,
		     uint32_t *ret_number)
{
	struct flame_frame it = *frame;
	struct index_cursor cursor;
	int r;

	it.name = shown(frames, frame->name);
	it.module = shown(frames, frame->module ? frame->module : "");
	if (!it.name || !it.module)
		return -ENOMEM;
	it.hash = hash_frame(&it);
	for (uint32_t at = index_first(&frames->index, it.hash, &cursor); at != INDEX_NONE;
	     at = index_next(&frames->index, &cursor)) {
		if (equal(&frames->list[at], &it)) {
			*ret_number = at;
			return 0;
		}
	}
	r = grow(&frames->list, &frames->capacity, (size_t)frames->n + 1);
	if (r < 0)
		return r;
	r = index_add(&frames->index, it.hash, frames->n);
	if (r < 0)
		return r;
	frames->list[frames->n] = it;
	*ret_number = frames->n++;
	return 0;
}

uint32_t flame_frames_n(const struct flame_frames *frames)
{
	return frames->n;
}

const struct flame_frame *flame_frames_get(const struct flame_frames *frames, uint32_t number)
{
	return &frames->list[number];
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int flame_frames_compare(const struct flame_frames *frames, uint32_t a, uint32_t b)
{
	const struct flame_frame *one = &frames->list[a], *other = &frames->list[b];
	int r = 0;

	if (a == b)
		return 0;
	if (one->name != other->name)
		r = strcmp(one->name, other->name);
	if (r == 0 && one->module != other->module)
		r = strcmp(one->module, other->module);
	if (r == 0)
		r = order(one->kind, other->kind);
	if (r == 0)
		r = order(one->kernel, other->kernel);
	if (r == 0)
		r = order(one->tgid, other->tgid);
	return r ? r : order(one->tid, other->tid);
}
