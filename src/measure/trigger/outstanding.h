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

struct outstanding_request {
	const char *allocates; /* a pattern of a single function, "c:malloc"; NULL: all of libc's */
	const char *frees;     /* the same of one that frees; NULL with `allocates` */
	bool force;	       /* as of spec_trigger_new() */
	pid_t pid;	       /* whose libraries are meant; 0: those of `program` */
	const char *program;   /* that will be started; NULL: those of this machine */
};

/*
 * Names tell which arguments functions have; one that is not known has the size, or the block, as
 * its first argument. The trigger's `instead` names the functions of another file of the process
 * that has these, too. 0, or a negative errno with `err` set.
 */
int outstanding_trigger_new(const struct outstanding_request *request, struct trigger **ret_trigger,
			    struct error *err);

#endif
