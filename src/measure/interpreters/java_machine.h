/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF programs are told of a HotSpot virtual machine that runs (struct wire_java_process):
 * its own description of its structures, its code cache, its interpreter. Everything is read from
 * the process's memory, which may say anything: a machine whose parts do not fit each other is
 * refused.
 */
#ifndef STACKTALLY_INTERPRETERS_JAVA_MACHINE_H
#define STACKTALLY_INTERPRETERS_JAVA_MACHINE_H

#include "interpreters/java_fields.h"

/*
 * Describes the machine whose libjvm is at `bias`. 0, also if it is refused: `refused` says why,
 * and `*ret_why`, a constant, names what did not fit, or is NULL. -EAGAIN: it is not ready yet.
 */
int java_machine_read(const struct java_memory *memory, const struct wire_java *exports,
		      uint64_t bias, struct wire_java_process *ret_process, const char **ret_why);

#endif
