// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/own.h"
#include "cli/message.h"
#include "push/push.h"
#include "report/push_formats.h"
#include "view/service.h"

struct run_push {
	struct push *push;
	const struct writer *writer;
	struct report_options options;
	struct report_label *labels;
	char **keys; /* copies, cut at the `=` */
	struct utsname system;
};

DEFINE_OWN(struct run_push, run_push_close)

static void warn(const char *line)
{
	message_line("%s", line);
}

static void note(const char *line)
{
	message_note("%s", line);
}

/* host.name, unless it is given, and those of --label. */
static int add_labels(struct run_push *run, const struct plan_push *plan)
{
	bool named = uname(&run->system) == 0;
	uint32_t n = 0;

	run->labels = calloc(plan->n_labels + 1, sizeof(*run->labels));
	run->keys = calloc(plan->n_labels + 1, sizeof(*run->keys));
	if (!run->labels || !run->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_labels; i++) {
		char *key = strdup(plan->labels[i]), *value = key ? strchr(key, '=') : NULL;

		run->keys[i] = key;
		if (!value)
			return -ENOMEM;
		*value++ = '\0';
		run->labels[n++] = (struct report_label){ key, value };
		named &= strcmp(key, SERVICE_KEY_HOST) != 0;
	}
	if (named)
		run->labels[n++] = (struct report_label){ SERVICE_KEY_HOST, run->system.nodename };
	run->options.labels = run->labels;
	run->options.n_labels = n;
	return 0;
}

static int open_push(const struct run_request *request, struct run_push *run, struct error *err)
{
	const struct plan_push *plan = &request->plan->push;
	struct push_options options = { .auth = plan->auth,
					.ca = plan->ca,
					.spool = plan->spool,
					.spool_bytes = plan->spool_bytes,
					.warn = warn,
					.note = note };
	int r = target_parse(plan->url, &options.target, err);

	if (r < 0)
		return r;
	run->writer = options.target.protocol == PUSH_PYROSCOPE ? &pyroscope_writer
		      : options.target.protocol == PUSH_OTLP	? &otlp_writer
								: &pprof_writer;
	return push_open(&options, &run->push, err);
}

int run_push_open(const struct run_request *request, struct run_push **ret_run, struct error *err)
{
	const struct plan_push *plan = &request->plan->push;
	own(own_run_push_close) struct run_push *run = NULL;
	int r;

	if (!plan->url)
		return 0;
	run = calloc(1, sizeof(*run));
	if (!run)
		return error_set(err, -ENOMEM, "out of memory");
	run->options = request->report;
	run->options.by_service = true;
	run->options.no_labels = plan->no_labels;
	run->options.no_names = plan->no_names;
	if (add_labels(run, plan) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = open_push(request, run, err);
	if (r < 0)
		return r;
	*ret_run = take_ptr(run);
	return 0;
}

int run_push_start(struct run_push *run, struct error *err)
{
	return run ? push_start(run->push, err) : 0;
}

int run_push_report(struct run_push *run, const struct run_report *report, struct error *err)
{
	own(own_free) char *body = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	if (!run || tally_n_entries(report->tally) == 0)
		return 0;
	out = open_memstream(&body, &size);
	if (!out)
		return error_set(err, -ENOMEM, "out of memory");
	r = report_write(run->writer,
			 &(struct report){
				 .measurement = { &report->meta, report->tally, report->names },
				 .options = &run->options },
			 out, NULL, err);
	if (fclose(out) != 0 && r == 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		push_add(run->push, report->meta.start_time_ns, body, size);
	return r;
}

void run_push_close(struct run_push *run)
{
	if (!run)
		return;
	push_close(run->push);
	for (uint32_t i = 0; run->keys && run->keys[i]; i++)
		free(run->keys[i]);
	free(run->keys);
	free(run->labels);
	free(run);
}
