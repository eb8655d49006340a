// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/bare_code.h"

#include <errno.h>

#include "cfi/code_view.h"
#include "cfi/frame_lookup.h"

#define LEAST	   (512u << 10) /* bytes of a piece */
#define PROBE	   (LEAST / 2)	/* each piece contains an address that is looked at */
#define MAX_PROBES 4096		/* for 1 GiB of code */

struct piece {
	uint64_t begin, end;
};

/* Where the first function behind `address` begins, which one at `before` precedes; or `end`. */
static uint64_t next_function(struct frame_lookup *frames, uint64_t before, uint64_t address,
			      uint64_t end)
{
	struct frame_function found;
	uint64_t last = end;

	while (address < last) {
		uint64_t middle = address + (last - address) / 2;

		/* What matters is the function at `middle` or before. */
		frame_lookup_find(frames, middle, &found);
		if (found.end && found.begin > before)
			last = middle;
		else
			address = middle + 1;
	}
	return last;
}

/* The piece without functions that contains an address; empty: a function has it. */
static struct piece piece_at(struct frame_lookup *frames, const struct code_segment *segment,
			     uint64_t address)
{
	struct frame_function found;
	uint64_t end;

	if (frame_lookup_find(frames, address, &found) || !found.end ||
	    found.begin < segment->begin)
		return (struct piece){ 0 };
	end = next_function(frames, found.begin, address, segment->end);
	return end < segment->end ? (struct piece){ found.end, end } : (struct piece){ 0 };
}

int bare_code_find(const struct elf_file *elf, uint64_t *ret_begin, uint64_t *ret_end)
{
	struct piece largest = { 0 };
	struct frame_lookup frames;
	struct code_view view;
	uint32_t probes = 0;
	int r;

	code_view_open(&view, elf, UINT32_MAX);
	r = frame_lookup_open(&frames, &view, MAX_PROBES);
	for (uint32_t i = 0; r == 0 && i < view.n; i++) {
		const struct code_segment *segment = &view.segments[i];
		uint64_t at = segment->begin;

		while (at < segment->end && probes++ < MAX_PROBES) {
			struct piece piece = piece_at(&frames, segment, at);

			if (piece.end - piece.begin > largest.end - largest.begin)
				largest = piece;
			at = (piece.end > at ? piece.end : at) + PROBE;
		}
	}
	frame_lookup_close(&frames);
	if (r == 0 && largest.end - largest.begin < LEAST)
		r = -ENODATA;
	*ret_begin = largest.begin;
	*ret_end = largest.end;
	return r;
}
