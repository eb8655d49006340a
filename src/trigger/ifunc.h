/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dynamic linker chose for an IFUNC symbol (memcpy, strlen): the choice depends on the
 * CPU, so it is the same in every process. Runs no code that this process did not run at start:
 * only files that are mapped here already are asked about.
 */
#ifndef STACKTALLY_TRIGGER_IFUNC_H
#define STACKTALLY_TRIGGER_IFUNC_H

#include <stdbool.h>
#include <stdint.h>

/* The chosen function's address in the terms of the file `fd`. */
bool ifunc_choice(int fd, const char *name, uint64_t *ret_address);

#endif
