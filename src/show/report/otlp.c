// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OTLP's request to export profiles. A service is a resource with one profile; all share the
 * dictionary, which follows them. The first entry of each of its tables stands for "none".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/own.h"
#include "report/gzip.h"
#include "report/otlp_tables.h"
#include "report/otlp_wire.h"
#include "report/pprof.h"
#include "report/pprof_tables.h"
#include "report/pprof_wire.h"
#include "report/push_formats.h"
#include "view/frame_text.h"

#define ID_SIZE	       16
#define MAX_ATTRIBUTES 4 /* of a sample */

struct otlp {
	const struct profile *profile;
	const struct report_options *options;
	struct services services;
	struct pprof_values values;
	struct pprof_tables tables;
	struct otlp_tables more;
	struct bytes resource, message, part, field; /* nested: field in part in message ... */
	struct gzip gzip;
	uint32_t list[STACK_LIST_MAX], locations[STACK_LIST_MAX];
};

static uint32_t string(struct otlp *otlp, const char *text, size_t size)
{
	return pprof_string(&otlp->tables, text, size);
}

static void put_string(struct bytes *bytes, uint32_t field, const char *text)
{
	pprof_put_header(bytes, field, strlen(text));
	bytes_string(bytes, text);
}

static uint32_t string_attribute(struct otlp *otlp, const char *key, const char *value, size_t size)
{
	return otlp_attribute(&otlp->more,
			      (struct otlp_attribute){ .key = string(otlp, key, strlen(key)),
						       .value = string(otlp, value, size) });
}

static uint32_t number_attribute(struct otlp *otlp, const char *key, uint64_t value)
{
	return otlp_attribute(&otlp->more,
			      (struct otlp_attribute){ .key = string(otlp, key, strlen(key)),
						       .value = value,
						       .is_number = true });
}

/* ---- samples ---- */

static bool is_inlined(const struct otlp *otlp, uint32_t frame)
{
	return frame < otlp->profile->n_frames &&
	       otlp->profile->frames[frame].is.flags & NAMES_FRAME_INLINED;
}

static uint32_t stack_of(struct otlp *otlp, const struct tally_entry *entry)
{
	uint32_t n = stack_list(otlp->profile, entry, otlp->list), n_locations = 0;

	for (uint32_t at = 0, end; at < n; at = end) {
		end = at + 1;
		while (end < n && is_inlined(otlp, otlp->list[end - 1]))
			end++;
		otlp->locations[n_locations++] =
			pprof_location(&otlp->tables, otlp->list + at, end - at);
	}
	return otlp_stack(&otlp->more, otlp->locations, n_locations);
}

static uint32_t attributes_of(struct otlp *otlp, const struct tally_entry *entry,
			      uint32_t ret_ids[MAX_ATTRIBUTES])
{
	uint32_t n = 0;

	if (otlp->options->no_labels)
		return 0;
	ret_ids[n++] = string_attribute(otlp, "thread.name", entry->comm,
					strnlen(entry->comm, sizeof(entry->comm)));
	if (entry->tgid)
		ret_ids[n++] = number_attribute(otlp, "process.pid", entry->tgid);
	if (entry->tid)
		ret_ids[n++] = number_attribute(otlp, "thread.id", entry->tid);
	if (entry->cgroup) {
		otlp->field.used = 0;
		frame_text_cgroup(&otlp->field, otlp->profile, entry->cgroup);
		ret_ids[n++] =
			string_attribute(otlp, "cgroup", otlp->field.start, otlp->field.used);
	}
	return n;
}

static void put_ids(struct bytes *bytes, struct bytes *scratch, uint32_t field, const uint32_t *ids,
		    uint32_t n)
{
	scratch->used = 0;
	for (uint32_t i = 0; i < n; i++)
		pprof_put_varint(scratch, ids[i]);
	pprof_put_message(bytes, field, scratch);
}

static void put_sample(struct otlp *otlp, const struct tally_entry *entry)
{
	uint32_t ids[MAX_ATTRIBUTES], n = attributes_of(otlp, entry, ids);

	otlp->part.used = 0;
	pprof_put_number(&otlp->part, OTLP_SAMPLE_STACK, stack_of(otlp, entry));
	put_ids(&otlp->part, &otlp->field, OTLP_SAMPLE_ATTRIBUTES, ids, n);
	otlp->field.used = 0;
	pprof_put_varint(&otlp->field, entry->count > INT64_MAX ? INT64_MAX : entry->count);
	pprof_put_message(&otlp->part, OTLP_SAMPLE_VALUES, &otlp->field);
	pprof_put_message(&otlp->message, OTLP_PROFILE_SAMPLE, &otlp->part);
}

/* ---- a service ---- */

static void put_value_type(struct otlp *otlp, uint32_t field, const char *type, const char *unit)
{
	otlp->part.used = 0;
	pprof_put_number(&otlp->part, OTLP_VALUE_TYPE_TYPE, string(otlp, type, strlen(type)));
	pprof_put_number(&otlp->part, OTLP_VALUE_TYPE_UNIT, string(otlp, unit, strlen(unit)));
	pprof_put_message(&otlp->message, field, &otlp->part);
}

/* Into `message`. False: the service has no sample. */
static bool put_profile(struct otlp *otlp, uint32_t service, const unsigned char id[ID_SIZE])
{
	const struct profile *profile = otlp->profile;
	const struct pprof_values *values = &otlp->values;
	struct bytes *message = &otlp->message;
	uint64_t start = profile->meta->start_time_ns;
	bool any = false;

	message->used = 0;
	if (values->counts_only || values->summed)
		put_value_type(otlp, OTLP_PROFILE_SAMPLE_TYPE, values->measure, values->unit);
	else
		put_value_type(otlp, OTLP_PROFILE_SAMPLE_TYPE, "samples", "count");
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		if (otlp->services.of_entry[i] != service)
			continue;
		put_sample(otlp, &profile->entries[i]);
		any = true;
	}
	pprof_put_varint(message, OTLP_PROFILE_TIME_UNIX_NANO << 3 | PPROF_WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		bytes_char(message, (char)(start >> (8 * i)));
	pprof_put_number(message, OTLP_PROFILE_DURATION_NANO, profile->meta->duration_ns);
	put_value_type(otlp, OTLP_PROFILE_PERIOD_TYPE, values->measure, values->unit);
	pprof_put_number(message, OTLP_PROFILE_PERIOD, values->each);
	pprof_put_header(message, OTLP_PROFILE_ID, ID_SIZE);
	bytes_put(message, id, ID_SIZE);
	return any;
}

/* Into `part`, by `field`. */
static void put_resource_attribute(struct otlp *otlp, const char *key, const char *value)
{
	struct bytes any = { 0 };

	otlp->field.used = 0;
	put_string(&otlp->field, OTLP_KEY_VALUE_KEY, key);
	put_string(&any, OTLP_ANY_VALUE_STRING, value);
	pprof_put_message(&otlp->field, OTLP_KEY_VALUE_VALUE, &any);
	pprof_put_message(&otlp->part, OTLP_RESOURCE_ATTRIBUTES, &otlp->field);
	bytes_clear(&any);
}

static void put_resource(struct otlp *otlp, const struct service *service)
{
	const struct report_options *options = otlp->options;

	otlp->part.used = 0;
	put_resource_attribute(otlp, SERVICE_KEY_NAME, service->name);
	for (uint32_t i = 0; i < service->n_labels; i++)
		put_resource_attribute(otlp, service->labels[i].key, service->labels[i].value);
	for (uint32_t i = 0; i < options->n_labels; i++)
		if (strcmp(options->labels[i].key, SERVICE_KEY_NAME) != 0)
			put_resource_attribute(otlp, options->labels[i].key,
					       options->labels[i].value);
	pprof_put_message(&otlp->resource, OTLP_RESOURCE_PROFILES_RESOURCE, &otlp->part);
}

static void put_scope(struct otlp *otlp)
{
	otlp->part.used = otlp->field.used = 0;
	put_string(&otlp->field, OTLP_SCOPE_NAME, "stacktally");
	put_string(&otlp->field, OTLP_SCOPE_VERSION, STACKTALLY_VERSION);
	pprof_put_message(&otlp->part, OTLP_SCOPE_PROFILES_SCOPE, &otlp->field);
	pprof_put_message(&otlp->part, OTLP_SCOPE_PROFILES_PROFILE, &otlp->message);
	pprof_put_message(&otlp->resource, OTLP_RESOURCE_PROFILES_SCOPE, &otlp->part);
}

static void send(struct otlp *otlp, uint32_t field, const struct bytes *message)
{
	otlp->field.used = 0;
	pprof_put_header(&otlp->field, field, message->used);
	gzip_put(&otlp->gzip, otlp->field.start, otlp->field.used);
	gzip_put(&otlp->gzip, message->start, message->used);
}

static int put_service(struct otlp *otlp, uint32_t service)
{
	unsigned char id[ID_SIZE];

	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return -EAGAIN;
	if (!put_profile(otlp, service, id))
		return 0;
	otlp->resource.used = 0;
	put_resource(otlp, &otlp->services.list[service]);
	put_scope(otlp);
	send(otlp, OTLP_REQUEST_RESOURCE_PROFILES, &otlp->resource);
	return 0;
}

/* ---- the dictionary, into `message` ---- */

static void put_entry(struct otlp *otlp, uint32_t field)
{
	pprof_put_message(&otlp->message, field, &otlp->part);
	otlp->part.used = 0;
}

static void put_location(struct otlp *otlp, uint32_t i)
{
	const struct profile *profile = otlp->profile;
	const struct pprof_location *location = &otlp->tables.locations[i];
	const uint32_t *frames = otlp->tables.location_frames + location->first;
	uint32_t last = frames[location->n - 1], id = 0;

	if (last < profile->n_frames) {
		id = pprof_mapping(&otlp->tables, profile->frames[last].is.object);
		pprof_put_number(&otlp->part, OTLP_LOCATION_MAPPING, id);
		pprof_put_number(&otlp->part, OTLP_LOCATION_ADDRESS,
				 pprof_address(&profile->frames[last], otlp->options));
	}
	for (uint32_t k = 0; k < location->n && !(id && otlp->options->no_names); k++) {
		otlp->field.used = 0;
		pprof_put_number(&otlp->field, OTLP_LINE_FUNCTION,
				 pprof_function(&otlp->tables, frames[k]));
		if (frames[k] < profile->n_frames)
			pprof_put_number(&otlp->field, OTLP_LINE_LINE,
					 profile->frames[frames[k]].is.line);
		pprof_put_message(&otlp->part, OTLP_LOCATION_LINE, &otlp->field);
	}
	put_entry(otlp, OTLP_DICTIONARY_LOCATION);
}

static void put_mapping(struct otlp *otlp, uint32_t i)
{
	const struct names_object *object = otlp->tables.mappings[i].object;
	uint64_t bias = pprof_bias(object, otlp->options);
	uint32_t id;

	pprof_put_number(&otlp->part, OTLP_MAPPING_START, object->start - bias);
	pprof_put_number(&otlp->part, OTLP_MAPPING_LIMIT, object->end - bias);
	pprof_put_number(&otlp->part, OTLP_MAPPING_OFFSET, object->offset);
	pprof_put_number(&otlp->part, OTLP_MAPPING_FILENAME,
			 string(otlp, object->path, strlen(object->path)));
	if (object->build_id_size) {
		otlp->field.used = 0;
		for (uint32_t k = 0; k < object->build_id_size; k++)
			bytes_hex(&otlp->field, object->build_id[k], 2, true);
		id = string_attribute(otlp, "process.executable.build_id.gnu", otlp->field.start,
				      otlp->field.used);
		put_ids(&otlp->part, &otlp->field, OTLP_MAPPING_ATTRIBUTES, &id, 1);
	}
	put_entry(otlp, OTLP_DICTIONARY_MAPPING);
}

static void put_function(struct otlp *otlp, uint32_t i)
{
	const struct pprof_function *function = &otlp->tables.functions[i];
	const char *file = function->file ? function->file : "";

	pprof_put_number(&otlp->part, OTLP_FUNCTION_NAME,
			 string(otlp, function->name, strlen(function->name)));
	pprof_put_number(&otlp->part, OTLP_FUNCTION_SYSTEM_NAME,
			 string(otlp, function->linkage_name, strlen(function->linkage_name)));
	pprof_put_number(&otlp->part, OTLP_FUNCTION_FILENAME, string(otlp, file, strlen(file)));
	put_entry(otlp, OTLP_DICTIONARY_FUNCTION);
}

static void put_attribute(struct otlp *otlp, const struct otlp_attribute *attribute)
{
	pprof_put_number(&otlp->part, OTLP_ATTRIBUTE_KEY, attribute->key);
	otlp->field.used = 0;
	if (attribute->is_number) {
		pprof_put_number(&otlp->field, OTLP_ANY_VALUE_INT, attribute->value);
	} else {
		const struct pprof_string *text = &otlp->tables.strings[attribute->value];

		pprof_put_header(&otlp->field, OTLP_ANY_VALUE_STRING, text->size);
		bytes_put(&otlp->field, otlp->tables.text.start + text->at, text->size);
	}
	pprof_put_message(&otlp->part, OTLP_ATTRIBUTE_VALUE, &otlp->field);
	put_entry(otlp, OTLP_DICTIONARY_ATTRIBUTE);
}

/* Each table may add to those that follow it here. */
static void put_dictionary(struct otlp *otlp)
{
	struct pprof_tables *tables = &otlp->tables;
	struct otlp_tables *more = &otlp->more;

	otlp->message.used = otlp->part.used = 0;
	put_entry(otlp, OTLP_DICTIONARY_STACK);
	for (uint32_t i = 0; i < more->n_stacks; i++) {
		put_ids(&otlp->part, &otlp->field, OTLP_STACK_LOCATIONS,
			more->locations + more->stacks[i].first, more->stacks[i].n);
		put_entry(otlp, OTLP_DICTIONARY_STACK);
	}
	put_entry(otlp, OTLP_DICTIONARY_LOCATION);
	for (uint32_t i = 0; !tables->failed && i < tables->n_locations; i++)
		put_location(otlp, i);
	put_entry(otlp, OTLP_DICTIONARY_MAPPING);
	for (uint32_t i = 0; !tables->failed && i < tables->n_mappings; i++)
		put_mapping(otlp, i);
	put_entry(otlp, OTLP_DICTIONARY_FUNCTION);
	for (uint32_t i = 0; !tables->failed && i < tables->n_functions; i++)
		put_function(otlp, i);
	put_entry(otlp, OTLP_DICTIONARY_LINK);
	put_entry(otlp, OTLP_DICTIONARY_ATTRIBUTE);
	for (uint32_t i = 0; !tables->failed && i < more->n_attributes; i++)
		put_attribute(otlp, &more->attributes[i]);
	for (uint32_t i = 0; !tables->failed && i < tables->n_strings; i++) {
		bytes_put(&otlp->part, tables->text.start + tables->strings[i].at,
			  tables->strings[i].size);
		put_entry(otlp, OTLP_DICTIONARY_STRING);
	}
	send(otlp, OTLP_REQUEST_DICTIONARY, &otlp->message);
}

static int failure(const struct otlp *otlp)
{
	int failed = otlp->tables.failed ? otlp->tables.failed : otlp->more.failed;

	if (otlp->resource.failed || otlp->message.failed || otlp->part.failed ||
	    otlp->field.failed)
		failed = -ENOMEM;
	return failed;
}

static int put_all(struct otlp *otlp)
{
	int r = services_find(otlp->profile, otlp->options, &otlp->services);

	for (uint32_t i = 0; r == 0 && i < otlp->services.n; i++) {
		r = put_service(otlp, i);
		r = r < 0 ? r : failure(otlp);
	}
	if (r == 0)
		put_dictionary(otlp);
	return r < 0 ? r : failure(otlp);
}

static int otlp_write(const struct report *report, FILE *out, struct error *err)
{
	own(own_free) struct otlp *otlp = calloc(1, sizeof(*otlp));
	int r, ended;

	if (!otlp)
		return report_result(-ENOMEM, err);
	otlp->profile = report->profile;
	otlp->options = report->options;
	otlp->values = pprof_values_of(report->profile->meta);
	pprof_tables_start(&otlp->tables, report->profile);
	gzip_start(&otlp->gzip, out);
	r = put_all(otlp);
	ended = gzip_end(&otlp->gzip);
	bytes_clear(&otlp->resource);
	bytes_clear(&otlp->message);
	bytes_clear(&otlp->part);
	bytes_clear(&otlp->field);
	pprof_tables_clear(&otlp->tables);
	otlp_tables_clear(&otlp->more);
	services_clear(&otlp->services);
	return report_result(r < 0 ? r : ended, err);
}

const struct writer otlp_writer = {
	.name = "otlp",
	.description = "OTLP's request to export profiles",
	.whole = true,
	.binary = true,
	.view = pprof_service_view,
	.write = otlp_write,
};
