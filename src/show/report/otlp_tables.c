// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/otlp_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void otlp_tables_clear(struct otlp_tables *tables)
{
	free(tables->attributes);
	index_free(&tables->attribute_index);
	free(tables->stacks);
	free(tables->locations);
	index_free(&tables->stack_index);
	*tables = (struct otlp_tables){ 0 };
}

static uint32_t added(struct otlp_tables *tables, struct index *index, uint64_t hash, uint32_t id)
{
	if (index_add(index, hash, id - 1) < 0)
		tables->failed = -ENOMEM;
	return tables->failed ? 0 : id;
}

uint32_t otlp_attribute(struct otlp_tables *tables, struct otlp_attribute attribute)
{
	uint64_t hash = hash_bytes(&attribute, sizeof(attribute));
	struct index_cursor cursor;

	for (uint32_t at = index_first(&tables->attribute_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->attribute_index, &cursor))
		if (memcmp(&tables->attributes[at], &attribute, sizeof(attribute)) == 0)
			return at + 1;
	if (!tables->failed)
		tables->failed = grow(&tables->attributes, &tables->attribute_capacity,
				      (size_t)tables->n_attributes + 1);
	if (tables->failed)
		return 0;
	tables->attributes[tables->n_attributes++] = attribute;
	return added(tables, &tables->attribute_index, hash, tables->n_attributes);
}

uint32_t otlp_stack(struct otlp_tables *tables, const uint32_t *locations, uint32_t n)
{
	uint64_t hash = hash_bytes(locations, n * sizeof(*locations));
	struct index_cursor cursor;

	for (uint32_t at = index_first(&tables->stack_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->stack_index, &cursor)) {
		const struct otlp_stack *known = &tables->stacks[at];

		if (known->n == n && memcmp(tables->locations + known->first, locations,
					    n * sizeof(*locations)) == 0)
			return at + 1;
	}
	if (!tables->failed)
		tables->failed = grow(&tables->stacks, &tables->stack_capacity,
				      (size_t)tables->n_stacks + 1);
	if (!tables->failed)
		tables->failed = grow(&tables->locations, &tables->location_capacity,
				      (size_t)tables->n_locations + n);
	if (tables->failed)
		return 0;
	memcpy(tables->locations + tables->n_locations, locations, n * sizeof(*locations));
	tables->stacks[tables->n_stacks++] = (struct otlp_stack){ tables->n_locations, n };
	tables->n_locations += n;
	return added(tables, &tables->stack_index, hash, tables->n_stacks);
}
