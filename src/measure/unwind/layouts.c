// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/layouts.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "base/partition.h"
#include "process/moved_text.h"

/* Generated code comes and goes in pieces; those with gaps up to this many bytes make one range. */
#define JIT_GAP (2ull << 20)
/* If there are too many ranges, larger gaps are tried, up to this one. */
#define JIT_GAP_MAX (1ull << 40)

int layouts_init(struct layouts *layouts, struct tables *tables, struct blocks *blocks)
{
	*layouts = (struct layouts){ .tables = tables, .blocks = blocks };
	return chunk_slots_new(blocks, &layouts->slots);
}

static void free_layout(struct layouts *layouts, struct layout *layout)
{
	if (layout->previous)
		layout->previous->next = layout->next;
	else
		layouts->first = layout->next;
	if (layout->next)
		layout->next->previous = layout->previous;
	free(layout);
}

void layouts_clear(struct layouts *layouts)
{
	while (layouts->first)
		free_layout(layouts, layouts->first);
	chunk_slots_free(layouts->slots);
	free(layouts->scratch);
	*layouts = (struct layouts){ 0 };
}

/* ---- from mappings to ranges ---- */

static void range_of_table(struct layouts *layouts, const struct mapping *mapping, uint32_t table,
			   struct layout_range *range)
{
	range->table = table;
	if (table == TABLE_NONE)
		range->kind = WIRE_MAPPING_NO_CFI;
	else if (!tables_bias(layouts->tables, table, mapping->start, mapping->offset,
			      &range->bias))
		*range = (struct layout_range){
			.start = mapping->start,
			.end = mapping->end,
			.table = table,
			.bias = mapping->start -
				(1ull << 32), /* no segment has it: an address above all rows */
		};
}

static int range_of(struct layouts *layouts, const struct mapping *mapping,
		    struct layout_range *range)
{
	uint32_t table;
	int r;

	*range = (struct layout_range){ .start = mapping->start,
					.end = mapping->end,
					.table = TABLE_NONE };
	switch (mapping->kind) {
	case MAPPING_FILE:
		r = tables_of_file(layouts->tables, mapping->file, &table);
		if (r == 0)
			range_of_table(layouts, mapping, table, range);
		if (r == 0 && table != TABLE_NONE)
			range->interpreter = tables_interpreter(layouts->tables, mapping->file);
		return r;
	case MAPPING_VDSO:
		r = tables_of_vdso(layouts->tables, mapping->end - mapping->start, &table);
		if (r == 0)
			range_of_table(layouts, mapping, table, range);
		return r;
	case MAPPING_ANONYMOUS:
		range->kind = WIRE_MAPPING_JIT;
		return 0;
	default:
		if (strcmp(mapping->name, MOVED_TEXT_PACKED) == 0) {
			range->kind = WIRE_MAPPING_NO_CFI;
			return 0;
		}
		/* Code on the stack or the heap was generated. */
		range->kind = strcmp(mapping->name, "[stack]") == 0 ||
					      strcmp(mapping->name, "[heap]") == 0
				      ? WIRE_MAPPING_JIT
				      : WIRE_MAPPING_SPECIAL;
		return 0;
	}
}

/* Whether range `b` continues `a`. */
static bool continues(const struct layout_range *a, const struct layout_range *b, uint64_t gap)
{
	if (a->table != b->table || a->bias != b->bias)
		return false;
	if (a->table != TABLE_NONE)
		return a->end == b->start;
	return a->kind == b->kind && a->kind == WIRE_MAPPING_JIT && b->start - a->end <= gap;
}

/* Unites ranges that continue each other; returns how many are left. */
static uint32_t unite(struct layout_range *ranges, uint32_t n, uint64_t gap)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (kept && continues(&ranges[kept - 1], &ranges[i], gap))
			ranges[kept - 1].end = ranges[i].end;
		else
			ranges[kept++] = ranges[i];
	}
	return kept;
}

int layouts_ranges(struct layouts *layouts, const struct mapping *mappings, uint32_t n,
		   const struct layout_range **ret_ranges, uint32_t *ret_n, uint32_t *ret_cut)
{
	uint64_t gap = JIT_GAP;
	uint32_t made;
	int r = grow(&layouts->scratch, &layouts->scratch_capacity, n);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		r = range_of(layouts, &mappings[i], &layouts->scratch[i]);
		if (r < 0)
			return r;
	}
	made = unite(layouts->scratch, n, gap);
	while (made > MAX_LAYOUT_RANGES && gap < JIT_GAP_MAX) {
		gap *= 16;
		made = unite(layouts->scratch, made, gap);
	}
	*ret_cut = made > MAX_LAYOUT_RANGES ? made - (uint32_t)MAX_LAYOUT_RANGES : 0;
	*ret_ranges = layouts->scratch;
	*ret_n = made - *ret_cut;
	return 0;
}

/* ---- writing ---- */

/* What a mapping says about its table. */
static struct table_reference reference_of(const struct layouts *layouts,
					   const struct layout_range *range)
{
	if (range->table == TABLE_NONE)
		return (struct table_reference){ .root = WIRE_MAPPING(0, range->kind) };
	return tables_reference(layouts->tables, range->table);
}

static uint64_t as_word(struct table_reference range)
{
	uint64_t word;

	_Static_assert(sizeof(range) == sizeof(word), "one store");
	memcpy(&word, &range, sizeof(word));
	return word;
}

/* The root and owner of a mapping, as one word to store. */
static uint64_t *word_of(struct wire_mapping *mapping)
{
	_Static_assert(offsetof(struct wire_mapping, root) % 8 == 0 &&
			       offsetof(struct wire_mapping, owner) ==
				       offsetof(struct wire_mapping, root) + 4,
		       "they are stored at once");
	return (uint64_t *)(void *)&mapping->root;
}

static int fill(struct layouts *layouts, const struct layout *layout,
		const struct wire_chunk *chunk, const struct layout_range *ranges)
{
	struct wire_mapping *slot = chunk_slots_at(layouts->slots, chunk);
	struct wire_chunk_head head = { .owner = layout->wire.owner, .n = chunk->n };

	if (!slot)
		return -ENOMEM;
	memcpy(slot, &head, sizeof(head));
	for (uint32_t i = 0; i < chunk->n; i++) {
		slot++;
		*slot = (struct wire_mapping){
			.start = ranges[i].start,
			.end = ranges[i].end,
			.bias = ranges[i].bias,
		};
		*word_of(slot) = as_word(reference_of(layouts, &ranges[i]));
	}
	return 0;
}

static int take_chunk(struct layouts *layouts, uint16_t n, struct wire_chunk *ret_chunk)
{
	int r = chunk_slots_take(layouts->slots, n, ret_chunk);

	if (r != -ENOSPC || !chunk_slots_retired(layouts->slots))
		return r;
	r = blocks_wait_grace(layouts->blocks);
	return r < 0 ? r : chunk_slots_take(layouts->slots, n, ret_chunk);
}

static void give_chunks(struct layouts *layouts, const struct layout *layout)
{
	for (uint32_t i = 0; i < layout->wire.n_chunks; i++)
		chunk_slots_give(layouts->slots, &layout->wire.chunks[i]);
}

static int write_chunks(struct layouts *layouts, struct layout *layout)
{
	uint32_t done = 0;

	while (done < layout->n) {
		struct wire_chunk *chunk = &layout->wire.chunks[layout->wire.n_chunks];
		uint32_t n = layout->n - done;
		int r;

		if (n > WIRE_CHUNK_SLOTS - 1)
			n = WIRE_CHUNK_SLOTS - 1;
		r = take_chunk(layouts, (uint16_t)n, chunk);
		if (r < 0)
			return r;
		chunk->first = layout->ranges[done].start;
		layout->wire.n_chunks++;
		r = fill(layouts, layout, chunk, &layout->ranges[done]);
		if (r < 0)
			return r;
		done += n;
	}
	return 0;
}

/* Enters the interpreter of a range's file, which may have several ranges. */
static void add_interpreter(const struct layouts *layouts, struct wire_process *process,
			    const struct layout_range *range)
{
	struct wire_mapped_interpreter *list = process->interpreters;
	uint32_t n = process->n_interpreters;

	for (uint32_t i = 0; i < n; i++)
		if (list[i].number == range->interpreter)
			return;
	if (!range->interpreter || n == WIRE_PROCESS_INTERPRETERS)
		return;
	list[n].number = range->interpreter;
	list[n].bias = range->bias - tables_lowered(layouts->tables, range->table);
	process->n_interpreters++;
}

int layouts_write(struct layouts *layouts, const struct layout_range *ranges, uint32_t n,
		  struct layout **ret_layout)
{
	struct layout *layout = malloc(sizeof(*layout) + n * sizeof(*ranges));
	int r;

	if (!layout)
		return -ENOMEM;
	*layout = (struct layout){
		.references = 1,
		.wire.owner = ++layouts->last_owner,
		.n = n,
	};
	memcpy(layout->ranges, ranges, n * sizeof(*ranges));
	r = write_chunks(layouts, layout);
	if (r < 0) {
		give_chunks(layouts, layout);
		free(layout);
		return r;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ranges[i].table != TABLE_NONE)
			tables_use(layouts->tables, ranges[i].table);
		add_interpreter(layouts, &layout->wire, &ranges[i]);
	}
	layout->next = layouts->first;
	if (layout->next)
		layout->next->previous = layout;
	layouts->first = layout;
	*ret_layout = layout;
	return 0;
}

void layouts_unref(struct layouts *layouts, struct layout *layout)
{
	if (!layout || --layout->references)
		return;
	for (uint32_t i = 0; i < layout->n; i++) {
		if (layout->ranges[i].table != TABLE_NONE)
			tables_unuse(layouts->tables, layout->ranges[i].table);
	}
	give_chunks(layouts, layout);
	free_layout(layouts, layout);
}

/* False: out of memory, so some slots keep their old tables, whose blocks have other owners. */
static bool refresh(struct layouts *layouts, struct layout *layout)
{
	const struct layout_range *range = layout->ranges;
	bool all = true;

	for (uint32_t i = 0; i < layout->wire.n_chunks; i++) {
		const struct wire_chunk *chunk = &layout->wire.chunks[i];
		struct wire_mapping *slot = chunk_slots_at(layouts->slots, chunk);

		if (!slot) {
			range += chunk->n;
			all = false;
			continue;
		}
		for (uint32_t j = 0; j < chunk->n; j++, range++) {
			uint64_t word = as_word(reference_of(layouts, range));

			if (*word_of(++slot) != word)
				__atomic_store_n(word_of(slot), word, __ATOMIC_RELEASE);
		}
	}
	return all;
}

void layouts_refresh(struct layouts *layouts)
{
	if (layouts->version == tables_version(layouts->tables))
		return;
	layouts->version = tables_version(layouts->tables);
	for (struct layout *layout = layouts->first; layout; layout = layout->next)
		if (!refresh(layouts, layout))
			layouts->version--; /* all again the next time */
}

bool layout_has_ranges(const struct layout *layout, const struct layout_range *ranges, uint32_t n)
{
	return layout->n == n &&
	       (n == 0 || memcmp(layout->ranges, ranges, n * sizeof(*ranges)) == 0);
}

const struct layout_range *layout_find_range(const struct layout *layout, uint64_t address)
{
	const struct layout_range *ranges = layout->ranges;
	size_t at = partition_point(i, layout->n, ranges[i].end <= address);

	return at < layout->n && ranges[at].start <= address ? &ranges[at] : NULL;
}
