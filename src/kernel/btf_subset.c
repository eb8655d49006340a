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

/* Bytes of names in a part: those that are many times there are so many times copied. */
#define MAX_STRINGS (16u << 20)

/* A piece of output. */
struct piece {
	FILE *stream;
	char *bytes;
	size_t size; /* once it was flushed */
	uint32_t at; /* where the next byte goes */
};

/* A name that is looked for. */
struct wanted {
	const char *name;
	uint32_t length; /* without its flavour */
	uint32_t next;	 /* with the same first character: an index from 1 on, 0: none */
};

struct part {
	const char *types, *strings;
	uint32_t types_size, strings_size;
	uint32_t n;   /* types, void being the first */
	uint32_t *at; /* where each begins in `types` */
	uint32_t *id; /* in the part; 0: not in it */
	uint32_t *kept, n_kept;
	struct piece new_types, new_strings;
	struct wanted *wanted;
	uint32_t first[256]; /* by the first character, as `next` */
};

/* ---- reading ---- */

static bool in_section(uint32_t from, uint32_t size, size_t room)
{
	return from <= room && size <= room - from;
}

static int find_sections(const void *btf, size_t size, struct part *part)
{
	const struct btf_header *header = btf;
	size_t room;

	if (size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->version != BTF_VERSION || header->hdr_len < sizeof(*header) ||
	    header->hdr_len > size)
		return -EINVAL;
	room = size - header->hdr_len;
	if (!in_section(header->type_off, header->type_len, room) ||
	    !in_section(header->str_off, header->str_len, room) || !header->str_len ||
	    header->type_off % 4 || header->hdr_len % 4)
		return -EINVAL;
	part->types = (const char *)btf + header->hdr_len + header->type_off;
	part->types_size = header->type_len;
	part->strings = (const char *)btf + header->hdr_len + header->str_off;
	part->strings_size = header->str_len;
	return part->strings[part->strings_size - 1] ? -EINVAL : 0;
}

static const struct btf_type *type_of(const struct part *part, uint32_t id)
{
	return (const struct btf_type *)(part->types + part->at[id]);
}

/* Bytes that follow a type, or -EOPNOTSUPP. */
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

/* What a program can read, or what is a step on the way to it. */
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

/* ---- choosing ---- */

/* The part's id for a type that is needed, 0 where that is no data. */
static int keep(struct part *part, uint32_t id, uint32_t *ret_id)
{
	if (id >= part->n)
		return -EINVAL;
	if (id && !part->id[id] && is_data(type_of(part, id))) {
		part->kept[part->n_kept++] = id;
		part->id[id] = part->n_kept;
	}
	*ret_id = part->id[id];
	return 0;
}

static size_t name_length(const char *name)
{
	const char *flavour = *name ? strstr(name + 1, FLAVOUR) : NULL;

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

static bool is_wanted(const struct part *part, const char *name)
{
	const struct wanted *wanted;

	for (uint32_t i = part->first[(uint8_t)*name]; i; i = wanted->next) {
		wanted = &part->wanted[i - 1];
		if (wanted->length > 1 && name[1] != wanted->name[1])
			continue;
		if (strncmp(name, wanted->name, wanted->length) == 0 &&
		    (!name[wanted->length] ||
		     strncmp(name + wanted->length, FLAVOUR, strlen(FLAVOUR)) == 0))
			return true;
	}
	return false;
}

/* Bytes of the type there, with its tail. */
static int64_t whole_size(const struct part *part, uint32_t at)
{
	const struct btf_type *type = (const struct btf_type *)(part->types + at);
	int64_t tail;

	if (!in_section(at, sizeof(*type), part->types_size) ||
	    type->name_off >= part->strings_size)
		return -EINVAL;
	tail = tail_size(type);
	if (tail < 0)
		return tail;
	return tail <= part->types_size - at - (int64_t)sizeof(*type)
		       ? (int64_t)sizeof(*type) + tail
		       : -EINVAL;
}

static int find_types(struct part *part)
{
	uint32_t ignored;
	int r = 0;

	part->n = 1;
	for (uint32_t at = 0; r == 0 && at < part->types_size;) {
		int64_t size = whole_size(part, at);
		uint32_t id = part->n++;
		const char *name;

		if (size < 0)
			return (int)size;
		part->at[id] = at;
		name = part->strings + type_of(part, id)->name_off;
		if (*name && is_wanted(part, name))
			r = keep(part, id, &ignored);
		at += (uint32_t)size;
	}
	return r;
}

/* ---- writing ---- */

static void put(struct piece *piece, const void *bytes, uint32_t size)
{
	fwrite(bytes, 1, size, piece->stream);
	piece->at += size;
}

static int put_name(struct part *part, uint32_t *name_off)
{
	const char *name = part->strings + *name_off;
	uint32_t at = part->new_strings.at;

	if (*name_off >= part->strings_size)
		return -EINVAL;
	if (!*name_off)
		return 0;
	if (at > MAX_STRINGS)
		return -E2BIG;
	put(&part->new_strings, name, (uint32_t)strlen(name) + 1);
	*name_off = at;
	return 0;
}

/* Members of structs and unions, values of enumerations: each begins with its name. */
static int put_named(struct part *part, const char *from, uint32_t n, uint32_t size, bool typed)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++, from += size) {
		struct btf_member one;

		memcpy(&one, from, size);
		r = put_name(part, &one.name_off);
		if (r == 0 && typed)
			r = keep(part, one.type, &one.type);
		put(&part->new_types, &one, size);
	}
	return r;
}

static int put_array(struct part *part, const char *from)
{
	struct btf_array array;
	int r;

	memcpy(&array, from, sizeof(array));
	r = keep(part, array.type, &array.type);
	if (r == 0)
		r = keep(part, array.index_type, &array.index_type);
	put(&part->new_types, &array, sizeof(array));
	return r;
}

static int put_type(struct part *part, const struct btf_type *type)
{
	const char *tail = (const char *)(type + 1);
	uint32_t kind = BTF_INFO_KIND(type->info), n = BTF_INFO_VLEN(type->info);
	struct btf_type copy = *type;
	int r = put_name(part, &copy.name_off);

	if (kind == BTF_KIND_PTR)
		copy.type = 0;
	else if (r == 0 &&
		 (kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_VOLATILE || kind == BTF_KIND_CONST ||
		  kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG))
		r = keep(part, copy.type, &copy.type);
	put(&part->new_types, &copy, sizeof(copy));
	if (r < 0)
		return r;
	switch (kind) {
	case BTF_KIND_ARRAY:
		return put_array(part, tail);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return put_named(part, tail, n, sizeof(struct btf_member), true);
	case BTF_KIND_ENUM:
		return put_named(part, tail, n, sizeof(struct btf_enum), false);
	case BTF_KIND_ENUM64:
		return put_named(part, tail, n, sizeof(struct btf_enum64), false);
	default:
		put(&part->new_types, tail, (uint32_t)tail_size(type));
		return 0;
	}
}

/* Header, types, strings. */
static int put_together(struct part *part, void **ret_part, size_t *ret_size)
{
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = part->new_types.at,
		.str_off = part->new_types.at,
		.str_len = part->new_strings.at,
	};
	size_t size = sizeof(header) + header.type_len + header.str_len;
	char *bytes;

	if (fflush(part->new_types.stream) || fflush(part->new_strings.stream) ||
	    ferror(part->new_types.stream) || ferror(part->new_strings.stream))
		return -ENOMEM;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), part->new_types.bytes, header.type_len);
	memcpy(bytes + sizeof(header) + header.type_len, part->new_strings.bytes, header.str_len);
	*ret_part = bytes;
	*ret_size = size;
	return 0;
}

/* ---- all of it ---- */

static int allocate(struct part *part, const char *const *names, uint32_t n_names)
{
	/* As many as there can be; of what is not used, no memory is touched. */
	size_t most = part->types_size / sizeof(struct btf_type) + 1;

	part->at = reallocarray(NULL, most, sizeof(*part->at));
	part->id = calloc(most, sizeof(*part->id));
	part->kept = reallocarray(NULL, most, sizeof(*part->kept));
	part->wanted = calloc(n_names + 1, sizeof(*part->wanted));
	part->new_types.stream = open_memstream(&part->new_types.bytes, &part->new_types.size);
	part->new_strings.stream =
		open_memstream(&part->new_strings.bytes, &part->new_strings.size);
	if (!part->at || !part->id || !part->kept || !part->wanted || !part->new_types.stream ||
	    !part->new_strings.stream)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_names; i++) {
		uint32_t *first = &part->first[(uint8_t)names[i][0]];

		part->wanted[i] = (struct wanted){
			.name = names[i],
			.length = (uint32_t)name_length(names[i]),
			.next = *first,
		};
		*first = i + 1;
	}
	return 0;
}

static void clear(struct part *part)
{
	if (part->new_types.stream)
		fclose(part->new_types.stream);
	if (part->new_strings.stream)
		fclose(part->new_strings.stream);
	free(part->new_types.bytes);
	free(part->new_strings.bytes);
	free(part->at);
	free(part->id);
	free(part->kept);
	free(part->wanted);
}

int btf_subset(const void *btf, size_t size, const char *const *names, uint32_t n_names,
	       void **ret_part, size_t *ret_size)
{
	own(clear) struct part part = { 0 };
	int r = find_sections(btf, size, &part);

	if (r == 0)
		r = allocate(&part, names, n_names);
	if (r == 0)
		r = find_types(&part);
	if (r < 0)
		return r;
	put(&part.new_strings, "", 1);
	/* The list grows while it is gone through. */
	for (uint32_t i = 0; r == 0 && i < part.n_kept; i++)
		r = put_type(&part, type_of(&part, part.kept[i]));
	return r < 0 ? r : put_together(&part, ret_part, ret_size);
}
