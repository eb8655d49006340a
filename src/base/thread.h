/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way to start a thread. ARCHITECTURE.md ("Threads and locks") lists all threads.
 */
#ifndef STACKTALLY_BASE_THREAD_H
#define STACKTALLY_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that leaves signals sent to the process to the main thread. It does not block
 * those that it raises itself: faults, whose handlers restore the terminal, and the signals that
 * stop a background process when it uses the terminal. The caller joins it. 0 or a negative errno.
 */
int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context);

#endif
