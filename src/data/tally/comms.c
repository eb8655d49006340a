// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/comms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define N_DESCRIBED 3

int comms_add(struct comms *comms, const char comm[static TALLY_COMM_SIZE], uint64_t count)
{
	struct comm_count new = { .count = count };
	struct index_cursor cursor;
	uint64_t hash;
	int r;

	memcpy(new.comm, comm, strnlen(comm, TALLY_COMM_SIZE));
	hash = hash_bytes(new.comm, sizeof(new.comm));
	for (uint32_t at = index_first(&comms->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&comms->index, &cursor)) {
		if (strcmp(comms->list[at].comm, new.comm) == 0) {
			comms->list[at].count += count;
			return 0;
		}
	}
	if (comms->n == COMMS_MAX)
		return 0;
	r = grow(&comms->list, &comms->capacity, (size_t)comms->n + 1);
	if (r == 0)
		r = index_add(&comms->index, hash, comms->n);
	if (r == 0)
		comms->list[comms->n++] = new;
	return r;
}

void comms_clear(struct comms *comms)
{
	free(comms->list);
	index_free(&comms->index);
	*comms = (struct comms){ 0 };
}

/* The most frequent one below `before`, in the order of count and position. */
static uint32_t next_of(const struct comms *comms, uint32_t before)
{
	uint32_t best = INDEX_NONE;

	for (uint32_t i = 0; i < comms->n; i++) {
		uint64_t count = comms->list[i].count;

		if (before != INDEX_NONE && (count > comms->list[before].count ||
					     (count == comms->list[before].count && i <= before)))
			continue;
		if (count > 0 && (best == INDEX_NONE || count > comms->list[best].count))
			best = i;
	}
	return best;
}

void comms_describe(const struct comms *comms, char *buffer, size_t size)
{
	uint32_t at = INDEX_NONE;
	size_t used = 0;

	buffer[0] = '\0';
	for (int i = 0; i < N_DESCRIBED; i++) {
		int n;

		at = next_of(comms, at);
		if (at == INDEX_NONE)
			return;
		n = snprintf(buffer + used, size - used, "%s%s (%" PRIu64 ")", i ? ", " : "",
			     comms->list[at].comm, comms->list[at].count);
		if (n < 0 || (size_t)n >= size - used) {
			buffer[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}
