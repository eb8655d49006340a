/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes that <sys/sdt.h> leaves in .note.stapsdt, one for each location of a static probe
 * (USDT). Format: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation. The bytes
 * may be hostile. Must not know: files.
 */
#ifndef STACKTALLY_ELF_USDT_NOTES_H
#define STACKTALLY_ELF_USDT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usdt_note {
	const char *provider, *name; /* within the bytes */
	const char *arguments;	     /* the same: "-4@%edi 8@-16(%rbp)", "" */
	uint64_t address;	     /* of the probe's nop */
	uint64_t base;		     /* of .stapsdt.base at link time; prelink may have moved it */
	uint64_t semaphore;	     /* its address, or 0 */
};

/*
 * The next probe's note at or after *offset, which moves past it. False at the end, and at the
 * first malformed note. Notes of other owners are skipped.
 */
bool usdt_notes_next(const void *bytes, size_t size, bool is_64, size_t *offset,
		     struct usdt_note *ret_note);

#endif
