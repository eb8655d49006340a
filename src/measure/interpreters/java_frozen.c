// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/java_frozen.h"

#include <string.h>

#define MAX_ADDRESS (1ull << 47)
#define MAX_OFFSET  256 /* in an object; a Continuation has 64 bytes */

#define MAX_FLAGS     4096 /* options of a machine; JDK 25 has some 1,300 */
#define MAX_FLAG_SIZE 64
#define NAME_ROOM     24

static bool has_variables(const struct wire_java *exports)
{
	for (uint32_t i = 0; i < JAVA_N_VARIABLES; i++)
		if (!exports->variables[i])
			return false;
	return true;
}

static bool read_value(const struct java_memory *memory, uint64_t address, void *to, size_t size)
{
	return address < MAX_ADDRESS && memory->read(memory->data, to, size, address) == 0;
}

/* Whether the name is that of an option by which objects move while threads run. */
static bool moves_objects(const char name[NAME_ROOM])
{
	return strncmp(name, "UseZGC", NAME_ROOM) == 0 ||
	       strncmp(name, "UseShenandoahGC", NAME_ROOM) == 0;
}

/* Whether the collector leaves objects where they are while threads run. */
static bool stands_still(const struct java_memory *memory, const struct java_fields *fields)
{
	uint64_t size = fields->sizes[JAVA_SIZE_FLAG], name_at = fields->at[JAVA_FLAG_NAME],
		 value_at = fields->at[JAVA_FLAG_VALUE], list, n;

	if (size > MAX_FLAG_SIZE || name_at > size - 8 || value_at > size - 8 ||
	    !read_value(memory, fields->at[JAVA_FLAGS], &list, sizeof(list)) ||
	    !read_value(memory, fields->at[JAVA_N_FLAGS], &n, sizeof(n)) || !n || n > MAX_FLAGS)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		char flag[MAX_FLAG_SIZE], name[NAME_ROOM];
		uint64_t text, value;
		uint8_t is_set = 1;

		if (!read_value(memory, list + i * size, flag, size))
			return false;
		memcpy(&text, flag + name_at, sizeof(text));
		memcpy(&value, flag + value_at, sizeof(value));
		if (!text) /* the last one */
			continue;
		if (!read_value(memory, text, name, sizeof(name)))
			return false;
		if (moves_objects(name) &&
		    (!read_value(memory, value, &is_set, sizeof(is_set)) || is_set))
			return false;
	}
	return true;
}

/* The base and the shift of objects' addresses, if they are compressed. */
static bool read_oops(const struct java_memory *memory, const struct java_fields *fields,
		      struct wire_java_process *process)
{
	bool now = java_has(fields, JAVA_OOPS_BASE);
	uint32_t shift;

	if (!read_value(memory, fields->at[now ? JAVA_OOPS_BASE : JAVA_OOPS_BASE_BEFORE],
			&process->oop_base, sizeof(process->oop_base)) ||
	    !read_value(memory, fields->at[now ? JAVA_OOPS_SHIFT : JAVA_OOPS_SHIFT_BEFORE], &shift,
			sizeof(shift)))
		return false;
	process->oop_shift = (uint8_t)shift;
	return process->oop_base < MAX_ADDRESS && shift <= 8;
}

void java_frozen_read(const struct java_memory *memory, const struct wire_java *exports,
		      uint64_t bias, const struct java_fields *fields,
		      struct wire_java_process *process)
{
	struct wire_java_process with = *process;
	uint16_t *const to[JAVA_N_VARIABLES] = {
		[JAVA_CHUNK_STACK] = &with.chunk_stack,	  [JAVA_CHUNK_SP] = &with.chunk_sp,
		[JAVA_CHUNK_BOTTOM] = &with.chunk_bottom, [JAVA_CHUNK_PARENT] = &with.chunk_parent,
		[JAVA_CHUNK_OF] = &with.chunk_of,	  [JAVA_TAIL] = &with.tail,
	};

	if (!has_variables(exports))
		return;
	for (uint32_t i = 0; i < JAVA_N_VARIABLES; i++) {
		uint32_t offset;

		if (!to[i])
			continue;
		if (!read_value(memory, bias + exports->variables[i], &offset, sizeof(offset)) ||
		    !offset || offset > MAX_OFFSET)
			return;
		*to[i] = (uint16_t)offset;
	}
	/* Both are objects' addresses, side by side: that tells how large these are. */
	with.oop_size = (uint8_t)(with.chunk_of - with.chunk_parent);
	if ((with.oop_size != 4 && with.oop_size != 8) || !read_oops(memory, fields, &with) ||
	    !stands_still(memory, fields))
		return;
	with.enter_return = bias + exports->variables[JAVA_ENTER_RETURN];
	*process = with;
}

bool java_frozen_is_early(const struct wire_java *exports, const struct wire_java_process *process)
{
	return !process->refused && !process->chunk_stack && has_variables(exports);
}
