/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of Perl's operations, which differ from version to version, by their names: those are
 * in an array that perl exports, PL_op_name. The file may be hostile.
 */
#ifndef STACKTALLY_INTERPRETERS_PERL_OPERATIONS_H
#define STACKTALLY_INTERPRETERS_PERL_OPERATIONS_H

#include "elf/elf_exports.h"

struct perl_operation {
	const char *name;
	uint32_t number;
};

/* Sets the numbers of `n` operations. 0, -ENODATA if the array lacks one, -ENOMEM. */
int perl_operations_find(const struct elf_file *elf, const struct elf_export *array,
			 struct perl_operation *operations, uint32_t n);

#endif
