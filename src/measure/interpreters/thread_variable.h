/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where each thread has a variable that the file does not export, as the code of an exported
 * function says, which reads it. The file may be hostile.
 */
#ifndef STACKTALLY_INTERPRETERS_THREAD_VARIABLE_H
#define STACKTALLY_INTERPRETERS_THREAD_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

struct thread_variable {
	/*
	 * Address in the file of what __tls_get_addr() is called with: the number of the module
	 * and an offset in its part of a thread's data. 0: the program's own, found without a call.
	 */
	uint64_t slot;
	int32_t offset; /* beyond that place, or from the thread pointer; bytes */
};

/*
 * Finds the first variable of the thread that a function of `size` bytes at `address` loads, if it
 * does one of
 *   lea SLOT(%rip),%rdi; call __tls_get_addr; ... mov OFFSET(%rax),REGISTER
 *   mov %fs:OFFSET,REGISTER
 */
bool thread_variable_find(const uint8_t *bytes, uint32_t size, uint64_t address,
			  struct thread_variable *ret_variable);

#endif
