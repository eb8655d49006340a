/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a chunk of a JFR file: what its metadata event tells of events and of their fields.
 * The file may be hostile: types may be missing, have the same number or hold themselves.
 */
#ifndef STACKTALLY_IMPORT_JFR_TYPES_H
#define STACKTALLY_IMPORT_JFR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/pool.h"
#include "import/jfr_cursor.h"

#define JFR_NO_TYPE UINT32_MAX

enum jfr_form {
	JFR_STRUCT, /* of fields */
	JFR_TEXT,   /* java.lang.String */
	JFR_NUMBER,
	JFR_FLOAT, /* of a fixed size, too */
};

struct jfr_type {
	const char *name; /* "jdk.ExecutionSample" */
	uint64_t id;
	enum jfr_form form;
	unsigned int size; /* of a number that is not compressed */
	uint32_t first, n; /* its fields */
};

struct jfr_field {
	const char *name;
	uint64_t type_id;
	uint32_t type; /* its index, or JFR_NO_TYPE */
	bool constant; /* the key of a constant is stored in place of it */
	bool list;     /* how many there are, and then each */
};

struct jfr_types {
	struct jfr_type *list;
	struct jfr_field *fields;
	uint32_t n, capacity, n_fields, field_capacity;
	struct index index; /* of types, by id */
};

/*
 * Reads the metadata event behind its size and type. Names are in the pool. 0, -EBADMSG or -ENOMEM;
 * jfr_types_clear() is due in all cases.
 */
int jfr_types_read(struct jfr_types *types, struct jfr_cursor event, struct pool *pool);
void jfr_types_clear(struct jfr_types *types);

/* The index of a type, or JFR_NO_TYPE. */
uint32_t jfr_type_of(const struct jfr_types *types, uint64_t id);
uint32_t jfr_type_named(const struct jfr_types *types, const char *name);
/* Whether a type has a field of that name. */
bool jfr_type_has(const struct jfr_types *types, uint32_t type, const char *field);

#endif
