// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/java_fields.h"

#include <errno.h>
#include <string.h>

#define MAX_ENTRIES 4096 /* of a table; JDK 25 has some 830 */
#define MAX_STRIDE  256	 /* bytes of an entry */
#define NAME_ROOM   64	 /* bytes of a name that are compared */

#define FIELD_NAMES(id, type, name) { type, name },
#define SIZE_NAMES(id, type)	    type,

static const struct {
	const char *type, *name;
} names[] = { JAVA_FIELDS(FIELD_NAMES) };

static const char *const types[] = { JAVA_SIZES(SIZE_NAMES) };

/* A table in the process. */
struct table {
	const struct java_memory *memory;
	uint64_t at, stride;
	/* The type's name that was compared last: entries of a type follow each other. */
	uint64_t last;
	char text[NAME_ROOM];
};

static int read_word(const struct java_memory *memory, uint64_t address, uint64_t *ret_word)
{
	return memory->read(memory->data, ret_word, sizeof(*ret_word), address) ? -EAGAIN : 0;
}

/* A name of at most NAME_ROOM - 1 bytes; longer ones, and those that cannot be read, are "". */
static const char *read_name(struct table *table, uint64_t address, char *text)
{
	text[0] = '\0';
	if (table->memory->read(table->memory->data, text, NAME_ROOM, address) ||
	    !memchr(text, '\0', NAME_ROOM))
		text[0] = '\0';
	return text;
}

static const char *read_type(struct table *table, uint64_t address)
{
	if (address != table->last)
		read_name(table, address, table->text);
	table->last = address;
	return table->text;
}

/* Values of the exported variables. */
static int read_exports(const struct java_memory *memory, const struct wire_java *exports,
			uint64_t bias, uint64_t values[JAVA_N_EXPORTS])
{
	for (uint32_t i = 0; i < JAVA_N_EXPORTS; i++) {
		int r = read_word(memory, exports->exports[i] + bias, &values[i]);

		if (r < 0)
			return r;
		if (values[i] == 0 && i != JAVA_STRUCTS_TYPE && i != JAVA_TYPES_NAME)
			return -EAGAIN;
		if (i != JAVA_STRUCTS && i != JAVA_TYPES && values[i] > MAX_STRIDE)
			return -EPROTO;
	}
	return 0;
}

static uint64_t word_in(const uint8_t *entry, uint64_t at)
{
	uint64_t word;

	memcpy(&word, entry + at, sizeof(word));
	return word;
}

/* A field that is described twice, and differently, has no offset: JAVA_LACKS - 1 is out of all
 * ranges. */
static void take(uint64_t *to, uint64_t value)
{
	*to = *to == JAVA_LACKS || *to == value ? value : JAVA_LACKS - 1;
}

static void take_field(struct table *table, const uint64_t values[JAVA_N_EXPORTS],
		       const uint8_t *entry, struct java_fields *fields)
{
	const char *type = read_type(table, word_in(entry, values[JAVA_STRUCTS_TYPE]));
	char name[NAME_ROOM] = "";
	bool is_static = (uint32_t)word_in(entry, values[JAVA_STRUCTS_STATIC]) != 0;

	for (uint32_t i = 0; *type && i < JAVA_N_FIELDS; i++) {
		if (strcmp(names[i].type, type) != 0)
			continue;
		if (!*name)
			read_name(table, word_in(entry, values[JAVA_STRUCTS_FIELD]), name);
		if (strcmp(names[i].name, name) == 0)
			take(&fields->at[i],
			     word_in(entry, values[is_static ? JAVA_STRUCTS_ADDRESS
							     : JAVA_STRUCTS_OFFSET]));
	}
}

static void take_size(struct table *table, const uint64_t values[JAVA_N_EXPORTS],
		      const uint8_t *entry, struct java_fields *fields)
{
	const char *type = read_type(table, word_in(entry, values[JAVA_TYPES_NAME]));

	for (uint32_t i = 0; *type && i < JAVA_N_SIZES; i++) {
		if (strcmp(types[i], type) == 0)
			take(&fields->sizes[i], word_in(entry, values[JAVA_TYPES_SIZE]));
	}
}

/* Calls `each` for each entry, up to the one whose word at `ends` is 0. */
static int read_entries(struct table *table, uint64_t ends, const uint64_t values[JAVA_N_EXPORTS],
			void (*each)(struct table *, const uint64_t *, const uint8_t *,
				     struct java_fields *),
			struct java_fields *fields)
{
	/* Words may begin anywhere in an entry. */
	uint8_t entry[MAX_STRIDE + sizeof(uint64_t)] = { 0 };

	if (table->stride > MAX_STRIDE)
		return -EPROTO;
	for (uint32_t i = 0; i < MAX_ENTRIES; i++) {
		if (table->memory->read(table->memory->data, entry, table->stride,
					table->at + i * table->stride))
			return -EPROTO;
		if (word_in(entry, ends) == 0)
			return 0;
		each(table, values, entry, fields);
	}
	return -EPROTO;
}

int java_fields_read(const struct java_memory *memory, const struct wire_java *exports,
		     uint64_t bias, struct java_fields *ret_fields)
{
	uint64_t values[JAVA_N_EXPORTS];
	struct table table = { .memory = memory };
	int r = read_exports(memory, exports, bias, values);

	if (r < 0)
		return r;
	memset(ret_fields, 0xff, sizeof(*ret_fields));
	table.at = values[JAVA_STRUCTS];
	table.stride = values[JAVA_STRUCTS_STRIDE];
	r = read_entries(&table, values[JAVA_STRUCTS_TYPE], values, take_field, ret_fields);
	if (r < 0)
		return r;
	table.at = values[JAVA_TYPES];
	table.stride = values[JAVA_TYPES_STRIDE];
	return read_entries(&table, values[JAVA_TYPES_NAME], values, take_size, ret_fields);
}

_Static_assert(sizeof(names) / sizeof(names[0]) == JAVA_N_FIELDS, "each field has a name");
_Static_assert(sizeof(types) / sizeof(types[0]) == JAVA_N_SIZES, "each type has a name");
