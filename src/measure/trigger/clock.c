// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/grow.h"
#include "base/own.h"
#include "trigger/clock_due.h"
#include "trigger/clock_events.h"
#include "trigger/clock_open.h"
#include "trigger/entry.h"

#define CLOCK_PROGRAM "on_clock"

struct cpu_event {
	int cpu;
	int fd;
	struct perf_event_mmap_page *records;
	struct clock_due due; /* as it was read last */
	uint64_t read;	      /* when tick() read it last */
};

/* A CPU whose event is gone, or that was offline: since when it is not known to be sampled. */
struct cpu_gap {
	int cpu;
	uint64_t since;
};

struct clock_trigger {
	struct trigger head;
	struct perf_event_attr attr;
	bool may_fall_back; /* to the CPU clock: the user named no event */
	struct cpu_event *events;
	uint32_t n_events, capacity;
	int program;		 /* fd of the loaded program, borrowed from the object */
	uint64_t throttled;	 /* times, of events that are closed */
	struct trigger_due *due; /* by CPU */
	uint32_t n_due;
	struct cpu_gap *gaps;
	uint32_t n_gaps, gaps_capacity;
	uint64_t ticked; /* when the CPUs were looked at last */
	uint64_t unsampled;
};

static size_t records_size(void)
{
	return (size_t)(1 + CLOCK_RECORD_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct bpf_program *program;

	return entry_select(&trigger->scope, object, CLOCK_PROGRAM, &program, err);
}

/* Opens, maps and connects the event of one CPU, disabled. Returns 0 or a negative errno. */
static int open_cpu(struct clock_trigger *clock, int cpu, struct error *err)
{
	own(own_fd) int fd = clock_open(&clock->attr, cpu);
	void *records;
	int r;

	if (fd < 0)
		return clock_explain_open(&clock->attr, clock->head.event, cpu, fd, err);
	records = mmap(NULL, records_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (records == MAP_FAILED)
		return error_set(err, -errno,
				 "cannot map the records of the event on CPU %d: %s (sysctl "
				 "kernel.perf_event_mlock_kb)",
				 cpu, strerror(errno));
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, clock->program) < 0) {
		int code = -errno;

		munmap(records, records_size());
		return error_set(err, code, "cannot attach the program to the event on CPU %d: %s",
				 cpu, strerror(-code));
	}
	r = grow(&clock->events, &clock->capacity, clock->n_events + 1);
	if (r < 0) {
		munmap(records, records_size());
		return error_set(err, r, "out of memory");
	}
	clock->events[clock->n_events++] =
		(struct cpu_event){ .cpu = cpu, .fd = take_fd(&fd), .records = records };
	clock->events[clock->n_events - 1].read = monotonic_ns();
	return 0;
}

/* Reads what the event has counted so far; adds it to what was due on its CPU. */
static void look_at(struct clock_trigger *clock, struct cpu_event *event)
{
	uint32_t cpu = (uint32_t)event->cpu;

	clock_due_read(&clock->attr, event->fd, event->records, &event->due);
	if (cpu < clock->n_due)
		clock_due_add(&event->due, &clock->due[cpu]);
}

static void drop_event(struct clock_trigger *clock, uint32_t i)
{
	struct cpu_event *event = &clock->events[i];

	look_at(clock, event);
	clock->throttled += event->due.throttles;
	munmap(event->records, records_size());
	close(event->fd);
	*event = clock->events[--clock->n_events];
}

static void close_events(struct clock_trigger *clock)
{
	while (clock->n_events > 0)
		drop_event(clock, 0);
	free(clock->events);
	clock->events = NULL;
	clock->capacity = 0;
}

static void use_cpu_clock(struct clock_trigger *clock)
{
	clock->attr.type = PERF_TYPE_SOFTWARE;
	clock->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	snprintf(clock->head.event, sizeof(clock->head.event), "cpu-clock");
}

/* Tries the event on one CPU; without it this machine uses the CPU clock. */
static void fall_back_if_absent(struct clock_trigger *clock, int cpu)
{
	own(own_fd) int fd = -1;

	if (!clock->may_fall_back)
		return;
	fd = clock_open(&clock->attr, cpu);
	if (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP || fd == -EBUSY)
		use_cpu_clock(clock);
}

static int open_all(struct clock_trigger *clock, struct error *err)
{
	own(cpu_list_clear) struct cpu_list online = { 0 };
	int r = cpu_list_read(CPU_LIST_ONLINE, &online);

	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", CPU_LIST_ONLINE, strerror(-r));
	if (online.n == 0)
		return error_set(err, -ENODEV, "%s names no CPU", CPU_LIST_ONLINE);
	fall_back_if_absent(clock, online.cpus[0]);
	for (uint32_t i = 0; i < online.n; i++) {
		r = open_cpu(clock, online.cpus[i], err);
		/* The CPU went offline since the list was read. */
		if (r == -ENODEV && clock->n_events > 0)
			continue;
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_listed(const struct cpu_list *list, int cpu)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->cpus[i] == cpu)
			return true;
	return false;
}

static int open_one(struct clock_trigger *clock, int cpu, struct error *err)
{
	own(cpu_list_clear) struct cpu_list online = { 0 };
	int r = cpu_list_read(CPU_LIST_ONLINE, &online);

	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", CPU_LIST_ONLINE, strerror(-r));
	if (!is_listed(&online, cpu))
		return error_set(err, -ENODEV, "CPU %d is not online: see %s", cpu,
				 CPU_LIST_ONLINE);
	fall_back_if_absent(clock, cpu);
	return open_cpu(clock, cpu, err);
}

static int make_room_for_due(struct clock_trigger *clock, struct error *err)
{
	own(cpu_list_clear) struct cpu_list possible = { 0 };
	int r = cpu_list_read(CPU_LIST_POSSIBLE, &possible), last = 0;

	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", CPU_LIST_POSSIBLE, strerror(-r));
	for (uint32_t i = 0; i < possible.n; i++)
		if (possible.cpus[i] > last)
			last = possible.cpus[i];
	clock->due = calloc((size_t)last + 1, sizeof(*clock->due));
	clock->n_due = clock->due ? (uint32_t)last + 1 : 0;
	return clock->due ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;
	int r = make_room_for_due(clock, err);

	if (r < 0)
		return r;
	clock->program = entry_fd(object, CLOCK_PROGRAM, err);
	if (clock->program < 0)
		return clock->program;
	for (uint32_t i = 0; r == 0 && i < trigger->scope.cpus.n; i++)
		r = open_one(clock, trigger->scope.cpus.cpus[i], err);
	if (r == 0 && !trigger->scope.cpus.n)
		r = open_all(clock, err);
	clock->ticked = monotonic_ns();
	for (uint32_t i = 0; r == 0 && i < clock->n_events; i++)
		if (ioctl(clock->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			r = error_set(err, -errno, "cannot enable the event %s on CPU %d: %s",
				      trigger->event, clock->events[i].cpu, strerror(errno));
	if (r < 0)
		close_events(clock);
	return r;
}

static bool is_open(const struct clock_trigger *clock, int cpu)
{
	for (uint32_t i = 0; i < clock->n_events; i++)
		if (clock->events[i].cpu == cpu)
			return true;
	return false;
}

/* Whether the event is still enabled: one whose CPU went offline never is again. */
static bool is_alive(struct clock_trigger *clock, struct cpu_event *event, uint64_t now)
{
	uint64_t before = event->due.now.enabled_ns;

	look_at(clock, event);
	if (event->due.now.enabled_ns <= before)
		return false;
	event->read = now;
	return true;
}

static struct cpu_gap *find_gap(const struct clock_trigger *clock, int cpu)
{
	for (uint32_t i = 0; i < clock->n_gaps; i++)
		if (clock->gaps[i].cpu == cpu)
			return &clock->gaps[i];
	return NULL;
}

/* Opens the event of a CPU that came online, and counts for how long it was not sampled at most. */
static void reopen(struct clock_trigger *clock, int cpu, uint64_t now)
{
	struct cpu_gap *gap = find_gap(clock, cpu);
	uint64_t since = gap ? gap->since : clock->ticked;

	if (open_cpu(clock, cpu, NULL) < 0)
		return;
	ioctl(clock->events[clock->n_events - 1].fd, PERF_EVENT_IOC_ENABLE, 0);
	clock->unsampled += now - since;
	if (gap)
		*gap = clock->gaps[--clock->n_gaps];
}

/* A CPU that is offline, or whose event is gone since then. */
static void add_gap(struct clock_trigger *clock, int cpu, uint64_t since)
{
	struct cpu_gap *gap = find_gap(clock, cpu);

	if (gap)
		gap->since = since;
	else if (grow(&clock->gaps, &clock->gaps_capacity, clock->n_gaps + 1) == 0)
		clock->gaps[clock->n_gaps++] = (struct cpu_gap){ cpu, since };
}

/* CPUs come and go, also between two ticks: then only the event tells. */
static void tick(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;
	own(cpu_list_clear) struct cpu_list online = { 0 };
	uint64_t now = monotonic_ns();

	if (cpu_list_read(CPU_LIST_ONLINE, &online) < 0)
		return;
	for (uint32_t i = 0; i < clock->n_events;) {
		struct cpu_event *event = &clock->events[i];
		bool alive = is_alive(clock, event, now);

		if (alive && is_listed(&online, event->cpu)) {
			i++;
			continue;
		}
		add_gap(clock, event->cpu, event->read);
		drop_event(clock, i);
	}
	for (uint32_t i = 0; i < clock->n_gaps; i++)
		if (!is_listed(&online, clock->gaps[i].cpu))
			clock->gaps[i].since = now;
	for (uint32_t i = 0; i < online.n; i++)
		if ((!trigger->scope.cpus.n || is_listed(&trigger->scope.cpus, online.cpus[i])) &&
		    !is_open(clock, online.cpus[i]))
			reopen(clock, online.cpus[i], now);
	clock->ticked = now;
}

static uint64_t unsampled(const struct trigger *trigger)
{
	return ((const struct clock_trigger *)trigger)->unsampled;
}

static uint32_t n_attached(const struct trigger *trigger)
{
	return ((const struct clock_trigger *)trigger)->n_events;
}

static uint64_t throttled(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;
	uint64_t times = clock->throttled;

	for (uint32_t i = 0; i < clock->n_events; i++) {
		look_at(clock, &clock->events[i]);
		times += clock->events[i].due.throttles;
	}
	return times;
}

static uint64_t due(struct trigger *trigger, struct trigger_due *ret_due, uint32_t n_cpus)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;

	for (uint32_t i = 0; i < clock->n_events; i++)
		look_at(clock, &clock->events[i]);
	for (uint32_t i = 0; i < n_cpus; i++)
		ret_due[i] = i < clock->n_due ? clock->due[i] : (struct trigger_due){ 0 };
	return clock_due_period_ns(&clock->attr);
}

/* Closes the events as well: they use call chain buffers, and depth_restore() needs those free. */
static void stop(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;

	for (uint32_t i = 0; i < clock->n_events; i++)
		ioctl(clock->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	close_events(clock);
}

static void clock_free(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;

	close_events(clock);
	free(clock->due);
	free(clock->gaps);
	free(clock);
}

static const struct trigger_ops clock_ops = {
	/* An event is disabled by an interrupt on its CPU, so not in the middle of a sample. */
	.stop_waits = true,	  .select = select_programs,
	.attach = attach,	  .stop = stop,
	.free = clock_free,	  .tick = tick,
	.n_attached = n_attached, .throttled = throttled,
	.unsampled = unsampled,	  .due = due,
};

int clock_trigger_new(const struct clock_options *options, struct trigger **ret_trigger,
		      struct error *err)
{
	own(own_free) struct clock_trigger *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return error_set(err, -ENOMEM, "out of memory");
	clock->head.ops = &clock_ops;
	clock->head.walks_kernel = true;
	clock->attr.size = sizeof(clock->attr);
	clock->attr.disabled = 1;
	clock->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	clock->attr.use_clockid = 1; /* of the records that it was throttled */
	clock->attr.clockid = CLOCK_MONOTONIC;
	if (options->frequency) {
		clock->attr.freq = 1;
		clock->attr.sample_freq = options->frequency;
		clock->head.rate = options->frequency;
	} else {
		clock->attr.sample_period = options->period;
	}
	if (options->event) {
		int r = clock_event_by_name(options->event, &clock->attr, err);

		if (r < 0)
			return r;
		snprintf(clock->head.event, sizeof(clock->head.event), "%s", options->event);
	} else if (options->prefer_clock) {
		use_cpu_clock(clock);
	} else {
		clock->attr.type = PERF_TYPE_HARDWARE;
		clock->attr.config = PERF_COUNT_HW_CPU_CYCLES;
		clock->may_fall_back = true;
		snprintf(clock->head.event, sizeof(clock->head.event), "cycles");
	}
	*ret_trigger = &take_ptr(clock)->head;
	return 0;
}
