// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The request that Grafana Pyroscope's Connect API takes: push.v1.PushRequest. A series has the
 * labels of one service; its sample is that service's part of the profile, with an id of its own.
 * Source of the field numbers: api/push/v1/push.proto and api/types/v1/types.proto of
 * github.com/grafana/pyroscope.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/own.h"
#include "report/pprof.h"
#include "report/pprof_wire.h"
#include "report/push_formats.h"

enum { PUSH_REQUEST_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum { SAMPLE_RAW_PROFILE = 1, SAMPLE_ID = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };

#define UUID_SIZE 37

struct pyroscope {
	const struct profile *profile;
	const struct report_options *options;
	struct services services;
	struct tally_entry *entries; /* of one service */
	struct bytes series, label, sample;
};

static void put_string(struct bytes *bytes, uint32_t field, const char *text)
{
	pprof_put_header(bytes, field, strlen(text));
	bytes_string(bytes, text);
}

/* Names of labels have letters, digits and underscores only. */
static void put_label(struct pyroscope *pyroscope, const char *name, const char *value)
{
	struct bytes *label = &pyroscope->label;

	label->used = 0;
	pprof_put_header(label, LABEL_NAME, strlen(name));
	for (const char *at = name; *at; at++) {
		bool allowed = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			       (*at >= '0' && *at <= '9' && at > name);

		bytes_char(label, allowed ? *at : '_');
	}
	put_string(label, LABEL_VALUE, value);
	pprof_put_message(&pyroscope->series, SERIES_LABELS, label);
}

static void put_labels(struct pyroscope *pyroscope, const struct service *service)
{
	const struct report_options *options = pyroscope->options;
	struct pprof_values values = pprof_values_of(pyroscope->profile->meta);

	put_label(pyroscope, "__name__",
		  strcmp(values.measure, "cpu") == 0 ? "process_cpu" : values.measure);
	put_label(pyroscope, SERVICE_KEY_NAME, service->name);
	for (uint32_t i = 0; i < service->n_labels; i++)
		put_label(pyroscope, service->labels[i].key, service->labels[i].value);
	for (uint32_t i = 0; i < options->n_labels; i++)
		if (strcmp(options->labels[i].key, SERVICE_KEY_NAME) != 0)
			put_label(pyroscope, options->labels[i].key, options->labels[i].value);
}

static int make_uuid(char uuid[UUID_SIZE])
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	/* RFC 9562: version 4. */
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0, at = 0; i < sizeof(bytes); i++)
		at += (size_t)snprintf(uuid + at, UUID_SIZE - at, "%02x%s", bytes[i],
				       i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
	return 0;
}

/* The part of the profile that is of one service, as a pprof profile. */
static int put_part(struct pyroscope *pyroscope, uint32_t service)
{
	struct profile part = *pyroscope->profile;
	own(own_free) char *body = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	part.entries = pyroscope->entries;
	part.n_entries = 0;
	part.total = part.events = 0;
	for (uint32_t i = 0; i < pyroscope->profile->n_entries; i++) {
		if (pyroscope->services.of_entry[i] != service)
			continue;
		pyroscope->entries[part.n_entries++] = pyroscope->profile->entries[i];
		part.total += pyroscope->profile->entries[i].count;
		part.events += pyroscope->profile->entries[i].events;
	}
	out = part.n_entries ? open_memstream(&body, &size) : NULL;
	if (!out)
		return part.n_entries ? -ENOMEM : 0;
	r = pprof_put_profile(&part, pyroscope->options, NULL, out);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	pprof_put_header(&pyroscope->sample, SAMPLE_RAW_PROFILE, size);
	bytes_put(&pyroscope->sample, body, size);
	return r;
}

static int put_series(struct pyroscope *pyroscope, uint32_t service, struct bytes *request)
{
	char uuid[UUID_SIZE];
	int r = make_uuid(uuid);

	pyroscope->series.used = pyroscope->sample.used = 0;
	if (r == 0)
		r = put_part(pyroscope, service);
	if (r < 0 || pyroscope->sample.used == 0)
		return r;
	put_labels(pyroscope, &pyroscope->services.list[service]);
	put_string(&pyroscope->sample, SAMPLE_ID, uuid);
	pprof_put_message(&pyroscope->series, SERIES_SAMPLES, &pyroscope->sample);
	pprof_put_message(request, PUSH_REQUEST_SERIES, &pyroscope->series);
	return pyroscope->series.failed | pyroscope->sample.failed | pyroscope->label.failed
		       ? -ENOMEM
		       : 0;
}

static int put_all(struct pyroscope *pyroscope, FILE *out)
{
	struct bytes request;
	int r = services_find(pyroscope->profile, pyroscope->options, &pyroscope->services), ended;

	if (r < 0)
		return r;
	pyroscope->entries =
		calloc((size_t)pyroscope->profile->n_entries + 1, sizeof(*pyroscope->entries));
	if (!pyroscope->entries)
		return -ENOMEM;
	bytes_start(&request, out);
	for (uint32_t i = 0; r == 0 && i < pyroscope->services.n; i++)
		r = put_series(pyroscope, i, &request);
	ended = bytes_finish(&request);
	bytes_clear(&request);
	return r < 0 ? r : ended;
}

static int pyroscope_write(const struct report *report, FILE *out, struct error *err)
{
	struct pyroscope pyroscope = { .profile = report->profile, .options = report->options };
	int r = put_all(&pyroscope, out);

	services_clear(&pyroscope.services);
	free(pyroscope.entries);
	bytes_clear(&pyroscope.series);
	bytes_clear(&pyroscope.label);
	bytes_clear(&pyroscope.sample);
	return report_result(r, err);
}

const struct writer pyroscope_writer = {
	.name = "pyroscope",
	.description = "Grafana Pyroscope's push request",
	.whole = true,
	.binary = true,
	.view = pprof_service_view,
	.write = pyroscope_write,
};
