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
	/* Offsets in the saved registers: the address to continue at, sp, fp. */
	uint8_t label, sp, fp;
	uint8_t size; /* bytes of the saved registers */
	/*
	 * The address in the file behind a call of setjmp(), and how many bytes the saved registers
	 * are above the stack pointer then. 0: there is no such call.
	 */
	uint64_t continues;
	uint32_t above;
};

/* Reads the code of vm_exec(), `size` bytes at `address`. 0, -ENODATA if it has neither, -ENOMEM.
 */
int ruby_record_find(const struct elf_file *elf, const uint8_t *bytes, uint32_t size,
		     uint64_t address, struct ruby_record *ret_record);

#endif
