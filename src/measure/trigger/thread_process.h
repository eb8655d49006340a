/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process of threads: what is looked up for a thread, and set in its code, is its process's.
 */
#ifndef STACKTALLY_TRIGGER_THREAD_PROCESS_H
#define STACKTALLY_TRIGGER_THREAD_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* The process that all of these threads are of; 0: none, of several, or not known. */
pid_t thread_process(const pid_t *tids, uint32_t n);

#endif
