/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program of the system and reads what it prints.
 */
#ifndef STACKTALLY_BASE_PROGRAM_H
#define STACKTALLY_BASE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Runs argv[0], an absolute path, without input, with English messages, which are dropped, and no
 * other environment. Gives what it prints to stdout, cut at `size` - 1 bytes and ended by NUL. It
 * is killed after `limit_ns`. 0; -ETIMEDOUT; -ENOENT: it failed, or there is no such program; or
 * another negative errno.
 */
int program_output(const char *const *argv, uint64_t limit_ns, char *ret_text, size_t size);

#endif
