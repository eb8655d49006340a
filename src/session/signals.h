/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP as something to wait for, while a measurement is on.
 */
#ifndef STACKTALLY_SESSION_SIGNALS_H
#define STACKTALLY_SESSION_SIGNALS_H

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

int signals_block(struct signals *signals, struct error *err);
/* The signals have their effects of before again. */
void signals_restore(struct signals *signals);
/* The next signal that has come; false when there is none. */
bool signals_take(struct signals *signals, struct signalfd_siginfo *ret_info);
/* Restores and closes. */
void signals_close(struct signals *signals);

#endif
