/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the resolvers of IFUNCs chose: read from the memory of a process that maps the file, at the
 * slots that elf/ifunc_slots.h finds. No resolver is run.
 *
 * A process can write what it likes to its memory, so only two kinds are asked: those of root, and
 * the one that the user wants to measure, in which alone the probe is then set. What they say is
 * still to be checked: a probe inside an instruction would break the program.
 */
#ifndef STACKTALLY_TRIGGER_IFUNC_H
#define STACKTALLY_TRIGGER_IFUNC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

struct ifunc_memory;

/*
 * Finds a process that maps the file from its first byte on, which the file has at the address
 * `first`: the process `pid` if that is not 0, else one of root. 0; -ENOENT; or -ENOMEM.
 */
int ifunc_memory_open(int fd, pid_t pid, uint64_t first, struct ifunc_memory **ret_memory);
void ifunc_memory_close(struct ifunc_memory *memory);
DEFINE_OWN(struct ifunc_memory, ifunc_memory_close)

/* The choice in a slot, both as addresses of the file; the choice may be outside of it. */
bool ifunc_memory_choice(const struct ifunc_memory *memory, uint64_t slot, uint64_t *ret_address);

#endif
