// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "process/sideband_record.h"

/*
 * Sizes of all rings together and of one. A disk may hold us up for a second, in which a machine
 * that executes a thousand programs writes 500 KB of records.
 */
#define ALL_BYTES (4u << 20)
#define MAX_BYTES (1u << 20)
#define MIN_BYTES (16u << 10)
/* Wake up early: a new process may end soon. The rest of a burst is drained with its beginning. */
#define WAKEUP_BYTES 1024u

/*
 * The mapped files by device and inode. Since 5.12 the kernel can give build-ids in their place,
 * which every user can forge.
 */
static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SIDEBAND_SAMPLE_TYPE,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = WAKEUP_BYTES,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static size_t wanted_size(void)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), size = MAX_BYTES;

	while (size > MIN_BYTES && size * cpus > ALL_BYTES)
		size /= 2;
	return size;
}

int perf_ring_open(int cpu, struct perf_ring *ret_ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	own(own_fd) int fd = open_event(cpu);
	void *memory = MAP_FAILED;
	size_t size;

	if (fd < 0)
		return fd;
	/* Locked memory is limited for each user (perf_event_mlock_kb): take less if need be. */
	for (size = wanted_size(); size >= MIN_BYTES && size >= page; size /= 2) {
		memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED || (errno != EPERM && errno != ENOMEM))
			break;
	}
	if (memory == MAP_FAILED)
		return -errno;
	*ret_ring = (struct perf_ring){
		.fd = take_fd(&fd),
		.cpu = cpu,
		.page = memory,
		.mapped = page + size,
	};
	return 0;
}

bool perf_ring_is_alive(struct perf_ring *ring)
{
	struct {
		uint64_t value, enabled;
	} counts;
	bool alive = read(ring->fd, &counts, sizeof(counts)) == sizeof(counts) &&
		     counts.enabled > ring->enabled;

	if (alive)
		ring->enabled = counts.enabled;
	return alive;
}

void perf_ring_close(struct perf_ring *ring)
{
	munmap(ring->page, ring->mapped);
	own_fd(&ring->fd);
	free(ring->bounce);
	*ring = (struct perf_ring){ .fd = -1 };
}

static size_t data_size(const struct perf_ring *ring)
{
	return ring->mapped - (size_t)sysconf(_SC_PAGESIZE);
}

void perf_ring_update(struct perf_ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* `size` contiguous bytes from the tail on. NULL: no memory. */
static const char *contiguous(struct perf_ring *ring, size_t size)
{
	size_t capacity = data_size(ring), at = ring->tail & (capacity - 1);
	const char *data = (const char *)ring->page + (ring->mapped - capacity);

	if (at + size <= capacity)
		return data + at;
	if (!ring->bounce)
		ring->bounce = malloc(UINT16_MAX + 1); /* no record is larger */
	if (!ring->bounce)
		return NULL;
	memcpy(ring->bounce, data + at, capacity - at);
	memcpy(ring->bounce + (capacity - at), data, size - (capacity - at));
	return ring->bounce;
}

const void *perf_ring_peek(struct perf_ring *ring, size_t *ret_size)
{
	uint64_t left = ring->head - ring->tail;
	struct perf_event_header header;
	const char *bytes;

	if (left < sizeof(header) || left > data_size(ring))
		return NULL;
	bytes = contiguous(ring, sizeof(header)); /* aligned, so a header never wraps */
	if (!bytes)
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (header.size < sizeof(header) || header.size > left) {
		perf_ring_consume(ring, left); /* damaged: the next record cannot be found */
		return NULL;
	}
	*ret_size = header.size;
	return contiguous(ring, header.size);
}

void perf_ring_consume(struct perf_ring *ring, size_t size)
{
	ring->tail += size;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
