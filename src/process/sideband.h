/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side-band: the kernel's records of what is mapped, executed, forked and ended, from one
 * dummy event per online CPU, told to the images in the order of their times. Open it before
 * the first sample. CPUs that come online later join within a second.
 *
 * While it is open, images_learn() drains it by itself when it is asked for a time that was not
 * drained yet; so the caller only has to drain when sideband_fd() says so, and every second or
 * so. It must be closed before its images are freed.
 */
#ifndef STACKTALLY_PROCESS_SIDEBAND_H
#define STACKTALLY_PROCESS_SIDEBAND_H

#include "process/images.h"

struct sideband;

/* 0 or a negative errno: -EACCES or -EPERM without the privilege (CAP_PERFMON). */
int sideband_open(struct images *images, struct sideband **ret_sideband);
void sideband_close(struct sideband *sideband);

/* For poll(): readable when there is something to drain. Borrowed. */
int sideband_fd(const struct sideband *sideband);

/* Tells the images all that happened up to now. 0 or -ENOMEM. */
int sideband_drain(struct sideband *sideband);

/* What went by so far: records told, and bytes of them. */
struct sideband_traffic {
	uint64_t records, bytes;
	uint64_t damaged; /* could not be parsed */
};
const struct sideband_traffic *sideband_traffic(const struct sideband *sideband);

#endif
