/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slots in which the dynamic linker keeps what the resolvers of IFUNCs (memcpy, strlen) chose:
 * the places of the relocations R_*_IRELATIVE. The choice depends on the CPU only, so it is the
 * same in all processes. Must not know: processes.
 */
#ifndef STACKTALLY_ELF_IFUNC_SLOTS_H
#define STACKTALLY_ELF_IFUNC_SLOTS_H

#include "elf/elf_file.h"

struct ifunc_slots;

/* 0; -ENOENT when there are none; -ENOMEM. */
int ifunc_slots_read(const struct elf_file *elf, struct ifunc_slots **ret_slots);
void ifunc_slots_free(struct ifunc_slots *slots);
DEFINE_OWN(struct ifunc_slots, ifunc_slots_free)

/* The slot for the resolver at `resolver`, both as addresses of the file. False: it has none. */
bool ifunc_slots_find(const struct ifunc_slots *slots, uint64_t resolver, uint64_t *ret_slot);

#endif
