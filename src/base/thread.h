/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to start a thread. ARCHITECTURE.md ("Threads and locks") lists all threads.
 */
#ifndef STACKTALLY_BASE_THREAD_H
#define STACKTALLY_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with all signals blocked, so that they reach the thread that waits for them.
 * The caller joins it. 0 or a negative errno.
 */
int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context);

#endif
