/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings that a live process has now, read from /proc/PID/maps in one pass; and
 * what a mapping is, from what the kernel says of it there or in an mmap record.
 *
 * Internal to process/. Must not know: earlier or later states of the process.
 */
#ifndef STACKTALLY_PROCESS_SNAPSHOT_H
#define STACKTALLY_PROCESS_SNAPSHOT_H

#include "base/pool.h"
#include "files/files.h"
#include "process/images.h"
#include "process/mappings.h"

#define SNAPSHOT_BUFFER 65536u

/* What all snapshots share; all parts are borrowed. */
struct snapshot_context {
	struct pool *pool;   /* names of mappings */
	struct files *files; /* files of mappings */
	struct roots *roots;
	struct file_opener *opener;
	struct confined *readers;
	char *buffer; /* SNAPSHOT_BUFFER bytes, for the text of maps */
};

struct snapshot {
	struct mapping *mappings; /* ascending, not overlapping; the caller frees them */
	uint32_t n;
	uint32_t cut;  /* mappings beyond MAX_MAPPINGS */
	uint32_t root; /* an id of roots.h */
	struct process_identity identity;
};

/*
 * 0; -ESRCH: the process has ended or has no memory (a kernel thread); -ENOMEM; or another
 * negative errno: it may not be read.
 */
int snapshot_read(const struct snapshot_context *context, pid_t tgid,
		  struct snapshot *ret_snapshot);

/*
 * The file that a descriptor, open for reading, stands for. It is mapped for a moment, because the
 * kernel may describe the mappings of a file otherwise than stat() describes the file. 0 or a
 * negative errno.
 */
int snapshot_file(const struct snapshot_context *context, int fd, uint32_t *ret_file);

/* A mapping as the kernel describes it. */
struct kernel_mapping {
	struct file_reference reference; /* its two paths are set by snapshot_mapping() */
	uint64_t offset;
	const char *name; /* not terminated */
	size_t name_size;
};

/*
 * Identifies the file of a mapping, if it has one. `tgid` and `view` as for files_identify(). 0 or
 * -ENOMEM.
 */
int snapshot_mapping(const struct snapshot_context *context, struct kernel_mapping *mapped,
		     pid_t tgid, struct process_view *view, struct mapping *ret_mapping);

#endif
