/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dynamic linker chose for IFUNC symbols (memcpy, strlen). The choice depends on the CPU,
 * so it is the same in every process: it is read from the memory of one that has the file
 * mapped, where the file's own relocations say that the linker wrote it. Runs no code.
 */
#ifndef STACKTALLY_TRIGGER_IFUNC_H
#define STACKTALLY_TRIGGER_IFUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct ifuncs;

/*
 * Finds a process that maps the file, and the file's relocations. `elf` is borrowed; `fd` is the
 * file's. -ENOENT when no process maps it, -ENOMEM.
 */
int ifuncs_new(const struct elf_file *elf, int fd, struct ifuncs **ret_ifuncs);
void ifuncs_free(struct ifuncs *ifuncs);

/* The function chosen by the resolver at `resolver`; both are addresses in the file's own terms. */
bool ifuncs_choice(const struct ifuncs *ifuncs, uint64_t resolver, uint64_t *ret_address);

#endif
