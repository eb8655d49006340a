// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/live.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/own.h"
#include "flame/page.h"
#include "live/routes.h"

DEFINE_OWN(struct batch, batch_free)

/* For how long a batch that has to be taken may keep the thread that measures waiting. */
#define PATIENCE_MS 1000

/* No more is made for those who do not take what there is: bytes. */
#define MAX_WAITING (32u << 20)

struct job {
	struct route route;
	uint64_t ticket;
	uint64_t due_ns; /* all up to here has to be in; 0: at once */
};

struct live {
	struct server *server;
	struct batcher batcher; /* of the thread that measures */
	struct keeper keeper;	/* of our thread */
	uint64_t start_ns;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t news;
	struct batch *batch; /* to be taken in; or NULL */
	struct job jobs[KEEPER_JOBS];
	uint32_t n_jobs;
	bool stopping;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- what is asked for: on the server's thread ---- */

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
				 .body = blob_new(copy, route->size) };
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
				 .body = blob_new(page.start, page.used) };
	return true;
}

static bool add_job(struct live *live, const struct job *job)
{
	bool fits;

	pthread_mutex_lock(&live->lock);
	fits = live->n_jobs < KEEPER_JOBS && !live->stopping;
	if (fits)
		live->jobs[live->n_jobs++] = *job;
	pthread_cond_signal(&live->news);
	pthread_mutex_unlock(&live->lock);
	return fits;
}

static bool handle(void *context, const struct request *request, uint64_t ticket,
		   struct reply *ret_reply)
{
	struct live *live = context;
	struct job job = { .ticket = ticket };
	int r = route_find(request, &job.route);

	if (r < 0)
		return refuse(ret_reply, -r);
	if (job.route.kind == ROUTE_PAGE)
		return give_page(ret_reply);
	if (job.route.kind == ROUTE_FILE)
		return give_file(&job.route, ret_reply);
	if (job.route.kind == ROUTE_PROFILE) {
		/* What is asked for begins now and ends then, to the second. */
		job.due_ns = now_ns() - live->start_ns + job.route.seconds * 1000000000u;
	}
	return add_job(live, &job) ? false : refuse(ret_reply, 503);
}

static void gone(void *context, uint64_t ticket)
{
	struct live *live = context;

	pthread_mutex_lock(&live->lock);
	for (uint32_t i = 0; i < live->n_jobs; i++) {
		if (live->jobs[i].ticket != ticket)
			continue;
		memmove(live->jobs + i, live->jobs + i + 1,
			(--live->n_jobs - i) * sizeof(live->jobs[0]));
		break;
	}
	pthread_mutex_unlock(&live->lock);
}

/* ---- what is made of it: on our thread ---- */

/* The first second that ended after `ns`. */
static uint64_t second_after(const struct keeper *keeper, uint64_t ns)
{
	uint64_t tick = history_newest(&keeper->history) + 1;

	while (tick > history_oldest(&keeper->history) &&
	       history_get(&keeper->history, tick - 1)->at_ns > ns)
		tick--;
	return tick;
}

static int save(struct live *live, struct job *job, struct reply *reply)
{
	struct route *route = &job->route;

	if (route->kind == ROUTE_PROFILE) {
		route->from =
			second_after(&live->keeper, job->due_ns - route->seconds * 1000000000u);
		if (route->from > history_newest(&live->keeper.history))
			route->to = route->from;
	}
	reply->type =
		route->writer->binary ? "application/octet-stream" : "text/plain; charset=utf-8";
	return save_stretch(&live->keeper, route->writer, route->from, route->to, &reply->body);
}

static void do_job(struct live *live, struct job *job)
{
	struct reply reply = { .status = 200 };
	char name[64];
	int r = 0;

	if (server_waiting(live->server) > MAX_WAITING) {
		reply.status = 503;
		server_reply(live->server, job->ticket, &reply);
		return;
	}
	switch (job->route.kind) {
	case ROUTE_PAGE:
	case ROUTE_FILE:
		return;
	case ROUTE_EVENTS:
		reply.type = "text/event-stream";
		reply.stream = true;
		reply.body = news_state(&live->keeper);
		break;
	case ROUTE_COUNTS:
		reply.type = "application/json";
		reply.body = news_counts(&live->keeper, job->route.from, job->route.to);
		break;
	case ROUTE_SAVE:
	case ROUTE_PROFILE:
		snprintf(name, sizeof(name), "%s%s", live->keeper.source.meta.command,
			 job->route.writer->extensions[0]);
		reply.file_name = name;
		r = save(live, job, &reply);
		break;
	}
	if (!reply.body)
		reply = (struct reply){ .status = r == -EFBIG ? 413 : 503 };
	server_reply(live->server, job->ticket, &reply);
}

/* A job whose time has come; called with the lock. */
static bool next_job(struct live *live, struct job *ret_job)
{
	for (uint32_t i = 0; i < live->n_jobs; i++) {
		if (!live->stopping && live->jobs[i].due_ns > live->keeper.at_ns)
			continue;
		*ret_job = live->jobs[i];
		memmove(live->jobs + i, live->jobs + i + 1,
			(--live->n_jobs - i) * sizeof(live->jobs[0]));
		return true;
	}
	return false;
}

static void *keep(void *context)
{
	struct live *live = context;

	prctl(PR_SET_NAME, "live-keep", 0, 0, 0);

	pthread_mutex_lock(&live->lock);
	for (;;) {
		struct batch *batch = live->batch;
		struct job job;

		if (batch) {
			pthread_mutex_unlock(&live->lock);
			/* Without memory a second is missing from what is shown, and from nothing
			 * else. */
			keeper_take(&live->keeper, batch);
			batch_free(batch);
			pthread_mutex_lock(&live->lock);
			live->batch = NULL;
			pthread_cond_broadcast(&live->news);
		} else if (next_job(live, &job)) {
			pthread_mutex_unlock(&live->lock);
			do_job(live, &job);
			pthread_mutex_lock(&live->lock);
		} else if (live->stopping) {
			break;
		} else {
			pthread_cond_wait(&live->news, &live->lock);
		}
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

/* ---- what comes in: on the thread that measures ---- */

static struct timespec after_ms(uint64_t ms)
{
	uint64_t then = now_ns() + ms * 1000000;

	return (struct timespec){ (time_t)(then / 1000000000u), (long)(then % 1000000000u) };
}

/* Whether there is room for a batch. */
static bool wait_for_room(struct live *live, bool patient)
{
	struct timespec until = after_ms(PATIENCE_MS);
	int r = 0;

	pthread_mutex_lock(&live->lock);
	while (live->batch && patient && r == 0)
		r = pthread_cond_timedwait(&live->news, &live->lock, &until);
	patient = !live->batch;
	pthread_mutex_unlock(&live->lock);
	return patient;
}

int live_look(struct live *live, const struct tally *tally, uint64_t at_ns, bool cleared,
	      live_cgroup *cgroup, void *context)
{
	struct batch *batch = NULL;
	int r = 0;

	if (wait_for_room(live, cleared)) {
		r = batcher_take(&live->batcher, tally, at_ns, cgroup, context, &batch);
		if (r == 0) {
			pthread_mutex_lock(&live->lock);
			live->batch = batch;
			pthread_cond_broadcast(&live->news);
			pthread_mutex_unlock(&live->lock);
		}
	}
	if (cleared)
		batcher_forget(&live->batcher);
	return r;
}

/* ---- opening and closing ---- */

int live_open(const char *where, struct live **ret_live, struct error *err)
{
	struct live *live = calloc(1, sizeof(*live));
	pthread_condattr_t clock;
	int r;

	if (!live)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&live->news, &clock);
	pthread_condattr_destroy(&clock);
	r = server_open(where, &live->server, err);
	if (r < 0) {
		live_close(live);
		return r;
	}
	*ret_live = live;
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

static int start_keeping(struct live *live)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = pthread_create(&live->thread, NULL, keep, live);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	live->started = r == 0;
	return -r;
}

int live_start(struct live *live, const struct keeper_source *source, uint64_t ago_ns,
	       uint64_t (*events)(void *context), struct error *err)
{
	const struct server_handler handler = { .handle = handle, .gone = gone, .context = live };
	int r;

	live->start_ns = now_ns() - ago_ns;
	r = keeper_make(&live->keeper, source, live->server);
	if (r == 0 && events)
		r = activity_start(events, source->context, live->start_ns, &live->keeper.activity);
	if (r == 0)
		r = start_keeping(live);
	if (r < 0)
		return error_set(err, r, "cannot serve: %s", strerror(-r));
	return server_start(live->server, &handler, err);
}

void live_close(struct live *live)
{
	struct blob *end;

	if (!live)
		return;
	pthread_mutex_lock(&live->lock);
	live->stopping = true;
	pthread_cond_broadcast(&live->news);
	pthread_mutex_unlock(&live->lock);
	if (live->started)
		pthread_join(live->thread, NULL);
	end = live->started ? news_end() : NULL;
	if (end)
		server_publish(live->server, end);
	server_close(live->server);
	activity_stop(live->keeper.activity);
	batch_free(live->batch);
	keeper_clear(&live->keeper);
	batcher_clear(&live->batcher);
	pthread_cond_destroy(&live->news);
	pthread_mutex_destroy(&live->lock);
	free(live);
}
