/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a live process has mapped for execution right now, read from /proc/PID/maps in one pass.
 * Must not know: earlier or later states of it.
 */
#ifndef STACKTALLY_PROCESS_SNAPSHOT_H
#define STACKTALLY_PROCESS_SNAPSHOT_H

#include "base/pool.h"
#include "process/files.h"
#include "process/images.h"
#include "process/mappings.h"
#include "process/namespaces.h"

/* Where snapshots are read to, and where names and files go. */
struct capture {
	struct pool *pool;
	struct files *files;
	struct roots *roots;
	struct answering *answering;
	char *buffer; /* CAPTURE_BUFFER bytes */
};

#define CAPTURE_BUFFER 65536u

struct snapshot {
	struct mapping *mappings; /* ascending, not overlapping; owned by who asked */
	uint32_t n;
	uint32_t cut;  /* mappings beyond MAX_MAPPINGS */
	uint32_t root; /* id of namespaces.h */
	struct process_identity identity;
};

/*
 * 0; -ESRCH when the process is gone or has no memory; -ENOMEM; or another negative errno when it
 * may not be looked at.
 */
int snapshot_read(const struct capture *capture, pid_t tgid, struct snapshot *ret_snapshot);

/* A mapping from what the kernel tells of it; `view` and `tgid` as for files_identify(). */
int capture_mapping(const struct capture *capture, struct file_sighting *sighting, uint64_t offset,
		    const char *name, size_t name_size, pid_t tgid, struct process_view *view,
		    struct mapping *ret_mapping);

#endif
