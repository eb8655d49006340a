/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a function that the compiler moved away from it, as code that seldom runs. Of an
 * interpreter's evaluator that may be nearly all of it. The file may be hostile.
 */
#ifndef STACKTALLY_INTERPRETERS_COLD_PART_H
#define STACKTALLY_INTERPRETERS_COLD_PART_H

#include "cfi/frame_lookup.h"
#include "elf/elf_file.h"

/*
 * The largest part that a function of `size` bytes (64 KiB at most) jumps to, by its call frame
 * information. 0, -ENODATA if there is none, or another negative errno.
 */
int cold_part_find(const struct elf_file *elf, uint64_t function, uint64_t size,
		   struct frame_function *ret_part);

#endif
