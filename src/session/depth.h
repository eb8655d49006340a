/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel walks no more frames than the sysctl kernel.perf_event_max_stack says (127 unless
 * changed). For deeper stacks it is raised for the time of the measurement.
 */
#ifndef STACKTALLY_SESSION_DEPTH_H
#define STACKTALLY_SESSION_DEPTH_H

#include <stdint.h>

#include "base/error.h"

/*
 * Makes room for stacks of `depth` frames. `ret_before` receives what was there and has to come
 * back, or 0 when nothing was changed; `ret_limit` what holds now. An error names the sysctl.
 */
int depth_raise(uint32_t depth, uint32_t *ret_before, uint32_t *ret_limit, struct error *err);

/*
 * Puts the old limit back, once the programs are gone. `before` 0 does nothing. Returns a negative
 * errno when it cannot be: -EBUSY while another profiler walks stacks.
 */
int depth_restore(uint32_t before);

#endif
