// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/grow.h"
#include "base/own.h"
#include "kernel/paranoid.h"
#include "trigger/clock_events.h"
#include "trigger/entry.h"

#define CLOCK_PROGRAM "on_clock"
/* A page of records: the kernel only tells there when it throttled the event. */
#define RECORD_PAGES 1

struct cpu_event {
	int cpu;
	int fd;
	struct perf_event_mmap_page *records;
	uint64_t enabled; /* ns that it was enabled, by the kernel's count, when it was read last */
	uint64_t read;	  /* when that was */
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
	int program; /* fd of the loaded program, borrowed from the object */
	uint64_t throttled;
	struct cpu_gap *gaps;
	uint32_t n_gaps, gaps_room;
	uint64_t ticked; /* when the CPUs were looked at last */
	uint64_t unsampled;
};

static size_t records_size(void)
{
	return (size_t)(1 + RECORD_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static int select_programs(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct bpf_program *program;

	return entry_select(&trigger->scope, object, CLOCK_PROGRAM, &program, err);
}

static uint64_t max_sample_rate(void)
{
	own(own_file) FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long rate;

	return file && fscanf(file, "%llu", &rate) == 1 ? rate : 0;
}

static int explain_open(const struct clock_trigger *clock, int cpu, int code, struct error *err)
{
	const char *event = clock->head.event;
	uint64_t rate = max_sample_rate();

	switch (-code) {
	case EACCES:
	case EPERM:
		return error_privilege(err, code, "cannot open the event %s on CPU %d: %s; %s",
				       event, cpu, strerror(-code), paranoid_remedy());
	case EINVAL:
		if (clock->attr.freq && rate && clock->attr.sample_freq > rate)
			return error_set(err, code,
					 "%llu Hertz is more than this kernel allows: sysctl "
					 "kernel.perf_event_max_sample_rate is %llu; raise it, or "
					 "sample less often with -F",
					 (unsigned long long)clock->attr.sample_freq,
					 (unsigned long long)rate);
		return error_set(err, code,
				 "the kernel refuses the event %s on CPU %d with this rate or "
				 "period (%s)",
				 event, cpu, strerror(-code));
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_set(err, code,
				 "this machine has no event %s (%s): a virtual machine often has "
				 "no performance counters; -e cpu-clock works everywhere",
				 event, strerror(-code));
	case EBUSY:
		return error_set(err, code,
				 "the event %s on CPU %d is busy: another profiler holds the "
				 "performance counter",
				 event, cpu);
	case EMFILE:
		return error_set(err, code,
				 "too many open files for one event a CPU: raise `ulimit -n`");
	default:
		return error_set(err, code, "cannot open the event %s on CPU %d: %s", event, cpu,
				 strerror(-code));
	}
}

static int perf_event_open(struct perf_event_attr *attr, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Opens, maps and connects the event of one CPU, disabled. Returns 0 or a negative errno. */
static int open_cpu(struct clock_trigger *clock, int cpu, struct error *err)
{
	own(own_fd) int fd = perf_event_open(&clock->attr, cpu);
	void *records;
	int r;

	if (fd < 0)
		return explain_open(clock, cpu, fd, err);
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

static void close_events(struct clock_trigger *clock)
{
	for (uint32_t i = 0; i < clock->n_events; i++) {
		munmap(clock->events[i].records, records_size());
		close(clock->events[i].fd);
	}
	free(clock->events);
	clock->events = NULL;
	clock->n_events = clock->capacity = 0;
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
	fd = perf_event_open(&clock->attr, cpu);
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

static int attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;
	int r;

	clock->program = entry_fd(object, CLOCK_PROGRAM, err);
	if (clock->program < 0)
		return clock->program;
	if (trigger->scope.cpu >= 0)
		r = open_one(clock, trigger->scope.cpu, err);
	else
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

/* Consumes the records of an event; returns how many say that it was throttled. */
static uint64_t read_throttles(struct perf_event_mmap_page *records)
{
	uint64_t size = (uint64_t)RECORD_PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t head =
		atomic_load_explicit((_Atomic uint64_t *)&records->data_head, memory_order_acquire);
	uint64_t tail = records->data_tail, throttles = 0;
	const char *data = (const char *)records + sysconf(_SC_PAGESIZE);

	while (tail + sizeof(struct perf_event_header) <= head) {
		struct perf_event_header header;

		/* Sizes of records are multiples of 8, so a header never wraps. */
		memcpy(&header, data + tail % size, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.type == PERF_RECORD_THROTTLE)
			throttles++;
		tail += header.size;
	}
	atomic_store_explicit((_Atomic uint64_t *)&records->data_tail, head, memory_order_release);
	return throttles;
}

static bool is_open(const struct clock_trigger *clock, int cpu)
{
	for (uint32_t i = 0; i < clock->n_events; i++)
		if (clock->events[i].cpu == cpu)
			return true;
	return false;
}

static void drop_event(struct clock_trigger *clock, uint32_t i)
{
	clock->throttled += read_throttles(clock->events[i].records);
	munmap(clock->events[i].records, records_size());
	close(clock->events[i].fd);
	clock->events[i] = clock->events[--clock->n_events];
}

/* Whether the event is still enabled: one whose CPU went offline never is again. */
static bool is_alive(struct cpu_event *event, uint64_t now)
{
	struct {
		uint64_t value, enabled;
	} counts;

	if (read(event->fd, &counts, sizeof(counts)) != sizeof(counts) ||
	    counts.enabled <= event->enabled)
		return false;
	event->enabled = counts.enabled;
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
	else if (grow(&clock->gaps, &clock->gaps_room, clock->n_gaps + 1) == 0)
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
		bool alive = is_alive(event, now);

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
		if ((trigger->scope.cpu < 0 || trigger->scope.cpu == online.cpus[i]) &&
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

	for (uint32_t i = 0; i < clock->n_events; i++)
		clock->throttled += read_throttles(clock->events[i].records);
	return clock->throttled;
}

/* Closes the events as well: they use call chain buffers, and depth_restore() needs those free. */
static void stop(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;

	for (uint32_t i = 0; i < clock->n_events; i++)
		ioctl(clock->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	throttled(trigger);
	close_events(clock);
}

static void clock_free(struct trigger *trigger)
{
	struct clock_trigger *clock = (struct clock_trigger *)trigger;

	close_events(clock);
	free(clock->gaps);
	free(clock);
}

static const struct trigger_ops clock_ops = {
	/* An event is disabled by an interrupt on its CPU, so not in the middle of a sample. */
	.stop_waits = true,	  .select = select_programs,
	.attach = attach,	  .stop = stop,
	.free = clock_free,	  .tick = tick,
	.n_attached = n_attached, .throttled = throttled,
	.unsampled = unsampled,
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
	if (options->frequency) {
		clock->attr.freq = 1;
		clock->attr.sample_freq = options->frequency;
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
