/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's side-band records (mmap, exec, fork, exit): read from the rings of one dummy perf
 * event per online CPU and applied to process images in the order of their times. Open it before
 * the first sample. CPUs that come online later are added within a second.
 *
 * While it is open, images_learn() drains it for a time that was not drained yet;
 * so the caller has to drain only when sideband_fd() is readable, and about every second.
 */
#ifndef STACKTALLY_PROCESS_SIDEBAND_H
#define STACKTALLY_PROCESS_SIDEBAND_H

#include "process/images.h"

struct sideband;

/*
 * `images` is borrowed; close the side-band before freeing them. 0 or a negative errno: -EACCES or
 * -EPERM without CAP_PERFMON.
 */
int sideband_open(struct images *images, struct sideband **ret_sideband);
void sideband_close(struct sideband *sideband);

/* For poll(): readable when there are records to drain. Borrowed. */
int sideband_fd(const struct sideband *sideband);

/* Applies all records up to now. 0 or -ENOMEM. */
int sideband_drain(struct sideband *sideband);

/* What was read since the side-band was opened. */
struct sideband_traffic {
	uint64_t records, bytes;
	uint64_t damaged; /* records that could not be parsed */
};
const struct sideband_traffic *sideband_traffic(const struct sideband *sideband);

#endif
