/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses one side-band record as it is in a perf ring (perf_event_open(2), "struct
 * perf_event_header"), with sample_id_all and SIDEBAND_SAMPLE_TYPE. Reads only the bytes it is
 * given.
 */
#ifndef STACKTALLY_PROCESS_SIDEBAND_RECORD_H
#define STACKTALLY_PROCESS_SIDEBAND_RECORD_H

#include <linux/perf_event.h>

#include "process/images_events.h"

#define SIDEBAND_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

enum sideband_kind {
	SIDEBAND_OTHER, /* not needed: of a thread, a comm without exec, another type */
	SIDEBAND_MMAP,
	SIDEBAND_EXEC,
	SIDEBAND_FORK,
	SIDEBAND_EXIT,
	SIDEBAND_LOST,
};

struct sideband_record {
	enum sideband_kind kind;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	pid_t tgid, parent;
	uint64_t lost;		       /* records that the kernel dropped */
	struct mapping_record mapping; /* its name points into the record */
};

/* `bytes` hold exactly one record. 0, or -EPROTO when it is too short for its type, or damaged. */
int sideband_record_parse(const void *bytes, size_t size, struct sideband_record *ret_record);

#endif
