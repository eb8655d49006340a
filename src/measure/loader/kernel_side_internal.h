/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kernel_side*.c share.
 */
#ifndef STACKTALLY_LOADER_KERNEL_SIDE_INTERNAL_H
#define STACKTALLY_LOADER_KERNEL_SIDE_INTERNAL_H

#include "loader/kernel_side.h"

/* Sets the programs' constants, which programs are loaded, and the sizes of all maps. */
int kernel_side_configure(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
			  struct kernel_side *side, struct error *err);

/* Sets the error for why programs or maps did not load: `code` is a negative errno of libbpf's. */
int kernel_side_explain(const struct kernel_side *side, int code, struct error *err);

/*
 * Gives the pages of the ELF file that an object was opened from back: this program's own, which
 * the kernel reads again if the file is opened again. Nothing refers to them once it is open.
 */
void kernel_side_opened(const struct bpf_object_skeleton *of);

#endif
