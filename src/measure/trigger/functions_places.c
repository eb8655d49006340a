// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/functions_places.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/partition.h"
#include "cfi/instruction.h"
#include "elf/code_file.h"

/* All of a large program's DWARF takes seconds. */
#define SEARCH_NS (60 * NS_PER_SECOND)

void functions_places_clear(struct functions_places *places)
{
	free(places->items);
	places->items = NULL;
	places->n = places->capacity = 0;
}

/* Reads code of the file; false: it is none, or too much. */
static bool read_code(const struct functions_places *places, uint64_t begin, uint64_t size)
{
	uint64_t offset;

	return size > 0 && size <= FUNCTION_ENTRY_CODE_MAX &&
	       code_file_offset(places->elf, begin, true, &offset) &&
	       elf_file_read(places->elf, offset, places->code, size) == 0;
}

static enum instruction_at check(const struct functions_places *places, uint64_t begin,
				 uint64_t size, uint64_t address, size_t *ret_before,
				 size_t *ret_behind)
{
	if (!read_code(places, begin, size))
		return INSTRUCTION_AT_UNKNOWN;
	return instruction_start_check(places->elf->machine, places->code, size, address - begin,
				       ret_before, ret_behind);
}

bool functions_places_offset(const struct functions_places *places, uint64_t address, uint64_t size,
			     uint64_t at, struct function_bad *ret_bad)
{
	size_t before = 0, behind = 0;
	enum instruction_at is = INSTRUCTION_AT_UNKNOWN;

	if (at < size)
		is = check(places, address, size, address + at, &before, &behind);
	*ret_bad = (struct function_bad){ .size = size,
					  .middle = is == INSTRUCTION_AT_MIDDLE,
					  .before = before,
					  .behind = behind };
	return is == INSTRUCTION_AT_START;
}

static bool in_ranges(const struct code_place *place, uint64_t address)
{
	for (uint32_t i = 0; i < place->n_ranges; i++)
		if (address >= place->ranges[i].begin && address < place->ranges[i].end)
			return true;
	return false;
}

/* Whether a jump within the inlined function leads to its entry. The code was read by check(). */
static bool comes_back(const struct functions_places *places, const struct code_place *place)
{
	uint64_t begin = place->function.begin;
	size_t size = place->function.end - begin;

	for (size_t at = 0; at < size;) {
		const struct instruction is = instruction_decode(places->code + at, size - at);

		if (is.kind == INSTRUCTION_UNKNOWN)
			return false;
		if ((is.kind == INSTRUCTION_JUMP || is.kind == INSTRUCTION_BRANCH) &&
		    begin + at + is.size + (uint64_t)(int64_t)is.offset == place->address &&
		    in_ranges(place, begin + at))
			return true;
		at += is.size;
	}
	return false;
}

static int add(void *context, const struct code_place *place)
{
	struct functions_places *places = context;
	uint64_t begin = place->function.begin;
	struct placed placed = { .address = place->address };
	size_t before, behind;
	int r = grow(&places->items, &places->capacity, places->n + 1);

	if (r < 0)
		return r;
	placed.doubtful = check(places, begin, place->function.end - begin, place->address, &before,
				&behind) != INSTRUCTION_AT_START;
	placed.turns = !placed.doubtful && place->n_ranges && comes_back(places, place);
	placed.name = pool_string(places->names, place->name ? place->name : "");
	if (place->within)
		placed.within = pool_string(places->names, place->within);
	if (!placed.name || (place->within && !placed.within))
		return -ENOMEM;
	places->items[places->n++] = placed;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Two probes at one place would count each event twice. */
static void sort(struct functions_places *places)
{
	uint32_t n = 0;

	if (places->n)
		qsort(places->items, places->n, sizeof(*places->items), compare);
	for (uint32_t i = 0; i < places->n; i++)
		if (n == 0 || places->items[i].address != places->items[n - 1].address)
			places->items[n++] = places->items[i];
	places->n = n;
}

struct wanting {
	struct functions_places *places;
	inlined_wants_fn wants;
	void *context;
};

static bool wants(void *context, const char *name)
{
	const struct wanting *wanting = context;

	return wanting->wants(wanting->context, name);
}

static int add_inlined(void *context, const struct code_place *place)
{
	return add(((struct wanting *)context)->places, place);
}

int functions_places_inlined(struct functions_places *places, int fd, inlined_wants_fn wanted,
			     void *context)
{
	struct wanting wanting = { places, wanted, context };
	int r = inlined_places_each(fd, monotonic_ns() + SEARCH_NS, wants, add_inlined, &wanting);

	sort(places);
	return r;
}

int functions_places_line(struct functions_places *places, int fd, const struct code_point *point,
			  struct line_neighbours *ret_near)
{
	const struct line_request request = { .fd = fd,
					      .file = point->file,
					      .line = point->line,
					      .end_ns = monotonic_ns() + SEARCH_NS };
	int r = line_places_each(&request, add, places, ret_near);

	sort(places);
	return r;
}

/* DWARF may be of another build, or wrong: a symbol's code is decoded, too. */
static int check_symbol(void *context, const char *name, const Elf64_Sym *symbol, uint16_t version)
{
	struct functions_places *places = context;
	uint64_t begin = symbol->st_value, size = symbol->st_size;
	size_t before, behind;

	(void)name;
	(void)version;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || !size)
		return 0;
	for (size_t i = partition_point(at, places->n, places->items[at].address < begin);
	     i < places->n && places->items[i].address - begin < size; i++)
		if (!places->items[i].doubtful &&
		    check(places, begin, size, places->items[i].address, &before, &behind) !=
			    INSTRUCTION_AT_START)
			places->items[i].doubtful = true;
	return 0;
}

int functions_places_check(struct functions_places *places, const struct elf_file *debug)
{
	int r = functions_each_symbol(places->elf, false, check_symbol, places);

	if (r >= 0 && debug)
		r = functions_each_symbol(debug, false, check_symbol, places);
	return r < 0 ? r : 0;
}
