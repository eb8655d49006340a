/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trigger of memory that is not freed: probes on the functions that allocate and free it. See
 * bpf/blocks.bpf.h.
 */
#ifndef STACKTALLY_TRIGGER_OUTSTANDING_H
#define STACKTALLY_TRIGGER_OUTSTANDING_H

#include <stdbool.h>
#include <sys/types.h>

#include "trigger/trigger.h"

/*
 * Of a function that allocates and one that frees: patterns of single functions ("c:malloc"). Their
 * names tell which arguments they have; one that is not known has the size, or the block, as its
 * first argument. `allocates` NULL: all of libc's that are known. `pid` and `force` are as of
 * spec_calls_new(). 0, or a negative errno with `err` set.
 */
int outstanding_trigger_new(const char *allocates, const char *frees, bool force, pid_t pid,
			    struct trigger **ret_trigger, struct error *err);

#endif
