// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/compile_queue.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "unwind/rows_confined.h"

/* Idle for so long, the thread has its readers give memory back. */
#define IDLE_S 2

struct compile_queue {
	struct table_cache *cache;
	int (*finish)(void *context, struct compile_job *job);
	void *context;
	pthread_t thread;
	bool started;
	int event;
	/* Read files for the thread, and for compile_queue_run_one(). */
	struct confined *of_thread, *of_caller;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	struct compile_job *waiting, *done, *unsaved;
	void (*call)(void *context);
	bool ends; /* the thread is to end */
};

struct compile_job *compile_job_new(uint32_t table)
{
	struct compile_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->table = table;
		job->fd = -1;
	}
	return job;
}

void compile_job_free(struct compile_job *job)
{
	if (!job)
		return;
	own_fd(&job->fd);
	rule_table_free(job->rules);
	unwind_rows_free(&job->rows);
	free(job->tree.ids);
	free(job);
}

/* Loads rows from the cache. -ENOENT: they have to be compiled. */
static int load(const struct compile_queue *queue, struct compile_job *job)
{
	int r = -ENOENT;

	if (queue->cache && job->cacheable)
		r = table_cache_load(queue->cache, &job->identity, job->rules, &job->rows);
	job->cached = r == 0;
	if (r != -EBADMSG)
		return r;
	job->cache_refused = true;
	/* Rules of the damaged file may have been added: start with none. */
	rule_table_free(take_ptr(job->rules));
	r = rule_table_new(&job->rules);
	return r < 0 ? r : -ENOENT;
}

/* Whether the file is still what it was when the job was queued. */
static bool is_unchanged(const struct compile_job *job)
{
	struct table_identity now;

	return table_identity_read(job->fd, job->identity.build_id, job->identity.build_id_size,
				   &now) == 0 &&
	       memcmp(&now, &job->identity, sizeof(now)) == 0;
}

static int compile(const struct compile_queue *queue, struct confined *readers,
		   struct compile_job *job)
{
	int r = rule_table_new(&job->rules);

	if (r < 0)
		return r;
	r = load(queue, job);
	if (r == 0 || r == -ENOMEM)
		return r;
	if (job->fd < 0)
		return unwind_rows_compile_memory(job->bytes, job->size, job->rules, &job->rows,
						  NULL);
	r = rows_confined_compile(readers, job->fd, job->rules, &job->rows);
	job->unsaved = r == 0 && queue->cache && job->cacheable && is_unchanged(job);
	return r;
}

static void run(const struct compile_queue *queue, struct confined *readers,
		struct compile_job *job)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t begin_children = confined_cpu_ns(readers);

	job->result = job->compiled ? 0 : compile(queue, readers, job);
	job->compiled = job->result == 0;
	own_fd(&job->fd);
	job->fd = -1;
	if (job->result == 0)
		job->result = queue->finish(queue->context, job);
	job->ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	job->ns += confined_cpu_ns(readers) - begin_children;
}

/* Removes the job of highest priority from the list; the lock is held. */
static struct compile_job *pick(struct compile_queue *queue)
{
	struct compile_job **best = &queue->waiting, *job;

	for (struct compile_job **at = &queue->waiting; *at; at = &(*at)->next) {
		if ((*at)->priority > (*best)->priority)
			best = at;
	}
	job = *best;
	if (job)
		*best = job->next;
	return job;
}

/* If the rows cannot be saved, the file is compiled again next time. */
static void save_and_free(const struct compile_queue *queue, struct compile_job *job)
{
	if (job->unsaved)
		table_cache_save(queue->cache, &job->identity, job->rules, &job->rows);
	compile_job_free(job);
}

static void put_done(struct compile_queue *queue, struct compile_job *job)
{
	uint64_t one = 1;
	ssize_t n;

	pthread_mutex_lock(&queue->lock);
	job->next = queue->done;
	queue->done = job;
	pthread_mutex_unlock(&queue->lock);
	n = write(queue->event, &one, sizeof(one));
	(void)n; /* it only fails when the eventfd is readable anyway */
}

static struct compile_job *pick_unsaved(struct compile_queue *queue)
{
	struct compile_job *job = queue->unsaved;

	if (job)
		queue->unsaved = job->next;
	return job;
}

static void run_and_put(struct compile_queue *queue, struct confined *readers,
			struct compile_job *job)
{
	run(queue, readers, job);
	put_done(queue, job);
}

/* Does what is most urgent; the lock is held, but not meanwhile. False when there is nothing. */
static bool work_once(struct compile_queue *queue)
{
	void (*call)(void *) = queue->call;
	struct compile_job *job = call ? NULL : pick(queue);
	struct compile_job *unsaved = call || job ? NULL : pick_unsaved(queue);

	queue->call = NULL;
	if (!call && !job && !unsaved)
		return false;
	pthread_mutex_unlock(&queue->lock);
	if (call)
		call(queue->context);
	else if (job)
		run_and_put(queue, queue->of_thread, job);
	else
		save_and_free(queue, unsaved);
	pthread_mutex_lock(&queue->lock);
	return true;
}

/* Waits until there may be work, for so many seconds at most; the lock is held. */
static int wait_s(struct compile_queue *queue, time_t seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	return pthread_cond_timedwait(&queue->wake, &queue->lock, &until);
}

static void *work(void *argument)
{
	struct compile_queue *queue = argument;
	bool rested = true;

	pthread_setname_np(pthread_self(), "unwind-compile");
	pthread_mutex_lock(&queue->lock);
	while (!queue->ends) {
		if (work_once(queue)) {
			rested = false;
		} else if (!rested && wait_s(queue, IDLE_S) == ETIMEDOUT) {
			pthread_mutex_unlock(&queue->lock);
			confined_retire(queue->of_thread);
			pthread_mutex_lock(&queue->lock);
			rested = true;
		} else if (rested) {
			pthread_cond_wait(&queue->wake, &queue->lock);
		}
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

static int start(struct compile_queue *queue)
{
	int r = 0;

#ifdef __SANITIZE_ADDRESS__
	/*
	 * Otherwise children are made when they are first needed. After a fork() beside a thread
	 * that allocates, a sanitizer's allocator is locked for ever; glibc's is not.
	 */
	r = confined_prepare(queue->of_thread);
	if (r == 0)
		r = confined_prepare(queue->of_caller);
	if (r < 0)
		return r;
#endif
	r = thread_start(&queue->thread, work, queue);
	queue->started = r == 0;
	return r;
}

DEFINE_OWN(struct compile_queue, compile_queue_free)

int compile_queue_new(struct table_cache *cache,
		      int (*finish)(void *context, struct compile_job *job), void *context,
		      struct compile_queue **ret_queue)
{
	own(own_compile_queue_free) struct compile_queue *queue = calloc(1, sizeof(*queue));
	int r;

	if (!queue)
		return -ENOMEM;
	*queue = (struct compile_queue){
		.cache = cache,
		.finish = finish,
		.context = context,
		.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->wake, NULL);
	if (queue->event < 0)
		return -errno;
	r = confined_new(&confined_limits_default, &queue->of_thread);
	if (r == 0)
		r = confined_new(&confined_limits_default, &queue->of_caller);
	if (r == 0)
		r = start(queue);
	if (r < 0)
		return r;
	*ret_queue = take_ptr(queue);
	return 0;
}

static void save_and_free_all(const struct compile_queue *queue, struct compile_job *job)
{
	while (job) {
		struct compile_job *next = job->next;

		save_and_free(queue, job);
		job = next;
	}
}

void compile_queue_free(struct compile_queue *queue)
{
	if (!queue)
		return;
	if (queue->started) {
		pthread_mutex_lock(&queue->lock);
		queue->ends = true;
		pthread_cond_signal(&queue->wake);
		pthread_mutex_unlock(&queue->lock);
		pthread_join(queue->thread, NULL);
	}
	confined_free(queue->of_thread);
	confined_free(queue->of_caller);
	save_and_free_all(queue, queue->waiting);
	save_and_free_all(queue, queue->done);
	save_and_free_all(queue, queue->unsaved);
	own_fd(&queue->event);
	pthread_cond_destroy(&queue->wake);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

void compile_queue_add(struct compile_queue *queue, struct compile_job *job)
{
	pthread_mutex_lock(&queue->lock);
	job->next = queue->waiting;
	queue->waiting = job;
	pthread_cond_signal(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

void compile_queue_call(struct compile_queue *queue, void (*function)(void *context))
{
	pthread_mutex_lock(&queue->lock);
	queue->call = function;
	pthread_cond_signal(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

void compile_queue_release(struct compile_queue *queue, struct compile_job *job)
{
	if (!job || !job->unsaved) {
		compile_job_free(job);
		return;
	}
	pthread_mutex_lock(&queue->lock);
	job->next = queue->unsaved;
	queue->unsaved = job;
	pthread_cond_signal(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

struct compile_job *compile_queue_take_done(struct compile_queue *queue)
{
	struct compile_job *done;
	uint64_t count;
	ssize_t n = read(queue->event, &count, sizeof(count));

	(void)n; /* -EAGAIN: none is done */
	pthread_mutex_lock(&queue->lock);
	done = take_ptr(queue->done);
	pthread_mutex_unlock(&queue->lock);
	return done;
}

bool compile_queue_run_one(struct compile_queue *queue)
{
	struct compile_job *job;

	pthread_mutex_lock(&queue->lock);
	job = pick(queue);
	pthread_mutex_unlock(&queue->lock);
	if (!job)
		return false;
	run_and_put(queue, queue->of_caller, job);
	return true;
}

int compile_queue_fd(const struct compile_queue *queue)
{
	return queue->event;
}
