// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/btf_subset.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/btf.h>

#include "base/own.h"

#define FLAVOUR "___"

/* Bytes of names in the subset. Bounded, because a name is copied each time it is used. */
#define MAX_STRINGS (16u << 20)

/* A section of the output. */
struct section {
	FILE *stream;
	char *bytes;
	size_t size; /* valid after fflush() */
	uint32_t at; /* where the next byte goes */
};

/* A name to be found. */
struct wanted {
	const char *name;
	uint32_t length; /* without its flavour */
	uint32_t next;	 /* index + 1 of the next with the same first character; 0: none */
};

struct subset {
	const char *types, *strings;
	uint32_t types_size, strings_size;
	uint32_t n;   /* types; type 0 is void */
	uint32_t *at; /* offset of each in `types` */
	uint32_t *id; /* of each in the subset; 0: not in it */
	uint32_t *kept, n_kept;
	struct section new_types, new_strings;
	struct wanted *wanted;
	uint32_t first[256]; /* lists of wanted names by first character: as `next` */
};

/* ---- reading ---- */

static bool in_section(uint32_t from, uint32_t size, size_t capacity)
{
	return from <= capacity && size <= capacity - from;
}

static int find_sections(const void *btf, size_t size, struct subset *subset)
{
	const struct btf_header *header = btf;
	size_t capacity;

	if (size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->version != BTF_VERSION || header->hdr_len < sizeof(*header) ||
	    header->hdr_len > size)
		return -EINVAL;
	capacity = size - header->hdr_len;
	if (!in_section(header->type_off, header->type_len, capacity) ||
	    !in_section(header->str_off, header->str_len, capacity) || !header->str_len ||
	    header->type_off % 4 || header->hdr_len % 4)
		return -EINVAL;
	subset->types = (const char *)btf + header->hdr_len + header->type_off;
	subset->types_size = header->type_len;
	subset->strings = (const char *)btf + header->hdr_len + header->str_off;
	subset->strings_size = header->str_len;
	return subset->strings[subset->strings_size - 1] ? -EINVAL : 0;
}

static const struct btf_type *type_of(const struct subset *subset, uint32_t id)
{
	return (const struct btf_type *)(subset->types + subset->at[id]);
}

/* Bytes that follow a struct btf_type, or -EOPNOTSUPP. */
static int64_t tail_size(const struct btf_type *type)
{
	int64_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * (int64_t)sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Whether a program can read a value of the type, or gets through it to one. */
static bool is_data(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_FWD:
	case BTF_KIND_FUNC:
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_VAR:
	case BTF_KIND_DATASEC:
	case BTF_KIND_DECL_TAG:
		return false;
	default:
		return true;
	}
}

/* ---- selecting ---- */

/* The id in the subset of a type that belongs there; 0 for a type that is no data. */
static int keep(struct subset *subset, uint32_t id, uint32_t *ret_id)
{
	if (id >= subset->n)
		return -EINVAL;
	if (id && !subset->id[id] && is_data(type_of(subset, id))) {
		subset->kept[subset->n_kept++] = id;
		subset->id[id] = subset->n_kept;
	}
	*ret_id = subset->id[id];
	return 0;
}

static size_t name_length(const char *name)
{
	const char *flavour = *name ? strstr(name + 1, FLAVOUR) : NULL;

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

static bool is_wanted(const struct subset *subset, const char *name)
{
	const struct wanted *wanted;

	for (uint32_t i = subset->first[(uint8_t)*name]; i; i = wanted->next) {
		wanted = &subset->wanted[i - 1];
		if (wanted->length > 1 && name[1] != wanted->name[1])
			continue;
		if (strncmp(name, wanted->name, wanted->length) == 0 &&
		    (!name[wanted->length] ||
		     strncmp(name + wanted->length, FLAVOUR, strlen(FLAVOUR)) == 0))
			return true;
	}
	return false;
}

/* Size of the type at an offset, with what follows it; checks that it lies in the section. */
static int64_t whole_size(const struct subset *subset, uint32_t at)
{
	const struct btf_type *type = (const struct btf_type *)(subset->types + at);
	int64_t tail;

	if (!in_section(at, sizeof(*type), subset->types_size) ||
	    type->name_off >= subset->strings_size)
		return -EINVAL;
	tail = tail_size(type);
	if (tail < 0)
		return tail;
	return tail <= subset->types_size - at - (int64_t)sizeof(*type)
		       ? (int64_t)sizeof(*type) + tail
		       : -EINVAL;
}

static int find_types(struct subset *subset)
{
	uint32_t ignored;

	subset->n = 1;
	for (uint32_t at = 0; at < subset->types_size;) {
		int64_t size = whole_size(subset, at);
		uint32_t id = subset->n++;
		const char *name;

		if (size < 0)
			return (int)size;
		subset->at[id] = at;
		name = subset->strings + type_of(subset, id)->name_off;
		if (*name && is_wanted(subset, name)) {
			int r = keep(subset, id, &ignored);

			if (r < 0)
				return r;
		}
		at += (uint32_t)size;
	}
	return 0;
}

/* ---- writing ---- */

static void put(struct section *section, const void *bytes, uint32_t size)
{
	fwrite(bytes, 1, size, section->stream);
	section->at += size;
}

static int put_name(struct subset *subset, uint32_t *name_off)
{
	const char *name = subset->strings + *name_off;
	uint32_t at = subset->new_strings.at;

	if (*name_off >= subset->strings_size)
		return -EINVAL;
	if (!*name_off)
		return 0;
	if (at > MAX_STRINGS)
		return -E2BIG;
	put(&subset->new_strings, name, (uint32_t)strlen(name) + 1);
	*name_off = at;
	return 0;
}

/* Members of structs and unions, values of enumerations: all begin with the offset of their name.
 */
static int put_named(struct subset *subset, const char *from, uint32_t n, uint32_t size, bool typed)
{
	for (uint32_t i = 0; i < n; i++, from += size) {
		struct btf_member one;
		int r;

		memcpy(&one, from, size);
		r = put_name(subset, &one.name_off);
		if (r == 0 && typed)
			r = keep(subset, one.type, &one.type);
		if (r < 0)
			return r;
		put(&subset->new_types, &one, size);
	}
	return 0;
}

static int put_array(struct subset *subset, const char *from)
{
	struct btf_array array;
	int r;

	memcpy(&array, from, sizeof(array));
	r = keep(subset, array.type, &array.type);
	if (r == 0)
		r = keep(subset, array.index_type, &array.index_type);
	put(&subset->new_types, &array, sizeof(array));
	return r;
}

static int put_type(struct subset *subset, const struct btf_type *type)
{
	const char *tail = (const char *)(type + 1);
	uint32_t kind = BTF_INFO_KIND(type->info), n = BTF_INFO_VLEN(type->info);
	struct btf_type copy = *type;
	int r = put_name(subset, &copy.name_off);

	if (kind == BTF_KIND_PTR)
		copy.type = 0;
	else if (r == 0 &&
		 (kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_VOLATILE || kind == BTF_KIND_CONST ||
		  kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG))
		r = keep(subset, copy.type, &copy.type);
	put(&subset->new_types, &copy, sizeof(copy));
	if (r < 0)
		return r;
	switch (kind) {
	case BTF_KIND_ARRAY:
		return put_array(subset, tail);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return put_named(subset, tail, n, sizeof(struct btf_member), true);
	case BTF_KIND_ENUM:
		return put_named(subset, tail, n, sizeof(struct btf_enum), false);
	case BTF_KIND_ENUM64:
		return put_named(subset, tail, n, sizeof(struct btf_enum64), false);
	default:
		put(&subset->new_types, tail, (uint32_t)tail_size(type));
		return 0;
	}
}

/* Header, types, strings. */
static int put_together(struct subset *subset, void **ret_subset, size_t *ret_size)
{
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = subset->new_types.at,
		.str_off = subset->new_types.at,
		.str_len = subset->new_strings.at,
	};
	size_t size = sizeof(header) + header.type_len + header.str_len;
	char *bytes;

	if (fflush(subset->new_types.stream) || fflush(subset->new_strings.stream) ||
	    ferror(subset->new_types.stream) || ferror(subset->new_strings.stream))
		return -ENOMEM;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), subset->new_types.bytes, header.type_len);
	memcpy(bytes + sizeof(header) + header.type_len, subset->new_strings.bytes, header.str_len);
	*ret_subset = bytes;
	*ret_size = size;
	return 0;
}

/* ---- all of it ---- */

static int allocate(struct subset *subset, const char *const *names, uint32_t n_names)
{
	/* Room for the most types there can be: memory that is not used is not touched. */
	size_t most = subset->types_size / sizeof(struct btf_type) + 1;

	subset->at = reallocarray(NULL, most, sizeof(*subset->at));
	subset->id = calloc(most, sizeof(*subset->id));
	subset->kept = reallocarray(NULL, most, sizeof(*subset->kept));
	subset->wanted = calloc(n_names + 1, sizeof(*subset->wanted));
	subset->new_types.stream =
		open_memstream(&subset->new_types.bytes, &subset->new_types.size);
	subset->new_strings.stream =
		open_memstream(&subset->new_strings.bytes, &subset->new_strings.size);
	if (!subset->at || !subset->id || !subset->kept || !subset->wanted ||
	    !subset->new_types.stream || !subset->new_strings.stream)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_names; i++) {
		uint32_t *first = &subset->first[(uint8_t)names[i][0]];

		subset->wanted[i] = (struct wanted){
			.name = names[i],
			.length = (uint32_t)name_length(names[i]),
			.next = *first,
		};
		*first = i + 1;
	}
	return 0;
}

static void clear(struct subset *subset)
{
	if (subset->new_types.stream)
		fclose(subset->new_types.stream);
	if (subset->new_strings.stream)
		fclose(subset->new_strings.stream);
	free(subset->new_types.bytes);
	free(subset->new_strings.bytes);
	free(subset->at);
	free(subset->id);
	free(subset->kept);
	free(subset->wanted);
}

int btf_subset(const void *btf, size_t size, const char *const *names, uint32_t n_names,
	       void **ret_subset, size_t *ret_size)
{
	own(clear) struct subset subset = { 0 };
	int r = find_sections(btf, size, &subset);

	if (r < 0)
		return r;
	r = allocate(&subset, names, n_names);
	if (r < 0)
		return r;
	r = find_types(&subset);
	if (r < 0)
		return r;
	put(&subset.new_strings, "", 1);
	/* put_type() adds to the list. */
	for (uint32_t i = 0; i < subset.n_kept; i++) {
		r = put_type(&subset, type_of(&subset, subset.kept[i]));
		if (r < 0)
			return r;
	}
	return put_together(&subset, ret_subset, ret_size);
}
