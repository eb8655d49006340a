// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --push: writes the report of each interval in the format of an engine, and hands it to push/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/own.h"
#include "cli/message.h"
#include "push/push.h"
#include "report/push_formats.h"
#include "run/sink.h"
#include "view/service.h"

struct push_sink {
	const struct run_report *report;
	struct push *push;
	const struct writer *writer;
	struct report_options options;
	struct report_label *labels;
	char **keys; /* copies, cut at the `=` */
	struct utsname system;
};

static void warn(const char *line)
{
	message_line("%s", line);
}

static void note(const char *line)
{
	message_note("%s", line);
}

/* host.name, unless it is given, and those of --label. */
static int add_labels(struct push_sink *sink, const struct plan_push *plan)
{
	bool named = uname(&sink->system) == 0;
	uint32_t n = 0;

	sink->labels = calloc(plan->n_labels + 1, sizeof(*sink->labels));
	sink->keys = calloc(plan->n_labels + 1, sizeof(*sink->keys));
	if (!sink->labels || !sink->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_labels; i++) {
		char *key = strdup(plan->labels[i]), *value = key ? strchr(key, '=') : NULL;

		sink->keys[i] = key;
		if (!value)
			return -ENOMEM;
		*value++ = '\0';
		sink->labels[n++] = (struct report_label){ key, value };
		named &= strcmp(key, SERVICE_KEY_HOST) != 0;
	}
	if (named)
		sink->labels[n++] =
			(struct report_label){ SERVICE_KEY_HOST, sink->system.nodename };
	sink->options.labels = sink->labels;
	sink->options.n_labels = n;
	return 0;
}

static int open_push(const struct plan_push *plan, struct push_sink *sink, struct error *err)
{
	struct push_options options = { .auth = plan->auth,
					.ca = plan->ca,
					.spool = plan->spool,
					.spool_bytes = plan->spool_bytes,
					.warn = warn,
					.note = note };
	int r = target_parse(plan->url, &options.target, err);

	if (r < 0)
		return r;
	sink->writer = options.target.protocol == PUSH_PYROSCOPE ? &pyroscope_writer
		       : options.target.protocol == PUSH_OTLP	 ? &otlp_writer
								 : &pprof_writer;
	return push_open(&options, &sink->push, err);
}

static void close_push(void *self)
{
	struct push_sink *sink = self;

	if (!sink)
		return;
	push_close(sink->push);
	for (uint32_t i = 0; sink->keys && sink->keys[i]; i++)
		free(sink->keys[i]);
	free(sink->keys);
	free(sink->labels);
	free(sink);
}

DEFINE_OWN(void, close_push)

/* Forks. */
static int open_sink(const struct sink_source *source, struct plan *plan, void **ret_self,
		     struct error *err)
{
	own(own_close_push) void *self = NULL;
	struct push_sink *sink;
	int r;

	if (!plan->push.url)
		return 0;
	self = sink = calloc(1, sizeof(*sink));
	if (!sink)
		return error_set(err, -ENOMEM, "out of memory");
	sink->report = source->report;
	sink->options = source->report->request->report;
	sink->options.by_service = true;
	sink->options.no_labels = plan->push.no_labels;
	sink->options.no_names = plan->push.no_names;
	if (add_labels(sink, &plan->push) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = open_push(&plan->push, sink, err);
	if (r == 0)
		*ret_self = take_ptr(self);
	return r;
}

static int start_push(void *self, const struct sink_source *source, struct error *err)
{
	(void)source;
	return push_start(((struct push_sink *)self)->push, err);
}

/* Sends what the tally holds, unless that is nothing. */
static int send_report(void *self, struct error *err)
{
	struct push_sink *sink = self;
	const struct run_report *report = sink->report;
	own(own_free) char *body = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	if (tally_n_entries(report->tally) == 0)
		return 0;
	out = open_memstream(&body, &size);
	if (!out)
		return error_set(err, -ENOMEM, "out of memory");
	r = report_write(sink->writer,
			 &(struct report){ .measurement = { &report->meta, report->tally,
							    report->names, NULL },
					   .options = &sink->options },
			 out, NULL, err);
	if (fclose(out) != 0 && r == 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		push_add(sink->push, report->meta.start_time_ns, body, size);
	return r;
}

const struct sink_ops push_sink = {
	.open = open_sink,
	.begin = start_push,
	.report = send_report,
	.close = close_push, /* waits for what can be sent within seconds */
};
