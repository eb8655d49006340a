/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that have an interpreter and sleep nearly all the time: daemons that wait for work.
 * What a measurement needs for their languages can wait until one of them is met.
 */
#ifndef STACKTALLY_INTERPRETERS_IDLE_H
#define STACKTALLY_INTERPRETERS_IDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/languages.h"

/*
 * Whether a process has used less than a five-hundredth of a CPU since it began: at 49 Hz, less
 * than one sample in 10 s is of it. Never within 5 s of its beginning, nor if /proc does not tell.
 */
bool idle_process(pid_t tgid);

struct idle_interpreter {
	pid_t tgid;
	uint32_t languages; /* a bit for each, 1 << enum language */
};

/* Zeros at first; sorted by process. */
struct idle_set {
	struct idle_interpreter *list;
	uint32_t n, capacity;
};

/* Adds a process that is not among them. 0 or -ENOMEM. */
int idle_add(struct idle_set *set, pid_t tgid, uint32_t languages);
/* The languages of a process; 0: it is not among them. */
uint32_t idle_languages(const struct idle_set *set, pid_t tgid);
/* The same, and removes the process. */
uint32_t idle_take(struct idle_set *set, pid_t tgid);
void idle_clear(struct idle_set *set);

#endif
