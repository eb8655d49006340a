/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file has the C library of a program that is not started yet: a static program has its own,
 * and one that was linked with musl has musl's, which the dynamic linker's cache does not know.
 */
#ifndef STACKTALLY_TRIGGER_PROGRAM_LIBC_H
#define STACKTALLY_TRIGGER_PROGRAM_LIBC_H

/*
 * The name of that library as a pattern has it: "c", or a path without colons, which the caller
 * frees. `program` is the first word of a command. "c" also for a script and what cannot be read.
 * NULL: out of memory.
 */
char *program_libc(const char *program);

#endif
