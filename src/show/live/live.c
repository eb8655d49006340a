// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/own.h"
#include "base/thread.h"
#include "flame/page.h"
#include "live/routes.h"
#include "live/save.h"
#include "live/updates.h"

DEFINE_OWN(struct live, live_close)

/* How long a tally that is to be cleared waits for the last delta to be processed. */
#define HANDOVER_MS 1000

/* Requests that wait for the model's thread. */
#define MAX_JOBS 32

/* While more bytes of replies than this are queued, requests are refused with 503. */
#define MAX_QUEUED_BYTES (32u << 20)

/* A request that the model's thread answers. */
struct job {
	struct route route;
	uint64_t request_id;
	uint64_t due_ns; /* the model has to contain all up to then; 0: whatever it contains */
};

struct live {
	struct server *server;
	struct delta_tracker tracker; /* used by live_update() alone */
	struct model model;	      /* used by `thread` alone, once that runs */
	uint64_t start_ns;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct delta *delta; /* not processed yet; or NULL */
	struct job jobs[MAX_JOBS];
	uint32_t n_jobs;
	bool stopping;
};

/* ---- requests, on the server's thread ---- */

static bool refuse(struct reply *reply, int status)
{
	*reply = (struct reply){ .status = status };
	return true;
}

static bool give_file(const struct route *route, struct reply *reply)
{
	char *copy = malloc(route->size + 1);

	if (!copy)
		return refuse(reply, 503);
	memcpy(copy, route->content, route->size);
	*reply = (struct reply){ .status = 200,
				 .type = route->type,
				 .body = buffer_new(copy, route->size) };
	return true;
}

static bool give_page(struct reply *reply)
{
	struct bytes page;

	bytes_start(&page, NULL);
	page_shell("live.css", "live.js", &page);
	if (page.failed) {
		bytes_clear(&page);
		return refuse(reply, 503);
	}
	*reply = (struct reply){ .status = 200,
				 .type = "text/html; charset=utf-8",
				 .policy = page_policy(),
				 .body = buffer_new(page.start, page.used) };
	return true;
}

static bool add_job(struct live *live, const struct job *job)
{
	bool fits;

	pthread_mutex_lock(&live->lock);
	fits = live->n_jobs < MAX_JOBS && !live->stopping;
	if (fits)
		live->jobs[live->n_jobs++] = *job;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	return fits;
}

static bool handle(void *context, const struct request *request, uint64_t request_id,
		   struct reply *ret_reply)
{
	struct live *live = context;
	struct job job = { .request_id = request_id };
	int r = route_find(request, &job.route);

	if (r < 0)
		return refuse(ret_reply, -r);
	if (job.route.kind == ROUTE_PAGE)
		return give_page(ret_reply);
	if (job.route.kind == ROUTE_FILE)
		return give_file(&job.route, ret_reply);
	if (job.route.kind == ROUTE_PROFILE)
		job.due_ns = monotonic_ns() - live->start_ns + job.route.seconds * NS_PER_SECOND;
	return add_job(live, &job) ? false : refuse(ret_reply, 503);
}

static void cancel(void *context, uint64_t request_id)
{
	struct live *live = context;

	pthread_mutex_lock(&live->lock);
	for (uint32_t i = 0; i < live->n_jobs; i++) {
		if (live->jobs[i].request_id != request_id)
			continue;
		memmove(live->jobs + i, live->jobs + i + 1,
			(--live->n_jobs - i) * sizeof(live->jobs[0]));
		break;
	}
	pthread_mutex_unlock(&live->lock);
}

/* ---- jobs, on the model's thread ---- */

/* The first second that ended after `ns`. */
static uint64_t second_after(const struct model *model, uint64_t ns)
{
	uint64_t tick = history_newest(&model->history) + 1;

	while (tick > history_oldest(&model->history) &&
	       history_get(&model->history, tick - 1)->at_ns > ns)
		tick--;
	return tick;
}

/* Saves a range; that of a profile is known only now that it is over. */
static int save(struct live *live, struct job *job, struct reply *reply)
{
	struct route *route = &job->route;

	if (route->kind == ROUTE_PROFILE) {
		route->from =
			second_after(&live->model, job->due_ns - route->seconds * 1000000000u);
		if (route->from > history_newest(&live->model.history))
			route->to = route->from;
	}
	if (route->kind == ROUTE_SAVE && route->last > 0) {
		uint64_t now = live->model.at_ns, ns = route->last * NS_PER_SECOND;

		route->from = second_after(&live->model, now > ns ? now - ns : 0);
	}
	reply->type =
		route->writer->binary ? "application/octet-stream" : "text/plain; charset=utf-8";
	return save_range(&live->model, route->writer, route->from, route->to, &reply->body);
}

static void run_job(struct live *live, struct job *job)
{
	struct reply reply = { .status = 200 };
	char name[64];
	int r = 0;

	if (server_queued_bytes(live->server) > MAX_QUEUED_BYTES) {
		reply.status = 503;
		server_reply(live->server, job->request_id, &reply);
		return;
	}
	switch (job->route.kind) {
	case ROUTE_PAGE:
	case ROUTE_FILE:
		return;
	case ROUTE_EVENTS:
		reply.type = "text/event-stream";
		reply.stream = true;
		reply.body = updates_state(&live->model);
		break;
	case ROUTE_COUNTS:
		reply.type = "application/json";
		reply.body = updates_counts(&live->model, job->route.from, job->route.to);
		break;
	case ROUTE_SAVE:
	case ROUTE_PROFILE:
		snprintf(name, sizeof(name), "%s%s",
			 live->model.source.meta.command ? live->model.source.meta.command
							 : "stacks",
			 job->route.writer->extensions[0]);
		reply.file_name = name;
		r = save(live, job, &reply);
		break;
	}
	if (!reply.body)
		reply = (struct reply){ .status = r == -EFBIG ? 413 : 503 };
	server_reply(live->server, job->request_id, &reply);
}

/* Takes out a job that is due; at the end, all are. Called with the lock held. */
static bool next_job(struct live *live, struct job *ret_job)
{
	for (uint32_t i = 0; i < live->n_jobs; i++) {
		if (!live->stopping && live->jobs[i].due_ns > live->model.at_ns)
			continue;
		*ret_job = live->jobs[i];
		memmove(live->jobs + i, live->jobs + i + 1,
			(--live->n_jobs - i) * sizeof(live->jobs[0]));
		return true;
	}
	return false;
}

static void *run(void *context)
{
	struct live *live = context;

	prctl(PR_SET_NAME, "live-model", 0, 0, 0);
	pthread_mutex_lock(&live->lock);
	for (;;) {
		struct delta *delta = live->delta;
		struct job job;

		if (delta) {
			pthread_mutex_unlock(&live->lock);
			/* If this fails, what is shown lacks a second; the report does not. */
			model_apply(&live->model, delta);
			delta_free(delta);
			pthread_mutex_lock(&live->lock);
			live->delta = NULL;
			pthread_cond_broadcast(&live->changed);
		} else if (next_job(live, &job)) {
			pthread_mutex_unlock(&live->lock);
			run_job(live, &job);
			pthread_mutex_lock(&live->lock);
		} else if (live->stopping) {
			break;
		} else {
			pthread_cond_wait(&live->changed, &live->lock);
		}
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

/* ---- deltas, on the thread that measures ---- */

static struct timespec after_ms(uint64_t ms)
{
	uint64_t then = monotonic_ns() + ms * NS_PER_MS;

	return (struct timespec){ (time_t)(then / 1000000000u), (long)(then % 1000000000u) };
}

/* Whether the last delta has been processed; `wait` for that. */
static bool is_ready(struct live *live, bool wait)
{
	struct timespec until = after_ms(HANDOVER_MS);
	bool ready;
	int r = 0;

	pthread_mutex_lock(&live->lock);
	while (live->delta && wait && r == 0)
		r = pthread_cond_timedwait(&live->changed, &live->lock, &until);
	ready = !live->delta;
	pthread_mutex_unlock(&live->lock);
	return ready;
}

int live_update(struct live *live, const struct tally *tally, uint64_t at_ns, bool cleared,
		live_cgroup *cgroup, void *context)
{
	struct delta *delta = NULL;
	int r = 0;

	if (is_ready(live, cleared)) {
		r = delta_take(&live->tracker, tally, at_ns, cgroup, context, &delta);
		if (r == 0) {
			pthread_mutex_lock(&live->lock);
			live->delta = delta;
			pthread_cond_broadcast(&live->changed);
			pthread_mutex_unlock(&live->lock);
		}
	}
	if (cleared)
		delta_tracker_reset(&live->tracker);
	return r;
}

/* ---- opening and closing ---- */

int live_open(const char *where, const char *token_file, struct live **ret_live, struct error *err)
{
	own(own_live_close) struct live *live = calloc(1, sizeof(*live));
	pthread_condattr_t clock;
	int r;

	if (!live)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&live->changed, &clock);
	pthread_condattr_destroy(&clock);
	r = server_open(where, token_file, &live->server, err);
	if (r < 0)
		return r;
	*ret_live = take_ptr(live);
	return 0;
}

const char *live_url(const struct live *live)
{
	return server_url(live->server);
}

bool live_is_public(const struct live *live)
{
	return server_is_public(live->server);
}

int live_start(struct live *live, const struct model_source *source, uint64_t ago_ns,
	       uint64_t (*events)(void *context), struct error *err)
{
	const struct server_handler handler = { .handle = handle,
						.cancel = cancel,
						.context = live };
	int r;

	live->start_ns = monotonic_ns() - ago_ns;
	r = model_make(&live->model, source, live->server);
	if (r == 0 && events)
		r = activity_start(events, source->context, live->start_ns, &live->model.activity);
	if (r == 0)
		r = thread_start(&live->thread, run, live);
	if (r < 0)
		return error_set(err, r, "cannot serve: %s", strerror(-r));
	live->started = true;
	return server_start(live->server, &handler, err);
}

void live_close(struct live *live)
{
	struct buffer *end;

	if (!live)
		return;
	pthread_mutex_lock(&live->lock);
	live->stopping = true;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	if (live->started)
		pthread_join(live->thread, NULL);
	end = live->started ? updates_end() : NULL;
	if (end)
		server_publish(live->server, end);
	server_close(live->server);
	activity_stop(live->model.activity);
	delta_free(live->delta);
	model_clear(&live->model);
	delta_tracker_clear(&live->tracker);
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live);
}
