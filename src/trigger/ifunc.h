/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The implementations that IFUNC resolvers chose (memcpy, strlen). The choice depends on the CPU
 * only, so it is the same in all processes: it is read from the memory of one that maps the file,
 * at the places where the file's relocations (R_*_IRELATIVE) had the dynamic linker write it. No
 * resolver is run.
 */
#ifndef STACKTALLY_TRIGGER_IFUNC_H
#define STACKTALLY_TRIGGER_IFUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct ifuncs;

/*
 * Finds the relocations of the file and a process that maps it. `elf` is borrowed; `fd` is its
 * descriptor. 0; -ENOENT when there is no such relocation or process; -ENOMEM.
 */
int ifuncs_new(const struct elf_file *elf, int fd, struct ifuncs **ret_ifuncs);
void ifuncs_free(struct ifuncs *ifuncs);

/*
 * The choice of the resolver at `resolver`, both as addresses of the file. False: not known, or in
 * another file.
 */
bool ifuncs_choice(const struct ifuncs *ifuncs, uint64_t resolver, uint64_t *ret_address);

#endif
