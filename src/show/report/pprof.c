// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's profile.proto, gzipped, for `go tool pprof` and stores of continuous profiles.
 *
 * Samples come first and fill the tables, which follow. Ids count from 1 without gaps. A location
 * is one address with the functions inlined there, innermost first; it has at least one line. The
 * first mapping is the main program's, which pprof takes from there.
 *
 * A difference is written as pprof's -diff_base makes it: the samples of the base follow, with
 * values below 0 and the label pprof::base, by which pprof finds the total that shares are of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "report/gzip.h"
#include "report/pprof.h"
#include "report/pprof_tables.h"
#include "report/pprof_wire.h"
#include "report/writer.h"
#include "view/facts.h"
#include "view/frame_text.h"

struct pprof {
	const struct profile *profile;
	struct pprof_tables tables;
	struct bytes message, part, field; /* nested: field in part in message */
	struct bytes header;		   /* of the message */
	struct gzip gzip;
	const struct report_options *options;
	const struct services *services; /* or NULL */
	struct pprof_values values;
	uint32_t list[STACK_LIST_MAX];
};

#define ALWAYS_SHOWN                                                                               \
	(PROFILE_VIEW_CGROUP | PROFILE_VIEW_ADDRESS | PROFILE_VIEW_MODULE | PROFILE_VIEW_OBJECT |  \
	 PROFILE_VIEW_INLINED | PROFILE_VIEW_LINES)

static uint32_t pprof_view(const struct report_options *options)
{
	return options->by_service ? pprof_service_view(options)
				   : PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD | ALWAYS_SHOWN;
}

uint32_t pprof_service_view(const struct report_options *options)
{
	return (options->per_thread ? PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD
				    : PROFILE_VIEW_COMM) |
	       ALWAYS_SHOWN;
}

uint64_t pprof_address(const struct profile_frame *frame, const struct report_options *options)
{
	return options->no_names && frame->is.base ? frame->is.base + frame->is.offset
						   : frame->address;
}

uint64_t pprof_bias(const struct names_object *object, const struct report_options *options)
{
	return options->no_names ? object->bias : 0;
}

/* Writes the complete message as `field` of the profile, and empties it. */
static void send(struct pprof *pprof, uint32_t field)
{
	pprof->header.used = 0;
	pprof_put_header(&pprof->header, field, pprof->message.used);
	gzip_put(&pprof->gzip, pprof->header.start, pprof->header.used);
	gzip_put(&pprof->gzip, pprof->message.start, pprof->message.used);
	pprof->message.used = 0;
}

static uint32_t string(struct pprof *pprof, const char *text)
{
	return pprof_string(&pprof->tables, text, strlen(text));
}

/* ---- samples ---- */

static void put_string_label(struct pprof *pprof, const char *key, const char *value, size_t size)
{
	pprof->part.used = 0;
	pprof_put_number(&pprof->part, PPROF_LABEL_KEY, string(pprof, key));
	pprof_put_number(&pprof->part, PPROF_LABEL_STR, pprof_string(&pprof->tables, value, size));
	pprof_put_message(&pprof->message, PPROF_SAMPLE_LABEL, &pprof->part);
}

static void put_number_label(struct pprof *pprof, const char *key, uint64_t value)
{
	pprof->part.used = 0;
	pprof_put_number(&pprof->part, PPROF_LABEL_KEY, string(pprof, key));
	pprof_put_number(&pprof->part, PPROF_LABEL_NUM, value);
	pprof_put_message(&pprof->message, PPROF_SAMPLE_LABEL, &pprof->part);
}

static bool is_inlined(const struct pprof *pprof, uint32_t frame)
{
	const struct profile_frame *is = pprof_frame(&pprof->tables, frame);

	return is && is->is.flags & NAMES_FRAME_INLINED;
}

static void put_locations(struct pprof *pprof, const struct tally_entry *entry, bool of_base)
{
	uint32_t n = pprof_stack(&pprof->tables, entry, of_base, pprof->list);

	pprof->part.used = 0;
	for (uint32_t at = 0, end; at < n; at = end) {
		end = at + 1;
		while (end < n && is_inlined(pprof, pprof->list[end - 1]))
			end++;
		pprof_put_varint(&pprof->part,
				 pprof_location(&pprof->tables, pprof->list + at, end - at));
	}
	pprof_put_message(&pprof->message, PPROF_SAMPLE_LOCATION_ID, &pprof->part);
}

/* pprof's numbers are signed. */
static uint64_t bounded(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : value;
}

static void put_text_label(struct pprof *pprof, const char *key, const char *value)
{
	put_string_label(pprof, key, value, strlen(value));
}

static void put_container(struct pprof *pprof, const struct service *service)
{
	for (uint32_t i = 0; i < service->n_labels; i++)
		put_text_label(pprof, service->labels[i].key, service->labels[i].value);
}

static void put_service(struct pprof *pprof, const struct service *service)
{
	const struct report_options *options = pprof->options;

	put_text_label(pprof, SERVICE_KEY_NAME, service->name);
	put_container(pprof, service);
	for (uint32_t i = 0; i < options->n_labels; i++)
		if (strcmp(options->labels[i].key, SERVICE_KEY_NAME) != 0)
			put_text_label(pprof, options->labels[i].key, options->labels[i].value);
}

static void put_labels(struct pprof *pprof, const struct profile *of,
		       const struct tally_entry *entry)
{
	bool of_file = !pprof->options->by_service;
	struct service service;

	put_string_label(pprof, "comm", entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
	if (of_file || entry->tgid)
		put_number_label(pprof, "pid", entry->tgid);
	if (entry->tid)
		put_number_label(pprof, "tid", entry->tid);
	if (entry->cgroup) {
		pprof->field.used = 0;
		frame_text_cgroup(&pprof->field, of, entry->cgroup);
		put_string_label(pprof, "cgroup", pprof->field.start, pprof->field.used);
	}
	if (entry->cgroup && of_file) {
		service_of_cgroup(profile_cgroup(pprof->profile, entry->cgroup), &service);
		put_container(pprof, &service);
	}
	if (of_file)
		put_text_label(pprof, "mode", stack_in_kernel(entry) ? "kernel" : "user");
}

/* A count of the base in those of the profile, below 0 in two's complement. */
static uint64_t signed_count(const struct pprof *pprof, uint64_t count, bool of_base)
{
	return of_base ? -bounded(scale_count(&pprof->profile->base_scale, count)) : bounded(count);
}

static void put_numbers(struct pprof *pprof, const struct tally_entry *entry, bool of_base)
{
	uint64_t total;

	pprof->part.used = 0;
	pprof_put_varint(&pprof->part,
			 signed_count(pprof, pprof->values.summed ? entry->events : entry->count,
				      of_base));
	if (!pprof->values.counts_only) {
		if (__builtin_mul_overflow(entry->count, pprof->values.each, &total))
			total = UINT64_MAX;
		pprof_put_varint(&pprof->part, signed_count(pprof, total, of_base));
	}
	pprof_put_message(&pprof->message, PPROF_SAMPLE_VALUE, &pprof->part);
}

static void put_sample(struct pprof *pprof, uint32_t i)
{
	const struct tally_entry *entry = &pprof->profile->entries[i];

	put_locations(pprof, entry, false);
	put_numbers(pprof, entry, false);
	if (!pprof->options->no_labels) {
		put_labels(pprof, pprof->profile, entry);
		if (pprof->services)
			put_service(pprof, &pprof->services->list[pprof->services->of_entry[i]]);
	}
	send(pprof, PPROF_PROFILE_SAMPLE);
}

static void put_base_sample(struct pprof *pprof, uint32_t i)
{
	const struct tally_entry *entry = &pprof->profile->base->entries[i];

	put_locations(pprof, entry, true);
	put_numbers(pprof, entry, true);
	put_labels(pprof, pprof->profile->base, entry);
	put_text_label(pprof, "pprof::base", "true");
	send(pprof, PPROF_PROFILE_SAMPLE);
}

/* ---- tables ---- */

/* The program with most samples gets the first mapping. */
static int choose_main_mapping(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	own(own_free) uint64_t *samples = calloc((size_t)profile->n_objects + 1, sizeof(*samples));
	uint32_t most = NAMES_NONE;

	if (!samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		struct profile_entry entry;

		profile_read(profile, &profile->entries[i], &entry);
		/* Skip libraries: the root is usually in libc, with the program above it. */
		for (uint32_t k = entry.n_user; k-- > 0;) {
			uint32_t object = profile->frames[entry.user[k]].is.object;
			const char *path =
				object < profile->n_objects ? profile->objects[object].path : "";

			if (*path != '/' || strstr(path, ".so"))
				continue;
			samples[object] += entry.is->count;
			if (most == NAMES_NONE || samples[object] > samples[most])
				most = object;
			break;
		}
	}
	pprof_mapping(&pprof->tables, most);
	return 0;
}

static void put_line(struct pprof *pprof, uint32_t frame, struct pprof_mapping *mapping)
{
	const struct profile_frame *known = pprof_frame(&pprof->tables, frame);
	const struct names_frame *is = known ? &known->is : NULL;

	pprof->part.used = 0;
	pprof_put_number(&pprof->part, PPROF_LINE_FUNCTION_ID,
			 pprof_function(&pprof->tables, frame));
	if (is)
		pprof_put_number(&pprof->part, PPROF_LINE_LINE, is->line);
	pprof_put_message(&pprof->message, PPROF_LOCATION_LINE, &pprof->part);
	if (!is || !mapping)
		return;
	mapping->has_functions |= is->name != NULL;
	mapping->has_files |= is->file != NULL;
	mapping->has_lines |= is->line != 0;
	mapping->has_inlines |= (is->flags & NAMES_FRAME_INLINED) != 0;
}

static void put_location(struct pprof *pprof, uint32_t i)
{
	const struct pprof_location *location = &pprof->tables.locations[i];
	const uint32_t *frames = pprof->tables.location_frames + location->first;
	uint32_t last = frames[location->n - 1], id = 0;
	const struct profile_frame *code = pprof_frame(&pprof->tables, last);

	pprof_put_number(&pprof->message, PPROF_LOCATION_ID, i + 1);
	if (code) {
		id = pprof_mapping(&pprof->tables, pprof_object(&pprof->tables, last));
		pprof_put_number(&pprof->message, PPROF_LOCATION_MAPPING_ID, id);
		pprof_put_number(&pprof->message, PPROF_LOCATION_ADDRESS,
				 pprof_address(code, pprof->options));
	}
	/* An engine can name code in files, and nothing else. */
	for (uint32_t k = 0; k < location->n && !(id && pprof->options->no_names); k++)
		put_line(pprof, frames[k], id ? &pprof->tables.mappings[id - 1] : NULL);
	send(pprof, PPROF_PROFILE_LOCATION);
}

static void put_mapping(struct pprof *pprof, uint32_t i)
{
	const struct pprof_mapping *mapping = &pprof->tables.mappings[i];
	const struct names_object *object = mapping->object;
	struct bytes *message = &pprof->message;
	uint64_t bias = pprof_bias(object, pprof->options);

	pprof_put_number(message, PPROF_MAPPING_ID, i + 1);
	pprof_put_number(message, PPROF_MAPPING_MEMORY_START, object->start - bias);
	pprof_put_number(message, PPROF_MAPPING_MEMORY_LIMIT, object->end - bias);
	pprof_put_number(message, PPROF_MAPPING_FILE_OFFSET, object->offset);
	pprof_put_number(message, PPROF_MAPPING_FILENAME, string(pprof, object->path));
	pprof->field.used = 0;
	for (uint32_t k = 0; k < object->build_id_size; k++)
		bytes_hex(&pprof->field, object->build_id[k], 2, true);
	pprof_put_number(message, PPROF_MAPPING_BUILD_ID,
			 pprof_string(&pprof->tables, pprof->field.start, pprof->field.used));
	pprof_put_number(message, PPROF_MAPPING_HAS_FUNCTIONS, mapping->has_functions);
	pprof_put_number(message, PPROF_MAPPING_HAS_FILENAMES, mapping->has_files);
	pprof_put_number(message, PPROF_MAPPING_HAS_LINE_NUMBERS, mapping->has_lines);
	pprof_put_number(message, PPROF_MAPPING_HAS_INLINE_FRAMES, mapping->has_inlines);
	send(pprof, PPROF_PROFILE_MAPPING);
}

static void put_function(struct pprof *pprof, uint32_t i)
{
	const struct pprof_function *function = &pprof->tables.functions[i];
	struct bytes *message = &pprof->message;

	pprof_put_number(message, PPROF_FUNCTION_ID, i + 1);
	pprof_put_number(message, PPROF_FUNCTION_NAME, string(pprof, function->name));
	pprof_put_number(message, PPROF_FUNCTION_SYSTEM_NAME,
			 string(pprof, function->linkage_name));
	if (function->file)
		pprof_put_number(message, PPROF_FUNCTION_FILENAME, string(pprof, function->file));
	send(pprof, PPROF_PROFILE_FUNCTION);
}

static void put_string_table(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->tables.n_strings; i++) {
		const struct pprof_string *known = &pprof->tables.strings[i];

		bytes_put(&pprof->message, pprof->tables.text.start + known->at, known->size);
		send(pprof, PPROF_PROFILE_STRING_TABLE);
	}
}

/* ---- the measurement ---- */

static void put_value_type(struct pprof *pprof, uint32_t field, const char *type, const char *unit)
{
	pprof_put_number(&pprof->message, PPROF_VALUE_TYPE_TYPE, string(pprof, type));
	pprof_put_number(&pprof->message, PPROF_VALUE_TYPE_UNIT, string(pprof, unit));
	send(pprof, field);
}

/* The sample type, in the terms that stores of profiles expect. */
struct pprof_values pprof_values_of(const struct profile_meta *meta)
{
	uint64_t ns = profile_sample_ns(meta);

	if (meta->summed)
		return (struct pprof_values){ .measure = meta->measure ? meta->measure : "",
					      .unit = meta->unit ? meta->unit : "count",
					      .each = 1,
					      .summed = true };
	if (meta->measure || meta->unit)
		return (struct pprof_values){ .measure = meta->measure ? meta->measure : "",
					      .unit = meta->unit ? meta->unit : "",
					      .each = 1,
					      .counts_only = true };
	if (meta->timed)
		return (struct pprof_values){ .measure = meta->wall ? "wall" : "offcpu",
					      .unit = "nanoseconds",
					      .each = 1,
					      .counts_only = true };
	if (ns > 0)
		return (struct pprof_values){ .measure = "cpu", .unit = "nanoseconds", .each = ns };
	if (meta->period > 1 && meta->event)
		return (struct pprof_values){ .measure = meta->event,
					      .unit = "count",
					      .each = meta->period };
	return (struct pprof_values){
		.measure = "events", .unit = "count", .each = 1, .counts_only = true
	};
}

static void put_values(struct pprof *pprof)
{
	if (!pprof->values.counts_only)
		put_value_type(pprof, PPROF_PROFILE_SAMPLE_TYPE,
			       pprof->values.summed ? "events" : "samples", "count");
	put_value_type(pprof, PPROF_PROFILE_SAMPLE_TYPE, pprof->values.measure, pprof->values.unit);
	put_value_type(pprof, PPROF_PROFILE_PERIOD_TYPE, pprof->values.measure, pprof->values.unit);
}

/* pprof prints all comments before each report, and says these itself. */
static bool is_said_by_pprof(const char *fact)
{
	return strcmp(fact, "time") == 0 || strcmp(fact, "duration") == 0;
}

static void put_comment(void *context, const char *name, const char *text)
{
	struct pprof *pprof = context;

	if (is_said_by_pprof(name))
		return;
	pprof->field.used = 0;
	bytes_string(&pprof->field, name);
	bytes_string(&pprof->field, ": ");
	bytes_string(&pprof->field, text);
	pprof_put_number(&pprof->message, PPROF_PROFILE_COMMENT,
			 pprof_string(&pprof->tables, pprof->field.start, pprof->field.used));
}

/* Fields of the profile itself, outside any message. */
static void put_meta(struct pprof *pprof)
{
	const struct profile_meta *meta = pprof->profile->meta;
	struct bytes *message = &pprof->message;

	pprof_put_number(message, PPROF_PROFILE_TIME_NANOS, bounded(meta->start_time_ns));
	pprof_put_number(message, PPROF_PROFILE_DURATION_NANOS, bounded(meta->duration_ns));
	pprof_put_number(message, PPROF_PROFILE_PERIOD, bounded(pprof->values.each));
	pprof_put_number(message, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE,
			 string(pprof, pprof->values.measure));
	facts_each(pprof->profile, put_comment, pprof);
	gzip_put(&pprof->gzip, message->start, message->used);
	message->used = 0;
}

static bool failed(const struct pprof *pprof)
{
	return pprof->tables.failed || pprof->gzip.failed || pprof->message.failed ||
	       pprof->part.failed || pprof->field.failed || pprof->header.failed;
}

static int put_all(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	struct pprof_tables *tables = &pprof->tables;
	int r = choose_main_mapping(pprof);

	if (r < 0)
		return r;
	put_values(pprof);
	for (uint32_t i = 0; !failed(pprof) && i < profile->n_entries; i++) {
		profile_prefetch(profile, i + 8);
		put_sample(pprof, i);
	}
	for (uint32_t i = 0; !failed(pprof) && profile->base && i < profile->base->n_entries; i++)
		put_base_sample(pprof, i);
	for (uint32_t i = 0; !failed(pprof) && i < tables->n_locations; i++)
		put_location(pprof, i);
	for (uint32_t i = 0; !failed(pprof) && i < tables->n_mappings; i++)
		put_mapping(pprof, i);
	for (uint32_t i = 0; !failed(pprof) && i < tables->n_functions; i++)
		put_function(pprof, i);
	put_meta(pprof);
	if (!failed(pprof))
		put_string_table(pprof);
	return failed(pprof) && !pprof->gzip.failed ? -ENOMEM : 0;
}

int pprof_put_profile(const struct profile *profile, const struct report_options *options,
		      const struct services *services, FILE *out)
{
	own(own_free) struct pprof *pprof = calloc(1, sizeof(*pprof));
	int r, ended;

	if (!pprof)
		return -ENOMEM;
	pprof->profile = profile;
	pprof->options = options;
	pprof->services = services;
	pprof->values = pprof_values_of(profile->meta);
	pprof_tables_start(&pprof->tables, profile);
	gzip_start(&pprof->gzip, out);
	r = put_all(pprof);
	ended = gzip_end(&pprof->gzip);
	bytes_clear(&pprof->message);
	bytes_clear(&pprof->part);
	bytes_clear(&pprof->field);
	bytes_clear(&pprof->header);
	pprof_tables_clear(&pprof->tables);
	return r < 0 ? r : ended;
}

static int pprof_write(const struct report *report, FILE *out, struct error *err)
{
	own(services_clear) struct services services = { 0 };
	bool by_service = report->options->by_service;
	int r = by_service ? services_find(report->profile, report->options, &services) : 0;

	if (r == 0)
		r = pprof_put_profile(report->profile, report->options,
				      by_service ? &services : NULL, out);
	return report_result(r, err);
}

static const char *const extensions[] = { ".pb.gz", ".pprof", NULL };

const struct writer pprof_writer = {
	.name = "pprof",
	.description = "gzipped profile.proto, for pprof and stores of profiles",
	.extensions = extensions,
	.whole = true,
	.binary = true,
	.diffs = true,
	.view = pprof_view,
	.write = pprof_write,
};
