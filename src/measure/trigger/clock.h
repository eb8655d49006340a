/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling trigger: one perf event on each online CPU, also on those that come online later.
 */
#ifndef STACKTALLY_TRIGGER_CLOCK_H
#define STACKTALLY_TRIGGER_CLOCK_H

#include "trigger/trigger.h"

struct clock_options {
	const char *event;  /* one of perf's; NULL: cycles where there is a PMU, else cpu-clock */
	bool prefer_clock;  /* with event NULL: cpu-clock even where there is a PMU */
	uint64_t frequency; /* Hz; 0: use period */
	uint64_t period;    /* events from sample to sample */
};

/* Checks the event's name, opens nothing yet. 0, -ENOENT, -EINVAL or -ENOMEM. */
int clock_trigger_new(const struct clock_options *options, struct trigger **ret_trigger,
		      struct error *err);

#endif
