/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HotSpot virtual machines that run: reads what each says of itself, as soon as it has made its
 * code cache and its interpreter, and writes that to the map `java_processes`.
 *
 * For one thread. Must not know: files, stacks.
 */
#ifndef STACKTALLY_INTERPRETERS_JAVA_MACHINES_H
#define STACKTALLY_INTERPRETERS_JAVA_MACHINES_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/interpreter_wire.h"

struct java_machines {
	struct java_machine *list;
	uint32_t n, capacity;
	int map;	   /* borrowed; -1: there is none yet */
	uint64_t last;	   /* number that a machine got */
	uint64_t next_try; /* monotonic_ns(); 0: nothing is to be tried */
};

#define JAVA_MACHINES_NONE ((struct java_machines){ .map = -1 })

void java_machines_clear(struct java_machines *machines);

/*
 * A process has mapped a libjvm with these exports at `bias`, or something else has changed in its
 * mappings. -ENOMEM or 0.
 */
int java_machines_saw(struct java_machines *machines, pid_t tgid, uint32_t interpreter,
		      const struct wire_java *exports, uint64_t bias);
/* A process has ended, or runs another program now; it may be any. */
void java_machines_forget(struct java_machines *machines, pid_t tgid);

/* Reads those that are due; cheap if none is. */
void java_machines_try(struct java_machines *machines, uint64_t now);

/* What did not fit in the first machine that is refused, a constant; NULL: none is. */
const char *java_machines_refused(const struct java_machines *machines, pid_t *ret_tgid);

#endif
