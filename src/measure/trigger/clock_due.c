// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/clock_due.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* The kernel's timer of a software clock expires no more often. */
#define LEAST_PERIOD_NS 10000

/* PERF_RECORD_THROTTLE and PERF_RECORD_UNTHROTTLE. */
struct throttle_record {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

static bool is_software_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* The kernel turns the frequency of a software clock into a period once and for all. */
uint64_t clock_due_period_ns(const struct perf_event_attr *attr)
{
	uint64_t period;

	if (!is_software_clock(attr))
		return 0;
	period = attr->freq ? NS_PER_SECOND / attr->sample_freq : attr->sample_period;
	return period < LEAST_PERIOD_NS ? LEAST_PERIOD_NS : period;
}

/* By the event's count: of a clock, the time, also in the mode whose samples are left out. */
static uint64_t samples_due(const struct perf_event_attr *attr, uint64_t value, uint64_t enabled)
{
	uint64_t period = clock_due_period_ns(attr);

	if (period)
		return attr->exclude_user || attr->exclude_kernel ? 0 : enabled / period;
	/* The kernel changes the period of other events as it goes, to meet the frequency. */
	return attr->freq || !attr->sample_period ? 0 : value / attr->sample_period;
}

static void take_record(const struct throttle_record *record, struct clock_due *due)
{
	if (record->header.type == PERF_RECORD_THROTTLE) {
		due->throttles++;
		due->since = record->time;
	} else if (record->header.type == PERF_RECORD_UNTHROTTLE && due->since) {
		due->now.throttled_ns += record->time > due->since ? record->time - due->since : 0;
		due->since = 0;
	}
}

static void read_records(struct perf_event_mmap_page *records, struct clock_due *due)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = CLOCK_RECORD_PAGES * page;
	uint64_t head =
		atomic_load_explicit((_Atomic uint64_t *)&records->data_head, memory_order_acquire);
	uint64_t tail = records->data_tail;
	const char *data = (const char *)records + page;

	while (tail + sizeof(struct perf_event_header) <= head) {
		struct throttle_record record;

		/* Sizes of records are multiples of 8, so a header never wraps; others may. */
		memcpy(&record.header, data + tail % size, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break;
		if (record.header.size >= sizeof(record) && tail + sizeof(record) <= head) {
			for (size_t i = 0; i < sizeof(record); i += sizeof(uint64_t))
				memcpy((char *)&record + i, data + (tail + i) % size,
				       sizeof(uint64_t));
			take_record(&record, due);
		}
		tail += record.header.size;
	}
	atomic_store_explicit((_Atomic uint64_t *)&records->data_tail, head, memory_order_release);
}

void clock_due_read(const struct perf_event_attr *attr, int fd,
		    struct perf_event_mmap_page *records, struct clock_due *due)
{
	struct {
		uint64_t value, enabled;
	} counts;
	uint64_t now = monotonic_ns();

	read_records(records, due);
	/* One that is still throttled was so until now. */
	if (due->since && now > due->since) {
		due->now.throttled_ns += now - due->since;
		due->since = now;
	}
	if (read(fd, &counts, sizeof(counts)) != sizeof(counts))
		return;
	due->now.enabled_ns = counts.enabled;
	due->now.samples = samples_due(attr, counts.value, counts.enabled);
}

void clock_due_add(struct clock_due *due, struct trigger_due *total)
{
	total->samples += due->now.samples - due->added.samples;
	total->enabled_ns += due->now.enabled_ns - due->added.enabled_ns;
	total->throttled_ns += due->now.throttled_ns - due->added.throttled_ns;
	due->added = due->now;
}
