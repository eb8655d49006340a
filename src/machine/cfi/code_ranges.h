/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of a file's code for which a source (an FDE, a Go function, known bytes ...) has rows.
 * One list for all sources; merging keeps it ascending and free of overlaps. Must not know: what
 * the sources say.
 */
#ifndef STACKTALLY_CFI_CODE_RANGES_H
#define STACKTALLY_CFI_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct code_range {
	uint32_t begin, end; /* begin < end */
	/* For the source: of an FDE, its CIE, and offset and size of its instructions. */
	uint32_t context, program, size;
	uint16_t source; /* enum unwind_source */
	uint16_t kind;	 /* of an FDE: enum frame_kind; else 0 */
};

struct code_ranges {
	struct code_range *ranges;
	uint32_t n, capacity;
};

/* The most ranges of a list. */
#define CODE_MAX_RANGES (6u << 20)

/* 0, -ENOMEM, -EFBIG. */
int code_ranges_add(struct code_ranges *list, const struct code_range *range);
void code_ranges_free(struct code_ranges *list);

/*
 * Moves the ranges of `more` that begin where `list` covers nothing into `list`, each cut where
 * another one begins. Of ranges in `more` that begin at the same address the last one counts.
 * Adds to `*overlaps` how many were cut or dropped for another one of `more`, and empties `more`.
 * 0, -ENOMEM, -EFBIG.
 */
int code_ranges_merge(struct code_ranges *list, struct code_ranges *more, uint32_t *overlaps);

/* The index of the first range of a merged list that ends above the address, or `n`. */
uint32_t code_ranges_above(const struct code_ranges *list, uint32_t address);
bool code_ranges_cover(const struct code_ranges *list, uint32_t address);

/* An iterator over the code from `begin` to `end` that a merged list does not cover. */
struct code_gaps {
	const struct code_ranges *list;
	uint32_t next; /* range */
	uint64_t begin, end;
};

struct code_gaps code_gaps_of(const struct code_ranges *list, uint64_t begin, uint64_t end);
/* The next gap of `least` bytes or more. False: there is none. */
bool code_gaps_next(struct code_gaps *gaps, uint64_t least, uint64_t *ret_begin, uint64_t *ret_end);

#endif
