// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/sideband.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cpu_list.h"
#include "base/own.h"
#include "process/images_internal.h"
#include "process/perf_ring.h"
#include "process/sideband_record.h"

#define CHECK_CPUS_NS 1000000000ull

/* A ring, and the record that is next in it. */
struct lane {
	struct perf_ring ring;
	struct sideband_record next;
	size_t size; /* of the record; 0: none */
	bool online;
};

struct sideband {
	struct images *images;
	struct lane *lanes;
	uint32_t n_lanes, room_lanes;
	struct lane **waiting; /* those with a record, while draining */
	int epoll;
	uint64_t cpus_checked;
	struct sideband_traffic traffic;
};

static int add_lane(struct sideband *sideband, int cpu)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct perf_ring ring;
	int r;

	if (sideband->n_lanes == sideband->room_lanes) {
		uint32_t room = sideband->room_lanes ? sideband->room_lanes * 2 : 16;
		struct lane *lanes = reallocarray(sideband->lanes, room, sizeof(*lanes));
		struct lane **waiting;

		if (!lanes)
			return -ENOMEM;
		sideband->lanes = lanes;
		waiting = reallocarray(sideband->waiting, room, sizeof(struct lane *));
		if (!waiting)
			return -ENOMEM;
		sideband->waiting = waiting;
		sideband->room_lanes = room;
	}
	r = perf_ring_open(cpu, &ring);
	if (r < 0)
		return r;
	if (epoll_ctl(sideband->epoll, EPOLL_CTL_ADD, ring.fd, &event) < 0) {
		r = -errno;
		perf_ring_close(&ring);
		return r;
	}
	sideband->lanes[sideband->n_lanes++] = (struct lane){ .ring = ring, .online = true };
	return 0;
}

static struct lane *lane_of(struct sideband *sideband, int cpu)
{
	for (uint32_t i = 0; i < sideband->n_lanes; i++) {
		if (sideband->lanes[i].ring.cpu == cpu)
			return &sideband->lanes[i];
	}
	return NULL;
}

/* Opens the CPUs of the list that are not open yet, and marks all of it as online. */
static int open_cpus(struct sideband *sideband, const struct cpu_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct lane *lane = lane_of(sideband, list->cpus[i]);
		int r = 0;

		if (lane)
			lane->online = true;
		else
			r = add_lane(sideband, list->cpus[i]);
		if (r < 0 && r != -ENODEV && r != -ENXIO) /* it went offline just now */
			return r;
	}
	return 0;
}

/*
 * An event does not outlive its CPU's going offline: such a ring is closed (it was drained
 * before), so that the CPU gets a new one when it comes back.
 */
static int check_cpus(struct sideband *sideband)
{
	own(cpu_list_clear) struct cpu_list list = { 0 };
	int r = cpu_list_read(CPU_LIST_ONLINE, &list);

	sideband->cpus_checked = images_now();
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < sideband->n_lanes; i++)
		sideband->lanes[i].online = false;
	r = open_cpus(sideband, &list);
	for (uint32_t i = 0; r == 0 && i < sideband->n_lanes;) {
		if (sideband->lanes[i].online) {
			i++;
			continue;
		}
		perf_ring_close(&sideband->lanes[i].ring);
		sideband->lanes[i] = sideband->lanes[--sideband->n_lanes];
	}
	return r;
}

/* Moves a lane on to its next record that is older than `end`; false when there is none. */
static bool advance(struct sideband *sideband, struct lane *lane, uint64_t end)
{
	for (;;) {
		const void *bytes = perf_ring_peek(&lane->ring, &lane->size);

		if (!bytes)
			return false;
		if (sideband_record_parse(bytes, lane->size, &lane->next) == 0) {
			if (lane->next.time >= end)
				return false;
			if (lane->next.kind != SIDEBAND_OTHER)
				return true;
		} else {
			sideband->traffic.damaged++;
			images_lost(sideband->images, 1);
		}
		perf_ring_pass(&lane->ring, lane->size);
	}
}

static int tell(struct images *images, const struct sideband_record *record)
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

/* Tells the records of all lanes in the order of their times, as far as they are older than `end`.
 */
static int merge(struct sideband *sideband, uint64_t end)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sideband->n_lanes; i++) {
		perf_ring_look(&sideband->lanes[i].ring);
		if (advance(sideband, &sideband->lanes[i], end))
			sideband->waiting[n++] = &sideband->lanes[i];
	}
	while (n > 0) {
		uint32_t first = 0;
		struct lane *lane;
		int r;

		for (uint32_t i = 1; i < n; i++) {
			if (sideband->waiting[i]->next.time < sideband->waiting[first]->next.time)
				first = i;
		}
		lane = sideband->waiting[first];
		r = tell(sideband->images, &lane->next);
		sideband->traffic.records++;
		sideband->traffic.bytes += lane->size;
		perf_ring_pass(&lane->ring, lane->size);
		if (r < 0)
			return r;
		if (!advance(sideband, lane, end))
			sideband->waiting[first] = sideband->waiting[--n];
	}
	return 0;
}

int sideband_drain(struct sideband *sideband)
{
	/*
	 * A record that is written later than the look at its ring is also later than this; so
	 * what is left in the rings is newer than all that is told.
	 */
	uint64_t end = images_now();
	int r = merge(sideband, end);

	if (r < 0)
		return r;
	images_settle(sideband->images, end);
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
	images_follow(images, drain, sideband);
	*ret_sideband = sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	if (sideband->images)
		images_follow(sideband->images, NULL, NULL);
	for (uint32_t i = 0; i < sideband->n_lanes; i++)
		perf_ring_close(&sideband->lanes[i].ring);
	own_fd(&sideband->epoll);
	free(sideband->lanes);
	free(sideband->waiting);
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
