// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int history_make(struct history *history, uint32_t max_seconds, size_t max_bytes)
{
	*history = (struct history){ .max = max_seconds, .max_bytes = max_bytes };
	history->ring = calloc(max_seconds, sizeof(*history->ring));
	return history->ring ? 0 : -ENOMEM;
}

static void drop_oldest(struct history *history)
{
	struct second *oldest = &history->ring[history->first];

	history->bytes -= oldest->capacity * sizeof(*oldest->counts);
	free(oldest->counts);
	oldest->counts = NULL;
	history->first = (history->first + 1) % history->max;
	history->n--;
}

void history_clear(struct history *history)
{
	while (history->n > 0)
		drop_oldest(history);
	free(history->ring);
	*history = (struct history){ 0 };
}

int second_add(struct second *second, uint32_t entry, uint64_t count, uint64_t events)
{
	int r;

	if (!count && !events)
		return 0;
	r = grow(&second->counts, &second->capacity, (size_t)second->n_counts + 1);
	if (r < 0)
		return r;
	second->samples += count;
	second->counts[second->n_counts++] = (struct history_count){
		.entry = entry,
		.events = events > UINT32_MAX ? UINT32_MAX : (uint32_t)events,
		.count = count,
	};
	return 0;
}

void history_push(struct history *history, struct second *second)
{
	uint64_t tick = history_newest(history) + 1;
	struct history_count *fitting;

	fitting = second->n_counts
			  ? reallocarray(second->counts, second->n_counts, sizeof(*fitting))
			  : NULL;
	if (fitting) {
		second->counts = fitting;
		second->capacity = second->n_counts;
	}
	if (history->n == history->max)
		drop_oldest(history);
	history->ring[(history->first + history->n) % history->max] = *second;
	history->ring[(history->first + history->n) % history->max].tick = tick;
	history->n++;
	history->bytes += second->capacity * sizeof(*second->counts);
	while (history->bytes > history->max_bytes && history->n > 1)
		drop_oldest(history);
	*second = (struct second){ 0 };
}

uint64_t history_newest(const struct history *history)
{
	return history->n ? history->ring[(history->first + history->n - 1) % history->max].tick
			  : 0;
}

uint64_t history_oldest(const struct history *history)
{
	return history_newest(history) + 1 - history->n;
}

const struct second *history_get(const struct history *history, uint64_t tick)
{
	uint64_t oldest = history_oldest(history);

	if (tick < oldest || tick >= oldest + history->n)
		return NULL;
	return &history->ring[(history->first + (tick - oldest)) % history->max];
}
