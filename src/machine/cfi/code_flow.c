// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/code_flow.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cfi/flow_internal.h"
#include "cfi/unwind_rows.h"

/* Bytes. */
#define MIN_SIZE 64u	     /* of a gap that is searched */
#define PIECE	 (2u << 20)  /* of a gap, searched by itself */
#define MAX_READ (64u << 20) /* of a file */

#define MAX_RETRIES 4

/*
 * After TRIED instructions, a piece and the rest of the file are given up if fewer than one in
 * ONE_IN belongs to an accepted function: GHC's code keeps its stack elsewhere.
 */
#define TRIED  (1u << 16)
#define ONE_IN 8

/* ---- a piece of a gap ---- */

static bool is_padding_byte(uint8_t byte)
{
	return byte == 0x90 || byte == 0xcc;
}

/* Whether a function may begin there: behind a return, a jump or padding. */
static bool may_begin(const struct flow *flow, uint32_t at)
{
	if (flow->marks[at] & (BEGINS | CALLED) || at == 0)
		return true;
	if ((flow->address + at) % FLOW_ALIGNMENT)
		return false;
	if (!memchr("\x90\xcc\x00", flow->bytes[at - 1], 3))
		return false;
	/* Bytes of a nop may have any value. */
	for (uint32_t size = 2; size < FLOW_ALIGNMENT && size <= at; size++) {
		if (instruction_padding(flow->bytes + at - size, size) == size)
			return true;
	}
	return at > 1 && is_padding_byte(flow->bytes[at - 1]) &&
	       (flow->bytes[at - 2] == 0xc3 || is_padding_byte(flow->bytes[at - 2]));
}

static void follow_called(struct flow *flow)
{
	while (flow->called.n && !flow->error) {
		uint32_t from = flow->called.numbers[--flow->called.n];

		if (!(flow->marks[from] & STATE))
			flow_follow_function(flow, from);
		else if (!flow_is_known(flow, from))
			flow_function_of(flow, from)->contradicted = true;
	}
}

static bool is_hopeless(const struct flow *flow)
{
	return flow->steps > TRIED && flow->steps / ONE_IN > flow->accepted;
}

static void follow_once(struct flow *flow)
{
	for (uint32_t at = 0; at < flow->size && !flow->error && !is_hopeless(flow); at++) {
		uint32_t begin;

		if (flow->marks[at] & STATE || !may_begin(flow, at))
			continue;
		begin = flow_behind_padding(flow, at);
		if (begin >= flow->size || flow->marks[begin] & STATE)
			continue;
		flow_follow_function(flow, begin);
		follow_called(flow);
	}
}

/* Follows again what was not accepted because its callees were not known yet. */
static void follow_again(struct flow *flow)
{
	uint32_t n = flow->retry.n;

	for (uint32_t i = 0; i < n && !flow->error && !is_hopeless(flow); i++) {
		if (!(flow->marks[flow->retry.numbers[i]] & STATE))
			flow_follow_function(flow, flow->retry.numbers[i]);
		follow_called(flow);
	}
	if (flow->error)
		return;
	flow->retry.n -= n;
	memmove(flow->retry.numbers, flow->retry.numbers + n,
		flow->retry.n * sizeof(*flow->retry.numbers));
}

static void follow_piece(struct flow *flow)
{
	uint32_t before;

	flow->steps = 0;
	flow->accepted = 0;
	follow_once(flow);
	for (int i = 0; i < MAX_RETRIES && flow->retry.n && !flow->error; i++) {
		before = flow->n_functions;
		follow_again(flow);
		if (flow->n_functions == before)
			break;
	}
}

static int add_range(struct flow *flow, uint32_t begin, uint32_t end, uint16_t rule)
{
	const struct code_range range = { .begin = (uint32_t)(flow->address + begin),
					  .end = (uint32_t)(flow->address + end),
					  .context = rule,
					  .source = UNWIND_CODE };

	return begin < end ? code_ranges_add(flow->ranges, &range) : 0;
}

static int rules_to_ranges(struct flow *flow)
{
	uint32_t begin = 0, end = 0, at = 0;
	uint16_t rule = RULE_GAP;
	int r = 0;

	while (at < flow->size && !r) {
		uint32_t number = flow->marks[at] & STATE;
		struct wire_rule of;
		uint16_t next;

		if (!number) {
			at++;
			continue;
		}
		next = RULE_GAP;
		if ((flow->marks[at] & CERTAIN || !flow_function_of(flow, at)->contradicted) &&
		    flow_rule(&flow->states[number], &of))
			next = rule_table_add(flow->rules, &of);
		if (at != end || next != rule) {
			if (rule != RULE_GAP)
				r = add_range(flow, begin, end, rule);
			begin = at;
			rule = next;
		}
		end = at + instruction_decode(flow->bytes + at, flow->size - at).size;
		at = end;
	}
	return r || rule == RULE_GAP ? r : add_range(flow, begin, end, rule);
}

/* Allocates as needed: few files have such code, and few of those much. */
static int make_room(struct flow *flow, uint32_t size)
{
	if (size <= flow->capacity)
		return 0;
	free(flow->bytes);
	free(flow->marks);
	free(flow->owners);
	flow->capacity = 0;
	flow->bytes = malloc(size);
	flow->marks = malloc(size * sizeof(*flow->marks));
	flow->owners = malloc(size * sizeof(*flow->owners));
	if (!flow->bytes || !flow->marks || !flow->owners)
		return -ENOMEM;
	flow->capacity = size;
	return 0;
}

static int search_gap(struct flow *flow, const struct code_view *code, uint64_t begin, uint64_t end)
{
	int r = 0;

	while (begin < end && flow->left && !r) {
		size_t size = end - begin > PIECE ? PIECE : end - begin;

		r = make_room(flow, (uint32_t)size);
		if (r)
			return r;
		size = code_view_read(code, begin, flow->bytes, size);
		if (!size)
			return 0;
		flow->address = begin;
		flow->size = (uint32_t)size;
		flow->n_states = 0;
		flow->called.n = 0;
		flow->retry.n = 0;
		flow->n_functions = 0;
		memset(flow->marks, 0, size * sizeof(*flow->marks));
		index_free(&flow->by_state);
		follow_piece(flow);
		r = flow->error ? flow->error : rules_to_ranges(flow);
		flow->left -= size < flow->left && !is_hopeless(flow) ? (uint32_t)size : flow->left;
		begin += size;
	}
	return r;
}

/* Segments may hold data, too; sections, if there are any, tell where code is. */
static int search_code(struct flow *flow, const struct code_view *code, uint64_t begin,
		       uint64_t end)
{
	const uint64_t is_code = SHF_ALLOC | SHF_EXECINSTR;
	const struct elf_file *elf = code->elf;
	int r = 0;

	if (elf->n_sections < 2)
		return search_gap(flow, code, begin, end);
	for (uint32_t i = 1; i < elf->n_sections && !r; i++) {
		const struct elf_section *section = &elf->sections[i];
		uint64_t from = section->address > begin ? section->address : begin;
		uint64_t left = section->address <= begin
					? section->size - (begin - section->address)
					: section->size;

		if ((section->flags & is_code) != is_code || from >= end ||
		    (section->address <= begin && begin - section->address >= section->size))
			continue;
		if (left > end - from)
			left = end - from;
		if (left >= MIN_SIZE)
			r = search_gap(flow, code, from, from + left);
	}
	return r;
}

static int search_segment(struct flow *flow, const struct code_view *code,
			  const struct code_ranges *known, const struct code_segment *segment)
{
	struct code_gaps gaps = code_gaps_of(known, segment->begin, segment->end);
	uint64_t begin, end;
	int r = 0;

	while (!r && code_gaps_next(&gaps, MIN_SIZE, &begin, &end))
		r = search_code(flow, code, begin, end);
	return r;
}

static void free_flow(struct flow *flow)
{
	free(flow->bytes);
	free(flow->marks);
	free(flow->owners);
	free(flow->functions);
	free(flow->states);
	index_free(&flow->by_state);
	free(flow->paths);
	free(flow->mine.numbers);
	free(flow->called.numbers);
	free(flow->retry.numbers);
}

int code_flow_find(const struct code_view *code, const struct code_ranges *known,
		   struct rule_table *rules, struct code_ranges *ranges)
{
	struct flow flow = { .rules = rules, .ranges = ranges, .left = MAX_READ };
	int r = 0;

	if (getrandom(&flow.seed, sizeof(flow.seed), 0) != sizeof(flow.seed))
		return -EIO;
	for (uint32_t i = 0; i < code->n && !r; i++)
		r = search_segment(&flow, code, known, &code->segments[i]);
	free_flow(&flow);
	return r;
}
