/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters of the kernel's functions, by its BTF. */
#ifndef STACKTALLY_KERNEL_FUNCTION_TYPES_H
#define STACKTALLY_KERNEL_FUNCTION_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_PARAMETERS_MAX 6u /* those in registers */

struct kernel_parameter {
	char name[64];
	uint32_t size; /* bytes, 1 to 8 */
	bool is_signed;
	bool is_string; /* the address of characters */
	bool is_size;	/* a size_t or ssize_t */
};

/*
 * Those of a function, up to the first one that is no number and no address. Returns how many: none
 * if the function is not known, as those of modules.
 */
uint32_t kernel_function_parameters(const char *function,
				    struct kernel_parameter ret_list[KERNEL_PARAMETERS_MAX]);

/* What it returns; `name` is not set. False: not known, or no number and no address. */
bool kernel_function_result(const char *function, struct kernel_parameter *ret_result);

#endif
