/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording section by section: encodes numbers, and makes headers and checksums. The
 * first failure is kept in `failed`; from then on nothing is written.
 */
#ifndef STACKTALLY_RECORDING_SECTION_WRITER_H
#define STACKTALLY_RECORDING_SECTION_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "recording/format.h"

struct section_writer {
	FILE *out;
	uint32_t version; /* of the format */
	enum recording_section section;
	unsigned char *payload; /* RECORDING_SECTION_MAX bytes */
	uint32_t used;
	int failed; /* 0 or a negative errno */
};

/* Writes magic and version. section_writer_end() is due. */
void section_writer_begin(struct section_writer *writer, FILE *out, uint32_t version);
void section_writer_end(struct section_writer *writer);

/* The caller sees to it that an item fits: RECORDING_SECTION_FULL bytes may be used before it. */
void section_put(struct section_writer *writer, uint64_t value);
void section_put_bytes(struct section_writer *writer, const void *bytes, uint32_t size);

/* To be called before each item, as items do not straddle sections. */
void section_begin_item(struct section_writer *writer);
/* Writes the payload so far as a section, deflated if the format says so. */
void section_close(struct section_writer *writer);

#endif
