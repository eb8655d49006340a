/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a HotSpot virtual machine keeps frames of virtual threads in its heap: as a part of its
 * description (interpreters/java_machine.h), by variables that its tables lack. Everything that is
 * read may say anything.
 */
#ifndef STACKTALLY_INTERPRETERS_JAVA_FROZEN_H
#define STACKTALLY_INTERPRETERS_JAVA_FROZEN_H

#include "interpreters/java_fields.h"

/*
 * Sets the members of `process` that tell it; `chunk_stack` stays 0 if they are not known, or if
 * the collector moves objects while a thread runs.
 */
void java_frozen_read(const struct java_memory *memory, const struct wire_java *exports,
		      uint64_t bias, const struct java_fields *fields,
		      struct wire_java_process *process);

/* Whether a machine that has been described may tell it later. */
bool java_frozen_is_early(const struct wire_java *exports, const struct wire_java_process *process);

#endif
