// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/aarch64_code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/aarch64_step.h"
#include "cfi/cfi_machine.h"
#include "cfi/code_bytes.h"
#include "cfi/unwind_rows.h"

#define MAX_GAP	 (256u << 10) /* bytes; longer ones are not followed */
#define MAX_CODE (16u << 20)  /* bytes of a file that are followed */

#define SIGNAL_RETURN_WORDS 2

/* Code that lies together and has no CFI. */
struct gap {
	uint64_t begin;
	uint32_t n; /* instructions */
	uint32_t *words;
	struct aarch64_frame *frames; /* at each instruction that was reached */
	uint8_t *seen;		      /* UNSEEN, SEEN, SIGNALS */
	uint32_t *waiting;	      /* instructions that are to be followed; each is once */
	uint32_t n_waiting;
};

enum { UNSEEN, SEEN, SIGNALS };

static void gap_free(struct gap *gap)
{
	free(gap->words);
	free(gap->frames);
	free(gap->seen);
	free(gap->waiting);
}

static int gap_read(struct gap *gap, const struct code_view *code, uint64_t begin, uint64_t end)
{
	gap->begin = (begin + 3) & ~3ull;
	if (gap->begin >= end)
		return 0;
	gap->n = (uint32_t)(end - gap->begin) / 4;
	gap->words = calloc(gap->n + 1, sizeof(*gap->words));
	gap->frames = calloc(gap->n + 1, sizeof(*gap->frames));
	gap->seen = calloc(gap->n + 1, 1);
	gap->waiting = calloc(gap->n + 1, sizeof(*gap->waiting));
	if (!gap->words || !gap->frames || !gap->seen || !gap->waiting)
		return -ENOMEM;
	gap->n = (uint32_t)(code_view_read(code, gap->begin, (uint8_t *)gap->words, gap->n * 4ul) /
			    4);
	return 0;
}

static bool same(const struct aarch64_frame *a, const struct aarch64_frame *b)
{
	return a->depth == b->depth && a->fp == b->fp && a->lr == b->lr;
}

/* A way leads to an instruction; false: another way came there with another frame. */
static bool reach(struct gap *gap, uint32_t at, const struct aarch64_frame *frame)
{
	if (gap->seen[at])
		return same(&gap->frames[at], frame);
	gap->seen[at] = SEEN;
	gap->frames[at] = *frame;
	gap->waiting[gap->n_waiting++] = at;
	return true;
}

static bool returns_from_signal(const struct gap *gap, uint32_t at)
{
	return at + SIGNAL_RETURN_WORDS <= gap->n &&
	       code_matches((const uint8_t *)&gap->words[at], SIGNAL_RETURN_WORDS * 4,
			    cfi_machine_of(EM_AARCH64)->signal_returns[0]);
}

static bool is_clean(const struct aarch64_frame *frame)
{
	return !frame->depth && !frame->fp && !frame->lr;
}

/* The linker's stub that calls the dynamic linker leaves it x16 and x30 on the stack. */
static bool is_lazy(uint32_t word, const struct aarch64_frame *frame)
{
	return word == 0xd61f0220 && frame->depth == 16 && frame->lr == 8 &&
	       !frame->fp; /* br x17 */
}

/* Follows one instruction. */
static bool follow(struct gap *gap, uint32_t at)
{
	struct aarch64_frame frame = gap->frames[at];
	uint64_t target = 0, to;
	enum aarch64_leads leads;

	if (returns_from_signal(gap, at)) {
		gap->seen[at] = gap->seen[at + 1] = SIGNALS;
		/* Walks look up the byte before what the kernel returns to: there is a nop. */
		if (at > 0 && aarch64_is_padding(gap->words[at - 1]))
			gap->seen[at - 1] = SIGNALS;
		return true;
	}
	leads = aarch64_step(gap->words[at], gap->begin + at * 4ull, &frame, &target);
	if (leads == AARCH64_RETURN)
		return is_clean(&frame) || is_lazy(gap->words[at], &frame);
	if (leads == AARCH64_UNKNOWN || (leads == AARCH64_ON && at + 1 >= gap->n))
		return false;
	if ((leads == AARCH64_ON || leads == AARCH64_BRANCH) &&
	    (at + 1 >= gap->n || !reach(gap, at + 1, &frame)))
		return false;
	if (leads != AARCH64_BRANCH && leads != AARCH64_JUMP)
		return true;
	to = (target - gap->begin) / 4;
	/* Out of the gap: a call that does not return here. */
	return to < gap->n && target >= gap->begin ? reach(gap, (uint32_t)to, &frame)
						   : is_clean(&frame);
}

/* Follows all ways from each function's first instruction: what no way has led to begins one. */
static bool follow_all(struct gap *gap)
{
	const struct aarch64_frame entered = { 0 };

	for (uint32_t at = 0; at < gap->n; at++) {
		if (gap->seen[at] || aarch64_is_padding(gap->words[at]))
			continue;
		reach(gap, at, &entered);
		while (gap->n_waiting)
			if (!follow(gap, gap->waiting[--gap->n_waiting]))
				return false;
	}
	return true;
}

static struct wire_rule rule_of(const struct gap *gap, uint32_t at)
{
	const struct aarch64_frame *frame = &gap->frames[at];
	struct wire_rule rule = { .cfa = WIRE_CFA_SP, .cfa_offset = frame->depth };

	if (gap->seen[at] == SIGNALS)
		return (struct wire_rule){ .cfa = WIRE_CFA_SP, .ra = WIRE_RA_SIGNAL };
	if (frame->fp) {
		rule.fp = WIRE_FP_CFA;
		rule.fp_offset = -frame->fp;
	}
	if (frame->lr) {
		rule.extra = -frame->lr;
	} else {
		rule.ra = WIRE_RA_REG;
		rule.reg = cfi_machine_of(EM_AARCH64)->link;
	}
	return rule;
}

static int put(const struct gap *gap, struct rule_table *rules, struct code_ranges *ranges)
{
	for (uint32_t at = 0, next; at < gap->n; at = next) {
		struct wire_rule rule = rule_of(gap, at), other;
		struct code_range range = { .source = UNWIND_CODE };
		int r;

		next = at + 1;
		if (!gap->seen[at])
			continue;
		for (; next < gap->n && gap->seen[next]; next++) {
			other = rule_of(gap, next);
			if (memcmp(&other, &rule, sizeof(rule)) != 0)
				break;
		}
		range.begin = (uint32_t)(gap->begin + at * 4ull);
		range.end = (uint32_t)(gap->begin + next * 4ull);
		range.context = rule_table_add(rules, &rule);
		r = code_ranges_add(ranges, &range);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_in_gap(const struct code_view *code, uint64_t begin, uint64_t end,
		       struct rule_table *rules, struct code_ranges *ranges)
{
	own(gap_free) struct gap gap = { 0 };
	int r = gap_read(&gap, code, begin, end);

	if (r < 0 || !gap.n || !follow_all(&gap))
		return r;
	return put(&gap, rules, ranges);
}

/* Linkers put code between data, in the same segment: only sections tell where it is. */
static const char *const sections[] = { ".init", ".plt", ".iplt", ".text", ".fini" };

int aarch64_code_find(const struct code_view *code, const struct code_ranges *known,
		      struct rule_table *rules, struct code_ranges *ranges)
{
	uint64_t left = MAX_CODE, begin, end;
	int r = 0;

	for (uint32_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && r == 0; i++) {
		const struct elf_section *section = elf_file_section(code->elf, sections[i]);
		struct code_gaps gaps;

		if (!section || section->address > UINT32_MAX ||
		    section->size > UINT32_MAX - section->address)
			continue;
		gaps = code_gaps_of(known, section->address, section->address + section->size);
		while (r == 0 && code_gaps_next(&gaps, 4, &begin, &end)) {
			if (end - begin > MAX_GAP || end - begin > left)
				continue;
			left -= end - begin;
			r = find_in_gap(code, begin, end, rules, ranges);
		}
	}
	return r;
}
