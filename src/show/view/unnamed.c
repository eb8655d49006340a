// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/unnamed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line is due from this share of all user frames on. */
#define LEAST_PERCENT 10
#define LEAST_FRAMES  100
#define MAX_SHOWN     3 /* files */

static bool is_unnamed(const struct names_frame *frame)
{
	return !frame->name || frame->flags & NAMES_FRAME_IDENTITY;
}

/* How often each stack was counted as a user stack. NULL: no memory. */
static uint64_t *count_stacks(const struct tally *tally)
{
	uint32_t n = tally_n_stacks(tally);
	uint64_t *counts = calloc((size_t)n + 1, sizeof(*counts));

	for (uint32_t i = 0; counts && i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];

		if (entry->user < n)
			counts[entry->user] += entry->count;
	}
	return counts;
}

/* What is counted for an address, so that a report of millions of frames looks at few bytes. */
struct place {
	uint32_t object : 30; /* NO_OBJECT: in no file */
	uint32_t counted : 1; /* user code that can have a symbol */
	uint32_t unnamed : 1;
};

#define NO_OBJECT ((1u << 30) - 1)

/* That of the frame that exists as code, others being inlined there. */
static struct place place_of(const struct names *names, uint32_t address)
{
	const uint32_t others = NAMES_FRAME_KERNEL | NAMES_FRAME_JIT | NAMES_FRAME_UNWIND;
	struct names_address frames = names_address(names, address);
	struct names_frame frame = names_frame(names, frames.first + frames.n - 1);

	return (struct place){ .object = frame.object < NO_OBJECT ? frame.object : NO_OBJECT,
			       .counted = !(frame.flags & others),
			       .unnamed = is_unnamed(&frame) };
}

static struct place *find_places(const struct names *names, uint32_t n)
{
	struct place *places = calloc((size_t)n + 1, sizeof(*places));

	for (uint32_t i = 0; places && i < n && i < names_n_addresses(names); i++)
		places[i] = place_of(names, i);
	return places;
}

static void count_place(struct unnamed *unnamed, struct place place, uint64_t count)
{
	uint64_t without = place.unnamed ? count : 0;

	if (!place.counted)
		return;
	unnamed->frames += count;
	unnamed->unnamed += without;
	if (place.object == NO_OBJECT)
		return;
	unnamed->files[place.object].frames += count;
	unnamed->files[place.object].unnamed += without;
}

static int by_unnamed(const void *left, const void *right)
{
	const struct unnamed_file *a = left, *b = right;

	if (a->unnamed != b->unnamed)
		return a->unnamed > b->unnamed ? -1 : 1;
	if (a->frames != b->frames)
		return a->frames > b->frames ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

int unnamed_count(const struct tally *tally, const struct names *names, struct unnamed *ret_unnamed)
{
	uint32_t n_objects = names_n_objects(names);
	own(own_free) uint64_t *counts = count_stacks(tally);
	own(own_free) struct place *places = find_places(names, tally_n_addresses(tally));
	struct unnamed *unnamed = ret_unnamed;

	*unnamed =
		(struct unnamed){ .files = calloc((size_t)n_objects + 1, sizeof(*unnamed->files)) };
	if (!counts || !places || !unnamed->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_objects; i++)
		unnamed->files[i].object = i;
	for (uint32_t i = 0; i < tally_n_stacks(tally); i++) {
		const struct tally_stack *stack = &tally_stacks(tally)[i];
		const uint32_t *addresses = tally_frames(tally, stack);

		for (uint32_t k = 0; counts[i] && k < stack->n_frames; k++)
			count_place(unnamed, places[addresses[k]], counts[i]);
	}
	qsort(unnamed->files, n_objects, sizeof(*unnamed->files), by_unnamed);
	while (unnamed->n < n_objects && unnamed->files[unnamed->n].frames)
		unnamed->n++;
	return 0;
}

void unnamed_clear(struct unnamed *unnamed)
{
	free(unnamed->files);
	*unnamed = (struct unnamed){ 0 };
}

void unnamed_line(const struct unnamed *unnamed, const struct names *names, const char *command,
		  char ret_line[UNNAMED_LINE_SIZE])
{
	int used;

	ret_line[0] = '\0';
	if (unnamed->frames < LEAST_FRAMES || !unnamed->n || !unnamed->files[0].unnamed ||
	    unnamed->unnamed <= unnamed->frames / 100 * LEAST_PERCENT)
		return;
	used = snprintf(ret_line, UNNAMED_LINE_SIZE, "%.0f %% of user frames have no symbol:",
			100.0 * (double)unnamed->unnamed / (double)unnamed->frames);
	for (uint32_t i = 0; i < MAX_SHOWN && i < unnamed->n && unnamed->files[i].unnamed; i++) {
		const struct unnamed_file *file = &unnamed->files[i];
		const char *path = names_objects(names)[file->object].path;
		const char *slash = strrchr(path, '/');

		used += snprintf(ret_line + used, UNNAMED_LINE_SIZE - (size_t)used,
				 "%s %.100s (%.0f %%)", i ? "," : "", slash ? slash + 1 : path,
				 100.0 * (double)file->unnamed / (double)unnamed->unnamed);
	}
	snprintf(ret_line + used, UNNAMED_LINE_SIZE - (size_t)used,
		 "; %s --symbols tells how to get them", command);
}
