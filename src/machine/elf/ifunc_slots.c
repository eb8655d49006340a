// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/ifunc_slots.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "arch/machine.h"
#include "base/grow.h"

#define RELOCATIONS_MAX (64u << 20) /* bytes */

struct ifunc_slots {
	Elf64_Rela *relocations; /* only those of IFUNCs */
	size_t n, capacity;
};

void ifunc_slots_free(struct ifunc_slots *slots)
{
	if (!slots)
		return;
	free(slots->relocations);
	free(slots);
}

static int append(struct ifunc_slots *slots, const Elf64_Rela *relocations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (ELF64_R_TYPE(relocations[i].r_info) != ARCH_R_IRELATIVE)
			continue;
		r = grow(&slots->relocations, &slots->capacity, slots->n + 1);
		if (r < 0)
			return r;
		slots->relocations[slots->n++] = relocations[i];
	}
	return 0;
}

int ifunc_slots_read(const struct elf_file *elf, struct ifunc_slots **ret_slots)
{
	own(own_ifunc_slots_free) struct ifunc_slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; elf->is_64 && i < elf->n_sections; i++) {
		own(own_free) void *bytes = NULL;
		int r;

		if (elf->sections[i].type != SHT_RELA)
			continue;
		r = elf_file_load(elf, &elf->sections[i], RELOCATIONS_MAX, &bytes);
		if (r == 0)
			r = append(slots, bytes, elf->sections[i].size / sizeof(Elf64_Rela));
		if (r == -ENOMEM)
			return r;
	}
	if (slots->n == 0)
		return -ENOENT;
	*ret_slots = take_ptr(slots);
	return 0;
}

bool ifunc_slots_find(const struct ifunc_slots *slots, uint64_t resolver, uint64_t *ret_slot)
{
	for (size_t i = 0; i < slots->n; i++) {
		if ((uint64_t)slots->relocations[i].r_addend != resolver)
			continue;
		*ret_slot = slots->relocations[i].r_offset;
		return true;
	}
	return false;
}
