/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gauges: what is measured of each stack. One counts events; one adds up the time that threads
 * spend off the CPU, and one that of calls. The plan says which; it is asked here only.
 *
 * gauge_configure() comes between open and load of the BPF object, gauge_open() after the load; the
 * rest in the order in which it is declared, with gauge_drain() for each epoch. All from one
 * thread. All that returns an int returns 0, or a negative errno with `err` set.
 */
#ifndef STACKTALLY_GAUGE_GAUGE_H
#define STACKTALLY_GAUGE_GAUGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"
#include "drain/drain.h"
#include "plan/plan.h"
#include "tally/thread_list.h"

struct gauge;
struct stacktally;

/* An epoch that has ended. */
struct gauge_epoch {
	uint32_t number;
	uint64_t now; /* when it has ended */
	bool report;  /* a report follows */
	bool final;   /* the last one: the programs are disarmed */
};

struct gauge_ops {
	struct stack_keeping keeping;
	uint32_t least_sets; /* of counts for each CPU and epoch, a power of two */
	/* A launched command may be stopped where its tables are made: that is not measured. */
	bool may_stop_command;
	/* Whether the gauge's own maps and programs are to be loaded. NULL: it has none. */
	void (*use_maps)(struct stacktally *skeleton, bool use);
	/* Sets flags of `config`, and sizes of maps; there are `sets` sets in both epochs. */
	void (*configure)(const struct plan *plan, struct stacktally *skeleton,
			  struct wire_config *config, uint32_t sets);
	/* A struct that begins with a struct gauge; has its records taken by the drain. */
	int (*open)(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		    struct gauge **ret_gauge, struct error *err);
	void (*close)(struct gauge *gauge);
	/* May be NULL from here on. */
	int (*find)(struct gauge *gauge, struct error *err);
	void (*begin)(struct gauge *gauge, uint64_t now);
	int (*walk)(struct gauge *gauge, struct unwinder *unwinder, uint64_t until,
		    struct error *err);
	int (*drain)(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
		     struct error *err);
	int (*losses)(struct gauge *gauge, struct tally_losses *losses, struct error *err);
	bool (*starves)(const struct gauge *gauge);
	int (*threads)(struct gauge *gauge, struct thread_list *list);
};

struct gauge {
	const struct gauge_ops *ops;
};

extern const struct gauge_ops gauge_counts, gauge_times, gauge_calls, gauge_values, gauge_blocks;

static inline const struct gauge_ops *gauge_of(const struct plan *plan)
{
	if (plan_has_calls(plan))
		return &gauge_calls;
	if (plan->calls.outstanding)
		return &gauge_blocks;
	if (plan->sum)
		return &gauge_values;
	return plan->off_cpu.on ? &gauge_times : &gauge_counts;
}

/* Configures the plan's gauge, and leaves out what the others need. */
void gauge_configure(const struct plan *plan, struct stacktally *skeleton,
		     struct wire_config *config, uint32_t sets);

/* May be NULL. */
static inline void gauge_close(struct gauge *gauge)
{
	if (gauge)
		gauge->ops->close(gauge);
}

/* Finds what there is already, just before the programs are armed. */
static inline int gauge_find(struct gauge *gauge, struct error *err)
{
	return gauge->ops->find ? gauge->ops->find(gauge, err) : 0;
}

/* Sets the time at which the measurement begins; the programs are armed next. */
static inline void gauge_begin(struct gauge *gauge, uint64_t now)
{
	if (gauge->ops->begin)
		gauge->ops->begin(gauge, now);
}

/*
 * Walks the stacks of what was found, once the programs are armed. 1: the unwinder, which may be
 * NULL, is full, and this is to be called again. From `until` (CLOCK_MONOTONIC, ns) on, the others
 * are left without their stacks. The caller holds images_lock().
 */
static inline int gauge_walk(struct gauge *gauge, struct unwinder *unwinder, uint64_t until,
			     struct error *err)
{
	return gauge->ops->walk ? gauge->ops->walk(gauge, unwinder, until, err) : 0;
}

/*
 * Adds what the drain has not taken of an ended epoch, all of whose stacks have come.
 */
static inline int gauge_drain(struct gauge *gauge, const struct gauge_epoch *epoch,
			      struct tally *tally, struct error *err)
{
	return gauge->ops->drain ? gauge->ops->drain(gauge, epoch, tally, err) : 0;
}

/* Adds the gauge's own losses since the last call. */
static inline int gauge_losses(struct gauge *gauge, struct tally_losses *losses, struct error *err)
{
	return gauge->ops->losses ? gauge->ops->losses(gauge, losses, err) : 0;
}

/* Whether a thread that it found has waited for a CPU all the time, so that its stack is unknown.
 */
static inline bool gauge_starves(const struct gauge *gauge)
{
	return gauge->ops->starves && gauge->ops->starves(gauge);
}

/* Appends the threads that it found, with what is known of them now. 0 or -ENOMEM. */
static inline int gauge_threads(struct gauge *gauge, struct thread_list *list)
{
	return gauge->ops->threads ? gauge->ops->threads(gauge, list) : 0;
}

#endif
