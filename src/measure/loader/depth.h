/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sysctl kernel.perf_event_max_stack (127 unless changed): the most frames that the kernel's
 * own stack walks record. For deeper stacks it is raised for the time of the measurement.
 */
#ifndef STACKTALLY_LOADER_DEPTH_H
#define STACKTALLY_LOADER_DEPTH_H

#include <stdint.h>

#include "base/error.h"

/*
 * Allows stacks of `depth` frames. *ret_limit is the limit from now on, *ret_before the one to
 * restore, or 0 when nothing was changed. 0, or a negative errno with an error that names the
 * sysctl: -EBUSY while another profiler walks stacks.
 */
int depth_raise(uint32_t depth, uint32_t *ret_before, uint32_t *ret_limit, struct error *err);

/*
 * Restores the limit, once the BPF programs are gone; 0 does nothing. 0, or a negative errno:
 * -EBUSY while another profiler walks stacks.
 */
int depth_restore(uint32_t before);

#endif
