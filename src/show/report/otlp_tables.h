/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What OTLP's dictionary has and pprof's tables lack: attributes and stacks, each without
 * duplicates. Ids count from 1, as 0 is "none" in that dictionary.
 */
#ifndef STACKTALLY_REPORT_OTLP_TABLES_H
#define STACKTALLY_REPORT_OTLP_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"

struct otlp_attribute {
	uint64_t value; /* the position of a string, or a number */
	uint32_t key;	/* the position of a string */
	uint32_t is_number;
};

struct otlp_stack {
	uint32_t first, n; /* in `locations` */
};

struct otlp_tables {
	int failed; /* 0 or a negative errno: the first failure; from then on ids are 0 */
	struct otlp_attribute *attributes;
	uint32_t n_attributes, attribute_capacity;
	struct index attribute_index;
	struct otlp_stack *stacks;
	uint32_t n_stacks, stack_capacity;
	uint32_t *locations;
	uint32_t n_locations, location_capacity;
	struct index stack_index;
};

void otlp_tables_clear(struct otlp_tables *tables);
uint32_t otlp_attribute(struct otlp_tables *tables, struct otlp_attribute attribute);
/* Of `n` ids of locations. */
uint32_t otlp_stack(struct otlp_tables *tables, const uint32_t *locations, uint32_t n);

#endif
