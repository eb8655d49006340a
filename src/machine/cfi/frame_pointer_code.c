// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/frame_pointer_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/code_bytes.h"
#include "cfi/instruction.h"
#include "cfi/unwind_rows.h"

/* Bytes. */
#define MIN_SIZE (64u << 10)  /* of a gap that is searched */
#define MAX_READ (256u << 20) /* of a file */
#define PIECE	 (1u << 20)   /* of a gap, judged by itself */

/* A piece has a prologue for each so many bytes at least; V8's have one for each 860. */
#define BYTES_PER_PROLOGUE 4096

/*
 * And so many prologues for each function that returns without having a frame. Code that keeps
 * frame pointers has 3 or more (many of these returns are data), code that sometimes does
 * (assembly, Free Pascal's) 0.5 at most.
 */
#define PROLOGUES_PER_BARE_RETURN 2

#define PROLOGUE      "55 48 89 e5" /* push %rbp; mov %rsp,%rbp */
#define PROLOGUE_SIZE 4
#define LONGEST	      6 /* bytes of the longest pattern */

#define FUNCTION_ALIGNMENT 16

struct framed {
	const struct code_view *code;
	struct rule_table *rules;
	struct code_ranges *ranges;
	uint16_t in_frame, without, pushed;
	size_t left; /* bytes of the file that may still be read */
};

static uint16_t rule_of(struct framed *framed, enum wire_cfa cfa, int depth, bool fp_saved)
{
	const struct wire_rule rule = { .cfa = cfa,
					.cfa_offset = depth,
					.ra = WIRE_RA_CFA | WIRE_RULE_FRAME_POINTER,
					.fp = fp_saved ? WIRE_FP_CFA : WIRE_FP_SAME,
					.fp_offset = fp_saved ? -16 : 0 };

	return rule_table_add(framed->rules, &rule);
}

static int add(struct framed *framed, uint64_t begin, uint64_t end, uint16_t rule)
{
	const struct code_range range = { .begin = (uint32_t)begin,
					  .end = (uint32_t)end,
					  .context = rule,
					  .source = UNWIND_CODE };

	return begin < end ? code_ranges_add(framed->ranges, &range) : 0;
}

static uint32_t count_prologues(const uint8_t *bytes, size_t size)
{
	uint32_t n = 0;

	for (size_t at = 0; at + PROLOGUE_SIZE <= size; at++)
		n += bytes[at] == 0x55 && code_matches(bytes + at, size - at, PROLOGUE);
	return n;
}

/* Counts `ret` without `pop %rbp` or `leave` before it that ends a function: the next is aligned.
 */
static uint32_t count_bare_returns(uint64_t begin, const uint8_t *bytes, size_t size)
{
	uint32_t n = 0;

	for (size_t at = 1; at < size; at++) {
		size_t end = at + 1, padding;

		if (bytes[at] != 0xc3 || bytes[at - 1] == 0x5d || bytes[at - 1] == 0xc9)
			continue;
		while ((begin + end) % FUNCTION_ALIGNMENT &&
		       (padding = instruction_padding(bytes + end, size - end)) != 0)
			end += padding;
		n += (begin + end) % FUNCTION_ALIGNMENT == 0;
	}
	return n;
}

/* Whether all of the code keeps frame pointers. */
static bool is_framed(uint64_t begin, const uint8_t *bytes, size_t size)
{
	uint32_t prologues = count_prologues(bytes, size);

	return prologues > size / BYTES_PER_PROLOGUE &&
	       prologues >= PROLOGUES_PER_BARE_RETURN * count_bare_returns(begin, bytes, size);
}

/* The size of the return or jump after `pop %rbp`; 0: there is none. */
static size_t leaving_size(const uint8_t *code, size_t size)
{
	if (code_matches(code, size, "5d c3"))
		return 1;
	if (code_matches(code, size, "5d c2 ?? 00"))
		return 3;
	return code_matches(code, size, "5d e9 ?? ?? ?? ??") ? 5 : 0;
}

/* Adds the ranges of the first `size` bytes; a pattern may reach up to `readable`. */
static int find_rows(struct framed *framed, uint64_t begin, const uint8_t *bytes, size_t size,
		     size_t readable)
{
	size_t done = 0, leaving;
	int r;

	for (size_t at = 0; at < size; at++) {
		const uint8_t *code = bytes + at;

		if (*code == 0x55 && code_matches(code, readable - at, PROLOGUE)) {
			r = add(framed, begin + done, begin + at, framed->in_frame);
			if (r < 0)
				return r;
			r = add(framed, begin + at, begin + at + 1, framed->without);
			if (r < 0)
				return r;
			done = at + PROLOGUE_SIZE;
			r = add(framed, begin + at + 1, begin + done, framed->pushed);
			if (r < 0)
				return r;
			at = done - 1;
			continue;
		}
		leaving = *code == 0x5d ? leaving_size(code, readable - at) : 0;
		if (!leaving)
			continue;
		r = add(framed, begin + done, begin + at + 1, framed->in_frame);
		if (r < 0)
			return r;
		done = at + 1 + leaving;
		r = add(framed, begin + at + 1, begin + done, framed->without);
		if (r < 0)
			return r;
		at = done - 1;
	}
	return add(framed, begin + done, begin + size, framed->in_frame);
}

static int search_gap(struct framed *framed, uint64_t begin, uint64_t end, uint8_t *bytes)
{
	int r = 0;

	while (begin < end && framed->left && !r) {
		size_t size = end - begin > PIECE ? PIECE : end - begin;
		size_t readable = size + LONGEST;

		if (end - begin < readable)
			readable = end - begin;
		readable = code_view_read(framed->code, begin, bytes, readable);
		if (readable < size)
			size = readable;
		if (!size)
			return 0;
		if (is_framed(begin, bytes, readable))
			r = find_rows(framed, begin, bytes, size, readable);
		framed->left -= size < framed->left ? size : framed->left;
		begin += size;
	}
	return r;
}

static int search_segment(struct framed *framed, const struct code_ranges *known,
			  const struct code_segment *segment, uint8_t *bytes)
{
	struct code_gaps gaps = code_gaps_of(known, segment->begin, segment->end);
	uint64_t begin, end;
	int r = 0;

	while (!r && code_gaps_next(&gaps, MIN_SIZE, &begin, &end))
		r = search_gap(framed, begin, end, bytes);
	return r;
}

int frame_pointer_code_find(const struct code_view *code, const struct code_ranges *known,
			    struct rule_table *rules, struct code_ranges *ranges)
{
	struct framed framed = { .code = code, .rules = rules, .ranges = ranges, .left = MAX_READ };
	uint8_t *bytes = malloc(PIECE + LONGEST);
	int r = 0;

	if (!bytes)
		return -ENOMEM;
	framed.in_frame = rule_of(&framed, WIRE_CFA_FP, 16, true);
	framed.without = rule_of(&framed, WIRE_CFA_SP, 8, false);
	framed.pushed = rule_of(&framed, WIRE_CFA_SP, 16, true);
	for (uint32_t i = 0; i < code->n && !r; i++)
		r = search_segment(&framed, known, &code->segments[i], bytes);
	free(bytes);
	return r;
}
