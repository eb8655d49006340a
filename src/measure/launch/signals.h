/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP as a descriptor to poll during a measurement (signalfd(2)).
 */
#ifndef STACKTALLY_LAUNCH_SIGNALS_H
#define STACKTALLY_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

#include "base/error.h"

struct signals {
	int fd; /* for poll(); -1 when there is none */
	bool blocked;
	sigset_t before;
};

#define SIGNALS_NONE ((struct signals){ .fd = -1 })

/* Blocks the signals for this thread and those it starts. 0 or a negative errno. */
int signals_block(struct signals *signals, struct error *err);
/* Restores the signal mask. */
void signals_restore(struct signals *signals);
/* Takes the next pending signal; false when there is none. */
bool signals_take(struct signals *signals, struct signalfd_siginfo *ret_info);
/* Restores and closes. */
void signals_close(struct signals *signals);

#endif
