/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One side-band record of the kernel, as it stands in a perf ring: pure, reads the bytes it is
 * given and nothing else. Knows the layout for sample_id_all with TID, TIME and CPU.
 */
#ifndef STACKTALLY_PROCESS_SIDEBAND_RECORD_H
#define STACKTALLY_PROCESS_SIDEBAND_RECORD_H

#include <linux/perf_event.h>

#include "process/images_events.h"

#define SIDEBAND_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

enum sideband_kind {
	SIDEBAND_OTHER, /* nothing we want: a thread, a comm that is no exec, another type */
	SIDEBAND_MMAP,
	SIDEBAND_EXEC,
	SIDEBAND_FORK,
	SIDEBAND_EXIT,
	SIDEBAND_LOST,
};

struct sideband_record {
	enum sideband_kind kind;
	uint64_t time; /* 0 where the record has none */
	pid_t tgid, parent;
	uint64_t lost;
	struct mapping_record mapping; /* its name points into the bytes */
};

/* The size of the record that begins at `bytes`, or 0 when `size` bytes do not hold it. */
size_t sideband_record_size(const void *bytes, size_t size);

/* `size` bytes, exactly one record. 0, or -EPROTO when it does not hold what its type says. */
int sideband_record_parse(const void *bytes, size_t size, struct sideband_record *ret_record);

#endif
