/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pieces of a file's code that something is known of: which addresses, and where to look. One
 * list for all sources; merging makes it ascending and free of overlaps. Must not know: what the
 * sources say.
 */
#ifndef STACKTALLY_CFI_CODE_RANGES_H
#define STACKTALLY_CFI_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct code_range {
	uint32_t begin, end; /* begin < end */
	/* The source's own: for an FDE its CIE, and its instructions in the section. */
	uint32_t context, program, size;
	uint32_t source; /* enum unwind_source */
};

struct code_ranges {
	struct code_range *ranges;
	uint32_t n, room;
};

/* The most ranges of a list. */
#define CODE_MAX_RANGES (6u << 20)

/* 0, -ENOMEM, -EFBIG. */
int code_ranges_add(struct code_ranges *list, const struct code_range *range);
void code_ranges_free(struct code_ranges *list);

/*
 * Takes over what `more` says of code that `list` does not cover: ranges that begin there, cut
 * where another one begins. Of ranges in `more` that begin at the same address the last one
 * counts. Adds to `*overlaps` how many were cut or dropped for one in the same list. `more` is
 * empty then.
 */
int code_ranges_merge(struct code_ranges *list, struct code_ranges *more, uint32_t *overlaps);

/* The first of the merged list that ends above the address: its position, or `n`. */
uint32_t code_ranges_above(const struct code_ranges *list, uint32_t address);
bool code_ranges_cover(const struct code_ranges *list, uint32_t address);

/* The stretches of code that the merged list does not cover, one by one. */
struct code_gaps {
	const struct code_ranges *list;
	uint32_t next;	   /* range */
	uint64_t at, last; /* what is left */
};

struct code_gaps code_gaps_of(const struct code_ranges *list, uint64_t begin, uint64_t end);
/* The next one that has `least` bytes; false: there is none. */
bool code_gaps_next(struct code_gaps *gaps, uint64_t least, uint64_t *ret_begin, uint64_t *ret_end);

#endif
