/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How Ruby's vm_exec() saves where exceptions continue. It calls the C library's setjmp(), or has
 * the compiler's own, __builtin_setjmp(): that depends on how Ruby was configured, not on its
 * version. The file may be hostile.
 */
#ifndef STACKTALLY_INTERPRETERS_RUBY_RECORD_H
#define STACKTALLY_INTERPRETERS_RUBY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct ruby_record {
	/* Offsets in what is saved: of the address to continue at, of registers there. */
	uint8_t label, sp, fp;
	uint8_t size; /* bytes of what is saved */
	/*
	 * Of a call of setjmp(): the address in the file behind it, and how many bytes what is
	 * saved is above the stack pointer. 0: there is none.
	 */
	uint64_t continues;
	uint32_t above;
};

/* Reads the code of vm_exec(), `size` bytes at `address`. 0, -ENODATA if it has neither, -ENOMEM.
 */
int ruby_record_find(const struct elf_file *elf, const uint8_t *bytes, uint32_t size,
		     uint64_t address, struct ruby_record *ret_record);

#endif
