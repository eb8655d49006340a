// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/jfr_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"

#define DEPTH_MAX 16 /* elements within elements; the format has five */

static const struct {
	const char *name;
	enum jfr_form form;
	unsigned int size;
} plain[] = {
	{ "boolean", JFR_NUMBER, 1 },
	{ "byte", JFR_NUMBER, 1 },
	{ "char", JFR_NUMBER, 2 },
	{ "short", JFR_NUMBER, 2 },
	{ "int", JFR_NUMBER, 4 },
	{ "long", JFR_NUMBER, 8 },
	{ "float", JFR_FLOAT, 4 },
	{ "double", JFR_FLOAT, 8 },
	{ "java.lang.String", JFR_TEXT, 0 },
};

struct metadata {
	struct jfr_types *types;
	struct jfr_cursor cursor;
	const char **strings;
	uint32_t n_strings;
	bool in_type; /* fields belong to the last type */
};

/* ---- strings ---- */

static int read_strings(struct metadata *metadata, struct pool *pool)
{
	struct bytes text;
	uint32_t n = jfr_count(&metadata->cursor);
	int r = 0;

	metadata->strings = reallocarray(NULL, (size_t)n + 1, sizeof(*metadata->strings));
	if (!metadata->strings)
		return -ENOMEM;
	bytes_start(&text, NULL);
	while (r == 0 && metadata->n_strings < n && !metadata->cursor.failed) {
		struct jfr_string string = jfr_string(&metadata->cursor);
		const char *copy;

		text.used = 0;
		jfr_string_put(&string, &text);
		copy = text.failed ? NULL
				   : pool_string_n(pool, text.start ? text.start : "", text.used);
		if (copy)
			metadata->strings[metadata->n_strings++] = copy;
		else
			r = -ENOMEM;
	}
	bytes_clear(&text);
	return r < 0 ? r : metadata->cursor.failed ? -EBADMSG : 0;
}

static const char *next_string(struct metadata *metadata)
{
	uint32_t at = jfr_u32(&metadata->cursor);

	if (at < metadata->n_strings)
		return metadata->strings[at];
	metadata->cursor.failed = true;
	return "";
}

/* ---- elements ---- */

/* The attributes that types and fields have. */
struct attributes {
	const char *name;
	uint64_t id, type;
	bool constant, list;
};

static void read_attributes(struct metadata *metadata, struct attributes *ret_are)
{
	uint32_t n = jfr_count(&metadata->cursor);

	*ret_are = (struct attributes){ .name = "" };
	while (n-- > 0 && !metadata->cursor.failed) {
		const char *key = next_string(metadata), *value = next_string(metadata);

		if (strcmp(key, "name") == 0)
			ret_are->name = value;
		else if (strcmp(key, "id") == 0)
			ret_are->id = strtoull(value, NULL, 10);
		else if (strcmp(key, "class") == 0)
			ret_are->type = strtoull(value, NULL, 10);
		else if (strcmp(key, "constantPool") == 0)
			ret_are->constant = strcmp(value, "true") == 0;
		else if (strcmp(key, "dimension") == 0)
			ret_are->list = strcmp(value, "0") != 0;
	}
}

static int add_type(struct jfr_types *types, const struct attributes *are)
{
	struct jfr_type type = { .name = are->name, .id = are->id, .first = types->n_fields };
	int r = grow(&types->list, &types->capacity, (size_t)types->n + 1);

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(plain[i].name, are->name) == 0) {
			type.form = plain[i].form;
			type.size = plain[i].size;
		}
	if (r == 0)
		r = index_add(&types->index, hash_u64(are->id), types->n);
	if (r == 0)
		types->list[types->n++] = type;
	return r;
}

static int add_field(struct jfr_types *types, const struct attributes *are)
{
	int r = grow(&types->fields, &types->field_capacity, (size_t)types->n_fields + 1);

	if (r < 0)
		return r;
	types->fields[types->n_fields++] = (struct jfr_field){ .name = are->name,
							       .type_id = are->type,
							       .constant = are->constant,
							       .list = are->list };
	types->list[types->n - 1].n++;
	return 0;
}

static int read_element(struct metadata *metadata, unsigned int depth)
{
	const char *name = next_string(metadata);
	bool is_type = strcmp(name, "class") == 0, outer = metadata->in_type;
	struct attributes are;
	uint32_t n;
	int r = 0;

	read_attributes(metadata, &are);
	if (metadata->cursor.failed || depth == DEPTH_MAX)
		return -EBADMSG;
	/* A type within a type would divide the fields of that. */
	if (is_type && !outer)
		r = add_type(metadata->types, &are);
	else if (outer && strcmp(name, "field") == 0)
		r = add_field(metadata->types, &are);
	metadata->in_type = is_type && !outer;
	n = jfr_count(&metadata->cursor);
	while (r == 0 && n-- > 0)
		r = read_element(metadata, depth + 1);
	metadata->in_type = outer;
	return r < 0 ? r : metadata->cursor.failed ? -EBADMSG : 0;
}

int jfr_types_read(struct jfr_types *types, struct jfr_cursor event, struct pool *pool)
{
	struct metadata metadata = { .types = types, .cursor = event };
	int r;

	jfr_u64(&metadata.cursor); /* when it was written, for how long, and its id */
	jfr_u64(&metadata.cursor);
	jfr_u64(&metadata.cursor);
	r = read_strings(&metadata, pool);
	if (r == 0)
		r = read_element(&metadata, 0);
	free(metadata.strings);
	for (uint32_t i = 0; r == 0 && i < types->n_fields; i++)
		types->fields[i].type = jfr_type_of(types, types->fields[i].type_id);
	return r;
}

void jfr_types_clear(struct jfr_types *types)
{
	free(types->list);
	free(types->fields);
	index_free(&types->index);
	*types = (struct jfr_types){ 0 };
}

uint32_t jfr_type_of(const struct jfr_types *types, uint64_t id)
{
	struct index_cursor cursor;
	uint32_t at = index_first(&types->index, hash_u64(id), &cursor);

	while (at != INDEX_NONE && types->list[at].id != id)
		at = index_next(&types->index, &cursor);
	return at == INDEX_NONE ? JFR_NO_TYPE : at;
}

uint32_t jfr_type_named(const struct jfr_types *types, const char *name)
{
	for (uint32_t i = 0; i < types->n; i++)
		if (strcmp(types->list[i].name, name) == 0)
			return i;
	return JFR_NO_TYPE;
}

bool jfr_type_has(const struct jfr_types *types, uint32_t type, const char *field)
{
	const struct jfr_type *of = &types->list[type];

	for (uint32_t i = 0; i < of->n; i++)
		if (strcmp(types->fields[of->first + i].name, field) == 0)
			return true;
	return false;
}
