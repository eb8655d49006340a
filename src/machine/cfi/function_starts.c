// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/function_starts.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/call_targets.h"
#include "cfi/code_view.h"
#include "cfi/frame_lookup.h"
#include "cfi/instruction.h"

#define PART_MAX       4096u	   /* bytes of a cold part whose jumps are followed */
#define GAP_MAX	       (16u << 10) /* bytes of a gap in front of an address that are followed */
#define WINDOW	       (32u << 10) /* bytes of code that are read at once */
#define PACKED_SAMPLE  (1u << 20)  /* bytes of a gap that tell whether functions are aligned */
#define FUNCTION_ALIGN 16u	   /* of functions of the assembler and of compilers */
#define STUB_SIZE      16u	   /* of sections that do not say it */
#define INT3	       0xcc
#define RET	       0xc3

/* A walk through the code of a gap. All but the first three are offsets in the window. */
struct code_walk {
	uint8_t *bytes;	    /* the window: WINDOW bytes; NULL until needed */
	uint64_t gap, from; /* where the gap and the window begin */
	uint32_t size;
	uint32_t at, start;  /* what comes next, and the function that it belongs to */
	int64_t reached;     /* by jumps of that function */
	uint32_t last_start; /* of the function before, which ends with padding */
	/* Whether functions begin there: code behind the end of another may be part of any. */
	bool known, last_known;
};

struct starts {
	const struct elf_file *elf;
	struct code_view code;
	struct frame_lookup frames;
	struct frame_function last; /* that an address was in, and where it starts */
	uint64_t last_start;
	struct code_walk walk;
	const struct code_segment *called_in; /* NULL: not searched yet */
	struct call_targets called;
	bool packed; /* functions of the walk's gap are not aligned */
};

static void starts_close(struct starts *starts)
{
	frame_lookup_close(&starts->frames);
	call_targets_free(&starts->called);
	free(starts->walk.bytes);
}

static bool begins_with(const char *string, const char *start)
{
	return strncmp(string, start, strlen(start)) == 0;
}

/* Sections whose layout is known. */
static bool start_in_section(const struct elf_file *elf, const struct elf_section *section,
			     uint64_t address, uint64_t *ret_start)
{
	const char *name = elf_file_section_name(elf, section);
	uint64_t size = section->entry_size ? section->entry_size : STUB_SIZE;

	if (begins_with(name, ".plt") || strcmp(name, ".iplt") == 0) {
		*ret_start = address - (address - section->address) % size;
		return true;
	}
	if (strcmp(name, ".init") != 0 && strcmp(name, ".fini") != 0)
		return false;
	*ret_start = section->address;
	return true;
}

/* The function whose inside all jumps out of its cold part lead to. */
static bool start_of_whole(struct starts *starts, const struct frame_function *part,
			   uint64_t *ret_start)
{
	uint64_t size = part->end - part->begin;
	uint8_t bytes[PART_MAX];
	uint64_t start = 0;
	bool found = false;
	uint32_t at = 0;

	if (size > sizeof(bytes) || code_view_read(&starts->code, part->begin, bytes, size) != size)
		return false;
	while (at < size) {
		struct instruction it = instruction_decode(bytes + at, size - at);
		struct frame_function other;
		uint64_t target;

		if (it.kind == INSTRUCTION_UNKNOWN)
			return false;
		at += it.size;
		if (it.kind != INSTRUCTION_JUMP && it.kind != INSTRUCTION_BRANCH)
			continue;
		target = part->begin + at + (uint64_t)(int64_t)it.offset;
		if (target >= part->begin && target < part->end)
			continue;
		/* Jumps to the beginning of a function are calls. */
		if (!frame_lookup_find(&starts->frames, target, &other) || other.is_part ||
		    other.begin == target)
			continue;
		if (found && other.begin != start)
			return false;
		found = true;
		start = other.begin;
	}
	*ret_start = start;
	return found;
}

static uint32_t behind_padding(const uint8_t *bytes, uint32_t at, uint32_t size)
{
	uint32_t padding;

	while (at < size && (padding = instruction_padding(bytes + at, size - at)))
		at += padding;
	return at;
}

static bool ends_flow(const struct instruction *it)
{
	return it->kind == INSTRUCTION_RETURN || it->kind == INSTRUCTION_JUMP ||
	       it->kind == INSTRUCTION_JUMP_SOMEWHERE || it->kind == INSTRUCTION_STOP;
}

/* Whether bytes [from, to) are int3, two at least: assemblers pad functions only with them. */
static bool is_trap_padding(const uint8_t *bytes, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (bytes[i] != INT3)
			return false;
	}
	return to >= from + 2;
}

/*
 * The first aligned byte behind int3 or a return and padding: where decoding can begin in the
 * middle of a gap. `size` if there is none.
 */
static uint32_t first_start(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t at = FUNCTION_ALIGN; at < size; at += FUNCTION_ALIGN) {
		for (uint32_t n = 1; n < FUNCTION_ALIGN; n++) {
			uint8_t before = bytes[at - n - 1];

			if ((before == RET || before == INT3) &&
			    behind_padding(bytes, at - n, at) == at)
				return at;
		}
	}
	return size;
}

/* Moves the window of the walk so that it has `wanted`. False: it cannot. */
static bool load_code(struct starts *starts, uint64_t gap, uint64_t wanted)
{
	const struct code_segment *segment = starts->called_in;
	struct code_walk *walk = &starts->walk;
	uint64_t known = walk->from + walk->start, from;
	bool goes_on = walk->gap == gap && wanted >= known && wanted - known < GAP_MAX;
	bool cut = !goes_on && wanted - gap > GAP_MAX;

	if (walk->gap != gap)
		starts->packed = call_targets_are_packed(&starts->called, gap,
							 segment->end - gap > PACKED_SAMPLE
								 ? gap + PACKED_SAMPLE
								 : segment->end);
	from = goes_on ? known : cut ? (wanted - GAP_MAX) & ~(FUNCTION_ALIGN - 1ull) : gap;
	*walk = (struct code_walk){ .bytes = walk->bytes,
				    .gap = gap,
				    .from = from,
				    .known = goes_on ? walk->known : !cut || !starts->packed };
	walk->size = (uint32_t)code_view_read(&starts->code, from, walk->bytes, WINDOW);
	if (goes_on)
		walk->at = 0;
	else if (cut)
		walk->at = first_start(walk->bytes, walk->size);
	else
		walk->at = behind_padding(walk->bytes, 0, walk->size);
	walk->start = walk->last_start = walk->at;
	walk->last_known = walk->known;
	return wanted - from < walk->size;
}

/* Whether the code at an offset of the window is called, or its address is taken. */
static bool is_called(const struct starts *starts, uint32_t at)
{
	return call_targets_has(&starts->called, starts->walk.from + at);
}

/*
 * Whether a function may begin at `next`, behind an instruction that ends the flow of control and
 * padding; *ret_known: it does. Functions that are called do. Where they are aligned, so do others,
 * at an aligned address that no jump crosses. Where they are not, code that no jump of the function
 * before leads to is part of any function.
 */
static bool may_begin(const struct starts *starts, uint32_t next, bool *ret_known)
{
	const struct code_walk *walk = &starts->walk;
	bool aligned = (walk->from + next) % FUNCTION_ALIGN == 0;
	bool crossed = walk->reached >= next && !is_trap_padding(walk->bytes, walk->at, next);

	*ret_known = true;
	if (is_called(starts, next))
		return true;
	if (crossed || (!aligned && !starts->packed))
		return false;
	*ret_known = aligned && (!starts->packed || next > walk->at);
	return true;
}

/* Follows code up to `wanted`. A call that a called function follows does not return. */
static void walk_to(struct starts *starts, uint32_t wanted)
{
	struct code_walk *walk = &starts->walk;
	const uint8_t *bytes = walk->bytes;

	while (walk->at <= wanted) {
		struct instruction it = instruction_decode(bytes + walk->at, walk->size - walk->at);
		bool calls, known = true;
		uint32_t next;

		/* Decoding falls into step again a few bytes behind an unknown instruction. */
		walk->at += it.kind == INSTRUCTION_UNKNOWN ? 1 : it.size;
		calls = it.kind == INSTRUCTION_CALL || it.kind == INSTRUCTION_CALL_SOMEWHERE;
		if (it.kind == INSTRUCTION_JUMP || it.kind == INSTRUCTION_BRANCH) {
			int64_t target = (int64_t)walk->at + it.offset;
			/* A jump to a function that is called is its caller's last call. */
			bool leaves = it.kind == INSTRUCTION_JUMP && target >= 0 &&
				      is_called(starts, (uint32_t)target);

			walk->reached = target > walk->reached && !leaves ? target : walk->reached;
		}
		next = behind_padding(bytes, walk->at, walk->size);
		if (calls ? !is_called(starts, next)
			  : !ends_flow(&it) || !may_begin(starts, next, &known))
			continue;
		walk->last_start = walk->start;
		walk->last_known = walk->known;
		walk->start = walk->at = next;
		walk->known = known;
		walk->reached = 0;
	}
}

/* Searches the segment for calls, once. 0 or -ENOMEM. */
static int find_calls(struct starts *starts, const struct code_segment *segment)
{
	if (starts->called_in == segment)
		return 0;
	call_targets_free(&starts->called);
	starts->called_in = segment;
	return call_targets_find(&starts->code, segment, &starts->called);
}

/* In the gap of call frame information that begins at `gap`. 1: found; 0: not; or -ENOMEM. */
static int start_in_gap(struct starts *starts, uint64_t gap, uint64_t address, uint64_t *ret_start)
{
	struct code_walk *walk = &starts->walk;
	uint32_t wanted;

	if (!walk->bytes)
		walk->bytes = malloc(WINDOW);
	if (!walk->bytes)
		return -ENOMEM;
	if ((walk->gap != gap || address < walk->from + walk->last_start ||
	     address - walk->from >= walk->size) &&
	    !load_code(starts, gap, address))
		return 0;
	wanted = (uint32_t)(address - walk->from);
	walk_to(starts, wanted);
	if (wanted >= walk->start) {
		*ret_start = walk->from + walk->start;
		return walk->known;
	}
	*ret_start = walk->from + walk->last_start;
	return walk->last_known && wanted >= walk->last_start;
}

/* 1: found; 0: not; or -ENOMEM. */
static int find_start(struct starts *starts, uint64_t address, uint64_t *ret_start)
{
	const struct elf_section *section = elf_file_code_section(starts->elf, address);
	const struct code_segment *segment = code_view_segment(&starts->code, address);
	struct frame_function function;
	uint64_t gap;
	int r;

	if (!segment)
		return 0;
	if (address >= starts->last.begin && address < starts->last.end) {
		*ret_start = starts->last_start;
		return 1;
	}
	if (section && start_in_section(starts->elf, section, address, ret_start))
		return 1;
	if (frame_lookup_find(&starts->frames, address, &function)) {
		if (!function.is_part || !start_of_whole(starts, &function, ret_start))
			*ret_start = function.begin;
		starts->last = function;
		starts->last_start = *ret_start;
		return 1;
	}
	gap = section && section->address > segment->begin ? section->address : segment->begin;
	if (function.end > gap)
		gap = function.end;
	if (starts->elf->machine != EM_X86_64 || address < gap)
		return 0;
	r = find_calls(starts, segment);
	return r < 0 ? r : start_in_gap(starts, gap, address, ret_start);
}

int function_starts_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
			 struct pool *pool)
{
	own(starts_close) struct starts starts = { .elf = elf };
	const char *name = NULL;
	uint64_t last = 0;
	size_t n_unnamed = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		n_unnamed += !queries[i].name;
	code_view_open(&starts.code, elf, UINT64_MAX);
	r = frame_lookup_open(&starts.frames, &starts.code, n_unnamed);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		char text[32];
		uint64_t start = 0;

		if (queries[i].name)
			continue;
		r = find_start(&starts, queries[i].address, &start);
		if (r <= 0)
			continue;
		if (!name || start != last) {
			snprintf(text, sizeof(text), "+0x%" PRIx64, start);
			name = pool_string(pool, text);
			if (!name)
				return -ENOMEM;
			last = start;
		}
		queries[i].name = name;
		queries[i].start = start;
		queries[i].is_start = true;
	}
	return r < 0 ? r : 0;
}
