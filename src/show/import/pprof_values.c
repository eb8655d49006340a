// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/pprof_values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/pprof_wire.h"

#define NS_IN_SECOND 1000000000u

static uint64_t value_at(struct pprof_span sample, uint32_t index)
{
	struct pprof_field field;
	uint64_t number, value = 0;
	uint32_t n = 0;

	while (pprof_next(&sample, &field) > 0)
		if (field.number == PPROF_SAMPLE_VALUE)
			while (pprof_file_number(&field, &number) > 0)
				if (n++ == index)
					value = number;
	return value;
}

uint64_t pprof_values_value(const struct pprof_wanted *values, struct pprof_span sample)
{
	return value_at(sample, values->wanted);
}

static uint32_t default_of(const struct pprof_file *file)
{
	struct pprof_span name = pprof_file_string(file, file->default_type);

	for (uint32_t i = 0; name.size > 0 && i < file->n_types; i++) {
		struct pprof_span type = pprof_file_string(file, file->types[i].type);

		if (type.size == name.size && memcmp(type.at, name.at, name.size) == 0)
			return i;
	}
	return file->n_types - 1;
}

static bool is_type(const struct pprof_file *file, const struct pprof_type *type, const char *name,
		    const char *unit)
{
	return pprof_file_is(file, type->type, name) && pprof_file_is(file, type->unit, unit);
}

/* Whether the value is that of `samples` times the period in all samples. */
static bool is_product(const struct pprof_file *file, uint32_t value, uint32_t samples)
{
	struct pprof_span rest = file->bytes;
	struct pprof_field field;
	uint64_t product;

	while (pprof_next(&rest, &field) > 0) {
		if (field.number != PPROF_PROFILE_SAMPLE)
			continue;
		if (__builtin_mul_overflow(value_at(field.bytes, samples), file->period,
					   &product) ||
		    product != value_at(field.bytes, value))
			return false;
	}
	return true;
}

/* The index of the number of samples that the value is a multiple of, or its own. */
static uint32_t samples_of(const struct pprof_file *file, uint32_t value)
{
	const struct pprof_type *type = &file->types[value];

	if (!pprof_file_string(file, type->type).size || file->period == 0 ||
	    file->period_type.type != type->type || file->period_type.unit != type->unit)
		return value;
	for (uint32_t i = 0; i < file->n_types; i++)
		if (i != value && is_type(file, &file->types[i], "samples", "count") &&
		    is_product(file, value, i))
			return i;
	return value;
}

static int keep(const struct pprof_file *file, struct pool *pool, uint64_t index,
		const char **ret_copy)
{
	struct pprof_span text = pprof_file_string(file, index);
	const char *copy;

	if (text.size == 0)
		return 0;
	copy = pool_string_n(pool, text.at, strnlen(text.at, text.size));
	if (!copy)
		return -ENOMEM;
	*ret_copy = copy;
	return 0;
}

/* CPU time at a rate that a number of samples per second has, or events at a period. */
static bool has_rate(const struct pprof_file *file, const struct pprof_type *type,
		     struct profile_meta *meta)
{
	uint64_t hertz = file->period ? (NS_IN_SECOND + file->period / 2) / file->period : 0;

	if (is_type(file, type, "cpu", "nanoseconds") && hertz &&
	    NS_IN_SECOND / hertz == file->period)
		meta->frequency = hertz;
	else if (pprof_file_is(file, type->unit, "count"))
		meta->period = file->period;
	return meta->frequency || meta->period;
}

static int describe(const struct pprof_file *file, struct pool *pool, const struct pprof_type *type,
		    struct profile_meta *meta)
{
	int r;

	/* What our own files of time off the CPU have. */
	meta->wall = file->ours && is_type(file, type, "wall", "nanoseconds");
	meta->timed = meta->wall || is_type(file, type, "offcpu", "nanoseconds");
	if (meta->timed || is_type(file, type, "samples", "count"))
		return 0;
	r = keep(file, pool, type->type, &meta->measure);
	return r < 0 ? r : keep(file, pool, type->unit, &meta->unit);
}

/* The index of the value of that name, or the number of values. */
static uint32_t named(const struct pprof_file *file, const char *name)
{
	uint32_t i = 0;

	while (i < file->n_types && !pprof_file_is(file, file->types[i].type, name))
		i++;
	return i;
}

void pprof_values_list(const struct pprof_file *file, char *ret_text, size_t size)
{
	size_t used = 0;

	ret_text[0] = '\0';
	for (uint32_t i = 0; i < file->n_types && used < size; i++) {
		struct pprof_span type = pprof_file_string(file, file->types[i].type);
		struct pprof_span unit = pprof_file_string(file, file->types[i].unit);

		used += (size_t)snprintf(ret_text + used, size - used, "%s%.*s (%.*s)",
					 i ? ", " : "", (int)strnlen(type.at, type.size), type.at,
					 (int)strnlen(unit.at, unit.size), unit.at);
	}
}

int pprof_values_choose(const struct pprof_file *file, const char *name, struct pool *pool,
			struct profile_meta *meta, struct pprof_wanted *ret_values)
{
	uint32_t value = name ? named(file, name) : default_of(file), samples;
	const struct pprof_type *type = &file->types[value];

	if (value >= file->n_types)
		return -ENOENT;
	samples = samples_of(file, value);
	meta->start_time_ns = file->time_ns;
	meta->duration_ns = file->duration_ns;
	if (samples != value && has_rate(file, type, meta)) {
		ret_values->wanted = samples;
		return meta->period ? keep(file, pool, type->type, &meta->event) : 0;
	}
	ret_values->wanted = value;
	return describe(file, pool, type, meta);
}
