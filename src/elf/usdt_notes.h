/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes that <sys/sdt.h> leaves in .note.stapsdt: one for each place where a static probe
 * is, as bytes in, probes out. Trusts no size in them; knows no files.
 */
#ifndef STACKTALLY_ELF_USDT_NOTES_H
#define STACKTALLY_ELF_USDT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usdt_note {
	const char *provider, *name; /* within the bytes */
	uint64_t address;	     /* of the probe's nop */
	uint64_t base;		     /* where .stapsdt.base was when it was linked */
	uint64_t semaphore;	     /* its address, or 0 */
};

/*
 * The next note at or after *offset, which it moves past it; false at the end, and at the first
 * note that makes no sense. Notes of other owners are skipped.
 */
bool usdt_notes_next(const void *bytes, size_t size, bool is_64, size_t *offset,
		     struct usdt_note *ret_note);

#endif
