/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GNU build-id of an ELF file, read from its notes with a handful of bounded reads: the file
 * may be hostile. Knows nothing of processes.
 */
#ifndef STACKTALLY_ELF_BUILD_ID_H
#define STACKTALLY_ELF_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

/*
 * Reads from `fd`, a regular file. Returns the size of the build-id (1..BUILD_ID_MAX), 0 when it
 * is an ELF file without one, -ENOEXEC when it is no ELF file, or another negative errno.
 */
int build_id_read(int fd, uint8_t ret_build_id[BUILD_ID_MAX]);

/* The same for the notes of a segment that are in memory; 0 when there is none among them. */
int build_id_in_notes(const void *notes, size_t size, uint8_t ret_build_id[BUILD_ID_MAX]);

#endif
