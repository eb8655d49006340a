// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/sideband.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/grow.h"
#include "base/own.h"
#include "process/images_events.h"
#include "process/perf_ring.h"
#include "process/sideband_record.h"

#define CHECK_CPUS_NS NS_PER_SECOND

/* The ring of a CPU and its next record. */
struct cpu_ring {
	struct perf_ring ring;
	struct sideband_record next;
	size_t size; /* of the next record, in bytes */
};

struct sideband {
	struct images *images;
	struct cpu_ring *rings;
	uint32_t n_rings, rings_capacity;
	struct cpu_ring **pending; /* while draining: the rings that have a next record */
	uint32_t pending_capacity;
	int epoll;
	uint64_t cpus_checked;
	struct sideband_traffic traffic;
};

static int add_ring(struct sideband *sideband, int cpu)
{
	struct epoll_event event = { .events = EPOLLIN };
	uint32_t n = sideband->n_rings + 1;
	struct perf_ring ring;
	int r;

	if (grow(&sideband->rings, &sideband->rings_capacity, n) < 0 ||
	    grow(&sideband->pending, &sideband->pending_capacity, n) < 0)
		return -ENOMEM;
	r = perf_ring_open(cpu, &ring);
	if (r < 0)
		return r;
	if (epoll_ctl(sideband->epoll, EPOLL_CTL_ADD, ring.fd, &event) < 0) {
		r = -errno;
		perf_ring_close(&ring);
		return r;
	}
	sideband->rings[sideband->n_rings++] = (struct cpu_ring){ .ring = ring };
	return 0;
}

static bool has_ring(const struct sideband *sideband, int cpu)
{
	for (uint32_t i = 0; i < sideband->n_rings; i++) {
		if (sideband->rings[i].ring.cpu == cpu)
			return true;
	}
	return false;
}

/* Opens the rings of the CPUs of the list that have none. */
static int open_cpus(struct sideband *sideband, const struct cpu_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		int r = has_ring(sideband, list->cpus[i]) ? 0 : add_ring(sideband, list->cpus[i]);

		if (r < 0 && r != -ENODEV && r != -ENXIO) /* it went offline just now */
			return r;
	}
	return 0;
}

static void close_dead_rings(struct sideband *sideband)
{
	for (uint32_t i = 0; i < sideband->n_rings;) {
		if (perf_ring_is_alive(&sideband->rings[i].ring)) {
			i++;
			continue;
		}
		perf_ring_close(&sideband->rings[i].ring);
		sideband->rings[i] = sideband->rings[--sideband->n_rings];
	}
}

/*
 * Brings the rings in line with the CPUs that are online. The event of a CPU that goes offline is
 * dead, also if the CPU is back by now, so its ring, which was drained before, is closed; the CPU
 * gets a new one when it is back.
 */
static int check_cpus(struct sideband *sideband)
{
	own(cpu_list_clear) struct cpu_list list = { 0 };
	int r = cpu_list_read(CPU_LIST_ONLINE, &list);

	sideband->cpus_checked = monotonic_ns();
	if (r < 0)
		return r;
	close_dead_rings(sideband);
	return open_cpus(sideband, &list);
}

/* Moves on to the next record of a ring that is older than `end`; false when there is none. */
static bool advance(struct sideband *sideband, struct cpu_ring *ring, uint64_t end)
{
	for (;;) {
		const void *bytes = perf_ring_peek(&ring->ring, &ring->size);

		if (!bytes)
			return false;
		if (sideband_record_parse(bytes, ring->size, &ring->next) == 0) {
			if (ring->next.time >= end)
				return false;
			if (ring->next.kind != SIDEBAND_OTHER)
				return true;
		} else {
			sideband->traffic.damaged++;
			images_lost(sideband->images, 1);
		}
		perf_ring_consume(&ring->ring, ring->size);
	}
}

static int apply(struct images *images, const struct sideband_record *record)
{
	switch (record->kind) {
	case SIDEBAND_MMAP:
		return images_mmap(images, &record->mapping);
	case SIDEBAND_EXEC:
		return images_exec(images, record->tgid, record->time);
	case SIDEBAND_FORK:
		return images_fork(images, record->tgid, record->parent, record->time);
	case SIDEBAND_EXIT:
		images_exit(images, record->tgid, record->time);
		return 0;
	case SIDEBAND_LOST:
		images_lost(images, record->lost);
		return 0;
	default:
		return 0;
	}
}

/* Applies the records of all rings that are older than `end`, in the order of their times. */
static int merge(struct sideband *sideband, uint64_t end)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sideband->n_rings; i++) {
		perf_ring_update(&sideband->rings[i].ring);
		if (advance(sideband, &sideband->rings[i], end))
			sideband->pending[n++] = &sideband->rings[i];
	}
	while (n > 0) {
		uint32_t first = 0;
		struct cpu_ring *ring;
		int r;

		for (uint32_t i = 1; i < n; i++) {
			if (sideband->pending[i]->next.time < sideband->pending[first]->next.time)
				first = i;
		}
		ring = sideband->pending[first];
		r = apply(sideband->images, &ring->next);
		sideband->traffic.records++;
		sideband->traffic.bytes += ring->size;
		perf_ring_consume(&ring->ring, ring->size);
		if (r < 0)
			return r;
		if (!advance(sideband, ring, end))
			sideband->pending[first] = sideband->pending[--n];
	}
	return 0;
}

int sideband_drain(struct sideband *sideband)
{
	/*
	 * Taken before the rings are read: a record that one of them does not hold by then is newer
	 * than this, and so than all records that are applied.
	 */
	uint64_t end = monotonic_ns();
	int r = merge(sideband, end);

	if (r < 0)
		return r;
	images_set_drained(sideband->images, end);
	if (end - sideband->cpus_checked >= CHECK_CPUS_NS)
		r = check_cpus(sideband);
	return r == -ENOMEM ? r : 0;
}

static int drain(void *context)
{
	return sideband_drain(context);
}

int sideband_open(struct images *images, struct sideband **ret_sideband)
{
	struct sideband *sideband = calloc(1, sizeof(*sideband));
	int r;

	if (!sideband)
		return -ENOMEM;
	sideband->epoll = epoll_create1(EPOLL_CLOEXEC);
	r = sideband->epoll < 0 ? -errno : check_cpus(sideband);
	if (r < 0) {
		sideband_close(sideband);
		return r;
	}
	sideband->images = images;
	images_set_drain(images, drain, sideband);
	*ret_sideband = sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	if (sideband->images)
		images_set_drain(sideband->images, NULL, NULL);
	for (uint32_t i = 0; i < sideband->n_rings; i++)
		perf_ring_close(&sideband->rings[i].ring);
	own_fd(&sideband->epoll);
	free(sideband->rings);
	free(sideband->pending);
	free(sideband);
}

int sideband_fd(const struct sideband *sideband)
{
	return sideband->epoll;
}

const struct sideband_traffic *sideband_traffic(const struct sideband *sideband)
{
	return &sideband->traffic;
}
