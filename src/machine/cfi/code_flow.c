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
#define MIN_SIZE 16u  /* of a gap that is searched */
#define NEAR	 512u /* of other code between two gaps that are searched together */

/* All code is searched for calls if at least one byte in so many is of a gap. */
#define NAMED_ONE_IN 256
#define PIECE	     (2u << 20)	 /* of a gap, searched by itself */
#define MAX_READ     (64u << 20) /* of a file */

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

/* Whether the byte is within an instruction of an accepted function. */
static bool is_inside(const struct flow *flow, uint32_t at)
{
	for (uint32_t back = 1; back < INSTRUCTION_MAX_SIZE && back <= at; back++) {
		if (flow->marks[at - back] & STATE)
			return instruction_decode(flow->bytes + at - back, flow->size - (at - back))
				       .size > back;
	}
	return false;
}

/* Whether the bytes before it may be padding, or an instruction that control does not get beyond.
 */
static bool is_behind_end(const struct flow *flow, uint32_t at)
{
	const uint8_t *end = flow->bytes + at;

	if (may_begin(flow, at) || is_padding_byte(end[-1]) || end[-1] == 0xc3 /* ret */ ||
	    end[-1] == 0xf4 /* hlt */)
		return true;
	if (at >= 2 &&
	    (end[-2] == 0xeb /* jmp */ || memcmp(end - 2, "\x0f\x0b" /* ud2 */, 2) == 0 ||
	     (end[-2] == 0xff && (end[-1] & 0xf8) == 0xe0) /* jmp *%reg */))
		return true;
	return at >= 5 && (end[-5] == 0xe9 /* jmp */ || end[-5] == 0xe8 /* call */);
}

/*
 * Follows what is left and only named: functions whose beginnings were not found, as the one before
 * was not accepted, and those that are not called directly and do not return. Bytes that name an
 * address need not be an instruction, so this is done last.
 */
static void follow_named(struct flow *flow)
{
	for (uint32_t at = 0; at < flow->size && !flow->error && !is_hopeless(flow); at++) {
		if (!call_targets_has(&flow->named, flow->address + at) ||
		    flow->marks[at] & STATE || is_inside(flow, at) || !is_behind_end(flow, at))
			continue;
		flow_follow_function(flow, at);
		follow_called(flow);
	}
}

static void follow_early(struct flow *flow)
{
	uint32_t before;

	for (int i = 0; i < MAX_RETRIES && flow->retry.n && !flow->error; i++) {
		before = flow->n_functions;
		follow_again(flow);
		if (flow->n_functions == before)
			break;
	}
}

static void follow_piece(struct flow *flow)
{
	flow->steps = 0;
	flow->accepted = 0;
	follow_once(flow);
	follow_early(flow);
	follow_named(flow);
	follow_early(flow);
	flow_drop_unreached(flow);
}

static int add_range(struct flow *flow, uint32_t begin, uint32_t end, uint16_t rule)
{
	const struct code_range range = { .begin = (uint32_t)(flow->address + begin),
					  .end = (uint32_t)(flow->address + end),
					  .context = rule,
					  .source = UNWIND_CODE };

	return begin < end ? code_ranges_add(flow->ranges, &range) : 0;
}

static struct code_gaps gaps_of(const struct flow *flow)
{
	return code_gaps_of(flow->known, flow->address, flow->address + flow->size);
}

/* The gap is [at, to). */
static int gap_to_ranges(struct flow *flow, uint32_t at, uint32_t to)
{
	uint32_t begin = at, end = at;
	uint16_t rule = RULE_GAP;
	int r = 0;

	while (at < to && !r) {
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

static int rules_to_ranges(struct flow *flow)
{
	struct code_gaps gaps = gaps_of(flow);
	uint64_t begin, end;
	int r = 0;

	while (!r && code_gaps_next(&gaps, 1, &begin, &end))
		r = gap_to_ranges(flow, (uint32_t)(begin - flow->address),
				  (uint32_t)(end - flow->address));
	return r;
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

/* Behind code that other sources know, functions begin. */
static void begin_gaps(struct flow *flow)
{
	struct code_gaps gaps = gaps_of(flow);
	uint64_t begin, end;

	while (code_gaps_next(&gaps, MIN_SIZE, &begin, &end))
		flow->marks[begin - flow->address] |= BEGINS;
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
		begin_gaps(flow);
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

/* Gaps that are searched together: from the first to the last. */
struct gap_group {
	uint64_t begin, end;
	uint64_t size; /* of its gaps */
};

/* Whether a gap is near those of the group, for its size or theirs. */
static bool is_near(const struct gap_group *group, uint64_t begin, uint64_t end)
{
	uint64_t between = begin - group->end;

	return group->size && end - group->begin <= PIECE &&
	       (between <= NEAR || between <= group->size || between <= end - begin);
}

/* Functions of gaps with little other code between them may call each other. */
static int search_gaps(struct flow *flow, const struct code_view *code, struct code_gaps gaps)
{
	struct gap_group group = { 0 };
	uint64_t begin, end;
	int r = 0;

	while (!r && code_gaps_next(&gaps, MIN_SIZE, &begin, &end)) {
		if (!is_near(&group, begin, end)) {
			r = search_code(flow, code, group.begin, group.end);
			group = (struct gap_group){ .begin = begin };
		}
		group.end = end;
		group.size += end - begin;
	}
	return r ? r : search_code(flow, code, group.begin, group.end);
}

static int search_segment(struct flow *flow, const struct code_view *code,
			  const struct code_segment *segment)
{
	struct code_gaps all = code_gaps_of(flow->known, segment->begin, segment->end);
	struct code_gaps gaps = all;
	uint64_t begin, end, size = 0;
	int r = 0;

	while (code_gaps_next(&gaps, MIN_SIZE, &begin, &end))
		size += end - begin;
	if (size && size >= (segment->end - segment->begin) / NAMED_ONE_IN)
		r = call_targets_find(code, segment, &flow->named);
	if (r == 0)
		r = search_gaps(flow, code, all);
	call_targets_free(&flow->named);
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
	struct flow flow = { .rules = rules, .ranges = ranges, .known = known, .left = MAX_READ };
	int r = 0;

	if (getrandom(&flow.seed, sizeof(flow.seed), 0) != sizeof(flow.seed))
		return -EIO;
	for (uint32_t i = 0; i < code->n && !r; i++)
		r = search_segment(&flow, code, &code->segments[i]);
	free_flow(&flow);
	return r;
}
