/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one way to start a thread. */
#ifndef STACKTALLY_BASE_THREAD_H
#define STACKTALLY_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/*
 * Starts a thread that leaves signals sent to the process to the main thread. It does not block
 * those that it raises itself: faults, whose handlers restore the terminal, and the signals that
 * stop a background process when it uses the terminal. The caller joins it. 0 or a negative errno.
 */
static inline int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context)
{
	static const int own_signals[] = { SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
					   SIGSYS,  SIGTRAP, SIGTTIN, SIGTTOU };
	sigset_t blocked, before;
	int r;

	sigfillset(&blocked);
	for (unsigned int i = 0; i < sizeof(own_signals) / sizeof(own_signals[0]); i++)
		sigdelset(&blocked, own_signals[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	r = -pthread_create(ret_thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

#endif
