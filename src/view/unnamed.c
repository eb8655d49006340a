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

/* The frame that exists as code, others being inlined there. */
static void count_address(struct unnamed *unnamed, const struct names *names, uint32_t address,
			  uint64_t count)
{
	const uint32_t others = NAMES_FRAME_KERNEL | NAMES_FRAME_JIT | NAMES_FRAME_UNWIND;
	struct names_address frames;
	struct names_frame frame;

	if (address >= names_n_addresses(names))
		return;
	frames = names_address(names, address);
	frame = names_frame(names, frames.first + frames.n - 1);
	if (frame.flags & others)
		return;
	unnamed->frames += count;
	unnamed->unnamed += is_unnamed(&frame) ? count : 0;
	if (frame.object == NAMES_NONE)
		return;
	unnamed->files[frame.object].frames += count;
	unnamed->files[frame.object].unnamed += is_unnamed(&frame) ? count : 0;
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
	struct unnamed *unnamed = ret_unnamed;

	*unnamed =
		(struct unnamed){ .files = calloc((size_t)n_objects + 1, sizeof(*unnamed->files)) };
	if (!counts || !unnamed->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_objects; i++)
		unnamed->files[i].object = i;
	for (uint32_t i = 0; i < tally_n_stacks(tally); i++) {
		const struct tally_stack *stack = &tally_stacks(tally)[i];
		const uint32_t *addresses = tally_frames(tally, stack);

		for (uint32_t k = 0; counts[i] && k < stack->n_frames; k++)
			count_address(unnamed, names, addresses[k], counts[i]);
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
