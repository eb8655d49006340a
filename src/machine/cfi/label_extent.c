// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/label_extent.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/instruction.h"

#define WINDOW	    (16u << 10) /* bytes of code behind a symbol that are followed */
#define ENDBR_SIZE  4		/* may stand between a symbol and the begin of its FDE */
#define FEW_LOOKUPS 1

/* Marks of the bytes of a window. */
#define FOLLOWED 1u
#define BRANCHED 2u /* a conditional jump leads there */

struct label_walk {
	uint8_t bytes[WINDOW], marks[WINDOW];
	uint32_t size;
	/* Where it goes on: each instruction is followed once, and adds one at most. */
	uint16_t waiting[WINDOW];
	uint32_t n_waiting;
};

void label_extent_open(struct label_extent *extent, const struct elf_file *elf)
{
	*extent = (struct label_extent){ 0 };
	code_view_open(&extent->code, elf, UINT64_MAX);
}

void label_extent_close(struct label_extent *extent)
{
	frame_lookup_close(&extent->frames);
	free(extent->walk);
}

static void add_target(struct label_walk *walk, uint32_t behind, const struct instruction *it)
{
	int64_t target = (int64_t)behind + it->offset;

	if (target < 0 || target >= walk->size)
		return;
	if (it->kind == INSTRUCTION_BRANCH)
		walk->marks[target] |= BRANCHED;
	if (!(walk->marks[target] & FOLLOWED))
		walk->waiting[walk->n_waiting++] = (uint16_t)target;
}

static uint32_t behind_padding(const struct label_walk *walk, uint32_t at)
{
	uint32_t padding;

	while (at < walk->size &&
	       (padding = instruction_padding(walk->bytes + at, walk->size - at)) != 0)
		at += padding;
	return at;
}

/*
 * Whether a call at the end of a function calls the next one: musl's _start calls _start_c() and
 * does not go on.
 */
static bool calls_next(const struct label_walk *walk, uint32_t behind, const struct instruction *it)
{
	int64_t to = (int64_t)behind + it->offset;

	return it->kind == INSTRUCTION_CALL && to >= behind && to <= behind_padding(walk, behind);
}

static void follow(struct label_walk *walk, uint32_t at)
{
	while (at < walk->size && !(walk->marks[at] & FOLLOWED)) {
		struct instruction it = instruction_decode(walk->bytes + at, walk->size - at);

		if (it.kind == INSTRUCTION_UNKNOWN)
			return;
		for (uint32_t i = 0; i < it.size; i++)
			walk->marks[at + i] |= FOLLOWED;
		at += it.size;
		if (it.kind == INSTRUCTION_JUMP || it.kind == INSTRUCTION_BRANCH)
			add_target(walk, at, &it);
		if (it.kind == INSTRUCTION_JUMP || it.kind == INSTRUCTION_RETURN ||
		    it.kind == INSTRUCTION_JUMP_SOMEWHERE || it.kind == INSTRUCTION_STOP ||
		    calls_next(walk, at, &it))
			return;
	}
}

/*
 * The first byte that the code at the beginning of the window does not reach without a gap. Padding
 * in front of a loop is no gap. What only a jump without a condition leads to, behind padding, is
 * another function: such a jump calls it last.
 */
static uint32_t reach(const struct label_walk *walk)
{
	uint32_t at = 0;

	for (;;) {
		uint32_t end, padding;

		while (at < walk->size && walk->marks[at] & FOLLOWED)
			at++;
		end = at;
		while (at < walk->size && !(walk->marks[at] & FOLLOWED) &&
		       (padding = instruction_padding(walk->bytes + at, walk->size - at)))
			at += padding;
		if (at >= walk->size || at == end || !(walk->marks[at] & BRANCHED))
			return end;
	}
}

/* The end of the code that begins at the label; the label itself if the code cannot be read. */
static uint64_t find_end(struct label_extent *extent, uint64_t label)
{
	struct label_walk *walk = extent->walk;

	for (uint32_t i = 0; i < LABEL_EXTENT_KNOWN; i++) {
		if (extent->known[i].end && extent->known[i].label == label)
			return extent->known[i].end;
	}
	if (!walk)
		walk = extent->walk = malloc(sizeof(*walk));
	if (!walk)
		return label;
	walk->size = (uint32_t)code_view_read(&extent->code, label, walk->bytes, WINDOW);
	memset(walk->marks, 0, sizeof(walk->marks));
	walk->n_waiting = 0;
	follow(walk, 0);
	while (walk->n_waiting)
		follow(walk, walk->waiting[--walk->n_waiting]);
	extent->known[extent->next].label = label;
	extent->known[extent->next].end = label + reach(walk);
	extent->next = (extent->next + 1) % LABEL_EXTENT_KNOWN;
	return label + reach(walk);
}

enum elf_extent label_extent_find(void *context, uint64_t label, uint64_t address)
{
	struct label_extent *extent = context;
	struct frame_function function;
	uint64_t end;
	bool contained;

	if (extent->code.elf->machine != EM_X86_64 || !code_view_segment(&extent->code, label))
		end = label;
	else
		end = find_end(extent, label);
	if (!extent->opened && frame_lookup_open(&extent->frames, &extent->code, FEW_LOOKUPS) < 0)
		return ELF_EXTENT_UNKNOWN;
	extent->opened = true;
	contained = frame_lookup_find(&extent->frames, address, &function);
	if (contained && function.begin == label)
		return ELF_EXTENT_INSIDE;
	if (function.end && function.begin > label) {
		bool own = function.begin - label <= ENDBR_SIZE && function.begin < end;

		if (!own)
			return ELF_EXTENT_BEYOND;
		if (contained)
			return ELF_EXTENT_INSIDE;
	}
	if (end == label)
		return ELF_EXTENT_UNKNOWN;
	return address < end ? ELF_EXTENT_INSIDE : ELF_EXTENT_ENDED;
}
