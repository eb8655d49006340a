// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/due.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/own.h"
#include "kernel/idle_time.h"
#include "kernel/stolen_time.h"

/* A timer may expire a moment after it was due, so one sample is not missed yet. */
#define LATE 1

struct due {
	struct cpu_list cpus;		  /* that there may be, in the order of `fired` */
	uint32_t n_numbers;		  /* above the number of any CPU */
	struct trigger_due *before;	  /* by number, when the programs were armed */
	struct trigger_due *now;	  /* by number, at the last look */
	struct clock_count *fired_before; /* in the order of `cpus` */
	struct clock_count *fired;
	uint64_t *idle_before, *idle; /* ns that CPUs had nothing to run, by number; NULL: shown */
	uint64_t *told;		      /* samples that earlier reports told to be missing */
	uint64_t *told_throttled;
	uint64_t told_fired;
	uint64_t period_ns; /* 0: samples do not come by time */
	uint64_t stolen_ns; /* at the last report */
	uint64_t refused;   /* that the kernel has counted, and which were not found missing yet */
};

DEFINE_OWN(struct due, due_free)

void due_free(struct due *due)
{
	if (!due)
		return;
	cpu_list_clear(&due->cpus);
	free(due->before);
	free(due->now);
	free(due->fired_before);
	free(due->fired);
	free(due->idle_before);
	free(due->idle);
	free(due->told);
	free(due->told_throttled);
	free(due);
}

static int make_room(struct due *due, bool shows_idle)
{
	int r = cpu_list_read(CPU_LIST_POSSIBLE, &due->cpus);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < due->cpus.n; i++)
		if ((uint32_t)due->cpus.cpus[i] >= due->n_numbers)
			due->n_numbers = (uint32_t)due->cpus.cpus[i] + 1;
	due->before = calloc(due->n_numbers, sizeof(*due->before));
	due->now = calloc(due->n_numbers, sizeof(*due->now));
	due->fired_before = calloc(due->cpus.n, sizeof(*due->fired_before));
	due->fired = calloc(due->cpus.n, sizeof(*due->fired));
	due->told = calloc(due->cpus.n, sizeof(*due->told));
	due->told_throttled = calloc(due->cpus.n, sizeof(*due->told_throttled));
	if (!shows_idle) {
		due->idle_before = calloc(due->n_numbers, sizeof(*due->idle_before));
		due->idle = calloc(due->n_numbers, sizeof(*due->idle));
		if (!due->idle_before || !due->idle)
			return -ENOMEM;
	}
	return due->before && due->now && due->fired_before && due->fired && due->told &&
			       due->told_throttled
		       ? 0
		       : -ENOMEM;
}

int due_begin(struct trigger *trigger, const struct kernel_side *side, bool shows_idle,
	      struct due **ret_due)
{
	own(own_due_free) struct due *due = NULL;
	struct wire_counters counters;
	int r;

	if (!trigger->ops->due)
		return 0;
	due = calloc(1, sizeof(*due));
	r = due ? make_room(due, shows_idle) : -ENOMEM;
	if (r < 0)
		return r;
	/* Here the counters come first: what fires in between is due before the begin. */
	r = kernel_side_counters(side, &counters, due->fired_before);
	if (r < 0)
		return r;
	due->period_ns = trigger->ops->due(trigger, due->before, due->n_numbers);
	due->stolen_ns = stolen_time_ns();
	if (due->idle)
		idle_times_ns(due->idle_before, due->n_numbers);
	*ret_due = take_ptr(due);
	return 0;
}

void due_look(struct due *due, struct trigger *trigger)
{
	if (due)
		trigger->ops->due(trigger, due->now, due->n_numbers);
}

struct clock_count *due_fired(struct due *due)
{
	return due ? due->fired : NULL;
}

/* Samples that a CPU must have had while the event was throttled. */
static uint64_t throttled_samples(const struct due *due, uint32_t at, uint64_t fired)
{
	uint32_t cpu = (uint32_t)due->cpus.cpus[at];
	uint64_t throttled = due->now[cpu].throttled_ns - due->before[cpu].throttled_ns;
	uint64_t enabled = due->now[cpu].enabled_ns - due->before[cpu].enabled_ns;

	if (due->period_ns)
		return throttled / due->period_ns;
	/* At the rate of the other time. */
	return throttled >= enabled ? 0
				    : (uint64_t)((double)fired * (double)throttled /
						 (double)(enabled - throttled));
}

/*
 * Samples that a CPU lacks for the time in which it had nothing to run. That time is known in
 * steps, and without what interrupts took of it.
 */
static uint64_t idle_samples(const struct due *due, uint32_t at)
{
	uint32_t cpu = (uint32_t)due->cpus.cpus[at];
	uint64_t idle_ns, came = due->fired[at].idle - due->fired_before[at].idle, were;

	if (!due->idle || !due->period_ns || due->idle[cpu] <= due->idle_before[cpu])
		return 0;
	idle_ns = due->idle[cpu] - due->idle_before[cpu];
	were = (idle_ns + idle_ns / 64 + NS_PER_SECOND / 100) / due->period_ns;
	return were > came ? were - came : 0;
}

/* What of a CPU is missing and was not told yet; of that, what came of throttling. */
static uint64_t missing_on(struct due *due, uint32_t at, uint64_t *ret_throttled)
{
	uint32_t cpu = (uint32_t)due->cpus.cpus[at];
	uint64_t samples = due->now[cpu].samples - due->before[cpu].samples;
	uint64_t fired = due->fired[at].all - due->fired_before[at].all;
	uint64_t throttled = throttled_samples(due, at, fired), idle = idle_samples(due, at);
	uint64_t missing = samples > fired + LATE ? samples - fired : 0, more;

	/* Where only the records tell. */
	if (due->now[cpu].samples == 0)
		missing = throttled;
	missing -= missing < idle ? missing : idle;
	if (missing <= due->told[at])
		return 0;
	more = missing - due->told[at];
	due->told[at] = missing;
	throttled = throttled > due->told_throttled[at] ? throttled - due->told_throttled[at] : 0;
	*ret_throttled = throttled < more ? throttled : more;
	due->told_throttled[at] += *ret_throttled;
	return more;
}

static uint64_t take(uint64_t *from, uint64_t most)
{
	uint64_t taken = *from < most ? *from : most;

	*from -= taken;
	return taken;
}

void due_report(struct due *due, uint64_t refused, struct tally_losses *losses)
{
	uint64_t missing = 0, throttled = 0, fired = 0, stolen;

	if (!due)
		return;
	if (due->idle)
		idle_times_ns(due->idle, due->n_numbers);
	for (uint32_t i = 0; i < due->cpus.n; i++) {
		uint64_t of_cpu = 0;

		missing += missing_on(due, i, &of_cpu);
		throttled += of_cpu;
		fired += due->fired[i].all - due->fired_before[i].all;
	}
	losses->due += fired - due->told_fired + missing;
	due->told_fired = fired;
	/* One may be counted before it is missing. */
	take(&missing, due->refused);
	due->refused = refused - take(&missing, refused);
	losses->due_throttled += take(&missing, throttled);
	stolen = stolen_time_ns();
	if (due->period_ns)
		losses->due_stolen += take(&missing, (stolen - due->stolen_ns + due->period_ns -
						      1) / due->period_ns);
	due->stolen_ns = stolen;
	losses->due_late += missing;
}
