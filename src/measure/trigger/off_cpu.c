// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/off_cpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "trigger/attach.h"
#include "trigger/entry.h"

/*
 * Raw tracepoints: the kernel skips programs of perf's tracepoints while another BPF program runs
 * on the CPU, and a switch that is skipped is time that is lost.
 */
static const struct {
	const char *program, *tracepoint;
	bool walks, of_wakers;
} PROGRAMS[] = {
	{ "on_waking", "sched_waking", true, true },
	{ "on_wakeup", "sched_wakeup", false, false },
	{ "on_wakeup_new", "sched_wakeup_new", false, false },
	{ "on_switch", "sched_switch", true, false },
};

#define N_PROGRAMS (sizeof(PROGRAMS) / sizeof(PROGRAMS[0]))

struct off_cpu_trigger {
	struct trigger head;
	struct trigger *clock; /* samples beside it; or NULL */
	bool wakers;
	int links[N_PROGRAMS];
	uint32_t n_links;
};

/* The clock that samples; NULL: there is none, or nothing that it could sample. */
static struct trigger *clock_of(const struct trigger *trigger)
{
	const struct off_cpu_trigger *off_cpu = (const struct off_cpu_trigger *)trigger;

	return trigger->scope.still ? NULL : off_cpu->clock;
}

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	const struct off_cpu_trigger *off_cpu = (const struct off_cpu_trigger *)trigger;
	struct trigger *clock = clock_of(trigger);
	struct bpf_program *program;
	int r = 0;

	if (trigger->scope.still)
		return 0;
	/* The object that walks interpreters has only the program that walks. */
	for (size_t i = 0; r == 0 && i < N_PROGRAMS; i++)
		if ((off_cpu->wakers || !PROGRAMS[i].of_wakers) &&
		    (PROGRAMS[i].walks || entry_has(object, PROGRAMS[i].program)))
			r = entry_select(&trigger->scope, object, PROGRAMS[i].program, &program,
					 err);
	if (r < 0 || !clock)
		return r;
	clock->scope = trigger->scope;
	return clock->ops->select(clock, object, err);
}

static void stop(struct trigger *trigger)
{
	struct off_cpu_trigger *off_cpu = (struct off_cpu_trigger *)trigger;

	if (clock_of(trigger))
		off_cpu->clock->ops->stop(off_cpu->clock);
	while (off_cpu->n_links > 0)
		close(off_cpu->links[--off_cpu->n_links]);
}

static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct off_cpu_trigger *off_cpu = (struct off_cpu_trigger *)trigger;

	for (size_t i = 0; i < N_PROGRAMS && !trigger->scope.still; i++) {
		int program, link;

		if (PROGRAMS[i].of_wakers && !off_cpu->wakers)
			continue;
		program = entry_fd(object, PROGRAMS[i].program, err);
		if (program < 0) {
			stop(trigger);
			return program;
		}
		link = attach_raw_tracepoint(program, PROGRAMS[i].tracepoint);
		if (link < 0) {
			stop(trigger);
			return error_privilege(err, link, "cannot attach to the tracepoint %s: %s",
					       PROGRAMS[i].tracepoint, strerror(-link));
		}
		off_cpu->links[off_cpu->n_links++] = link;
	}
	if (clock_of(trigger)) {
		int r = off_cpu->clock->ops->attach(off_cpu->clock, object, err);

		if (r < 0)
			stop(trigger);
		return r;
	}
	return 0;
}

static void off_cpu_free(struct trigger *trigger)
{
	struct off_cpu_trigger *off_cpu = (struct off_cpu_trigger *)trigger;

	stop(trigger);
	trigger_free(off_cpu->clock);
	free(off_cpu);
}

static void tick(struct trigger *trigger)
{
	struct trigger *clock = clock_of(trigger);

	if (clock)
		clock->ops->tick(clock);
}

static uint64_t throttled(struct trigger *trigger)
{
	struct trigger *clock = clock_of(trigger);

	return clock ? clock->ops->throttled(clock) : 0;
}

static uint32_t n_attached(const struct trigger *trigger)
{
	return ((const struct off_cpu_trigger *)trigger)->n_links;
}

static uint64_t unsampled(const struct trigger *trigger)
{
	const struct trigger *clock = clock_of(trigger);

	return clock ? clock->ops->unsampled(clock) : 0;
}

static uint64_t due(struct trigger *trigger, struct trigger_due *due, uint32_t n_cpus)
{
	struct trigger *clock = clock_of(trigger);

	memset(due, 0, n_cpus * sizeof(*due));
	return clock ? clock->ops->due(clock, due, n_cpus) : 0;
}

static const struct trigger_ops OFF_CPU_OPS = {
	.meet = true,
	.select = select_programs,
	.attach = attach,
	.stop = stop,
	.free = off_cpu_free,
	.tick = tick,
	.throttled = throttled,
	.unsampled = unsampled,
	.due = due,
	.n_attached = n_attached,
};

int off_cpu_trigger_new(struct trigger *clock, bool wakers, struct trigger **ret_trigger,
			struct error *err)
{
	struct off_cpu_trigger *off_cpu = calloc(1, sizeof(*off_cpu));

	if (!off_cpu) {
		trigger_free(clock);
		return error_set(err, -ENOMEM, "out of memory");
	}
	off_cpu->clock = clock;
	off_cpu->wakers = wakers;
	off_cpu->head.ops = &OFF_CPU_OPS;
	off_cpu->head.frames = TRIGGER_FRAMES_RAW_TRACEPOINT;
	off_cpu->head.walks_kernel = true;
	snprintf(off_cpu->head.event, sizeof(off_cpu->head.event), clock ? "wall" : "off-cpu");
	*ret_trigger = &off_cpu->head;
	return 0;
}
