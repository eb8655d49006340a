/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that work for others. Must not know: what for.
 */
#ifndef STACKTALLY_BASE_THREAD_H
#define STACKTALLY_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/*
 * Starts a thread that takes no signals: they are for those who wait for them. 0 or a negative
 * errno.
 */
static inline int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(ret_thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

#endif
