// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/activity.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"

#define BIN_NS (ACTIVITY_BIN_MS * 1000000ull)

struct activity {
	uint64_t (*events)(void *context);
	void *context;
	uint64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t stop;
	bool stopping;
	uint64_t n; /* completed bins */
	uint32_t bins[ACTIVITY_BINS];
};

/*
 * Completes the bins before number `until`. When the thread was late, these are several, over which
 * the events are spread evenly.
 */
static void add(struct activity *activity, uint64_t until, uint64_t events)
{
	uint64_t n = until - activity->n;

	if (n > ACTIVITY_BINS) {
		activity->n = until - ACTIVITY_BINS;
		n = ACTIVITY_BINS;
	}
	for (uint64_t left = n; left > 0; left--) {
		uint64_t part = (events + left - 1) / left;

		activity->bins[activity->n++ % ACTIVITY_BINS] =
			part > UINT32_MAX ? UINT32_MAX : (uint32_t)part;
		events -= part;
	}
}

static void *run(void *argument)
{
	struct activity *activity = argument;
	uint64_t before = 0;

	prctl(PR_SET_NAME, "live-activity", 0, 0, 0);
	pthread_mutex_lock(&activity->lock);
	while (!activity->stopping) {
		uint64_t next = activity->start_ns + (activity->n + 1) * BIN_NS, events, now;
		struct timespec until = { (time_t)(next / 1000000000u),
					  (long)(next % 1000000000u) };

		if (pthread_cond_timedwait(&activity->stop, &activity->lock, &until) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&activity->lock);
		events = activity->events(activity->context);
		now = monotonic_ns();
		pthread_mutex_lock(&activity->lock);
		add(activity, (now - activity->start_ns) / BIN_NS,
		    events > before ? events - before : 0);
		before = events > before ? events : before;
	}
	pthread_mutex_unlock(&activity->lock);
	return NULL;
}

int activity_start(uint64_t (*events)(void *context), void *context, uint64_t start_ns,
		   struct activity **ret_activity)
{
	struct activity *activity = calloc(1, sizeof(*activity));
	pthread_condattr_t clock;
	int r;

	if (!activity)
		return -ENOMEM;
	activity->events = events;
	activity->context = context;
	activity->start_ns = start_ns;
	pthread_mutex_init(&activity->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&activity->stop, &clock);
	pthread_condattr_destroy(&clock);
	r = thread_start(&activity->thread, run, activity);
	if (r < 0) {
		free(activity);
		return r;
	}
	*ret_activity = activity;
	return 0;
}

void activity_stop(struct activity *activity)
{
	if (!activity)
		return;
	pthread_mutex_lock(&activity->lock);
	activity->stopping = true;
	pthread_cond_signal(&activity->stop);
	pthread_mutex_unlock(&activity->lock);
	pthread_join(activity->thread, NULL);
	pthread_cond_destroy(&activity->stop);
	pthread_mutex_destroy(&activity->lock);
	free(activity);
}

uint32_t activity_read(struct activity *activity, uint64_t first, uint32_t *ret_bins, uint32_t n,
		       uint64_t *ret_first)
{
	uint32_t i = 0;

	pthread_mutex_lock(&activity->lock);
	if (activity->n > ACTIVITY_BINS && first < activity->n - ACTIVITY_BINS)
		first = activity->n - ACTIVITY_BINS;
	*ret_first = first;
	for (; i < n && first + i < activity->n; i++)
		ret_bins[i] = activity->bins[(first + i) % ACTIVITY_BINS];
	pthread_mutex_unlock(&activity->lock);
	return i;
}
