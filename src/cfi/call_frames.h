/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a section of call frame information: .eh_frame (LSB, 10.6) or .debug_frame
 * (DWARF 5, 6.4.1). Common information entries (CIE) are kept, those for code (FDE) become
 * ranges, whose programs are executed later.
 *
 * An FDE refers to a CIE by its offset; only offsets where an entry really begins count, so that
 * no bytes are worth more than one CIE. Must not know: where the section came from.
 */
#ifndef STACKTALLY_CFI_CALL_FRAMES_H
#define STACKTALLY_CFI_CALL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/cfi_program.h"
#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/rows.h"

struct frame_cie {
	uint64_t offset; /* in the section */
	struct cfi_frame frame;
	uint8_t segment_size;  /* of the segment selectors in FDEs; DWARF 4 */
	bool has_augmentation; /* FDEs have data of a size of their own */
	bool usable;	       /* false: its FDEs are malformed */
};

struct call_frames {
	bool is_eh;
	uint8_t *bytes; /* owned */
	uint64_t size;
	uint64_t address; /* of the first byte in memory */
	struct frame_cie *cies;
	uint32_t n_cies, room;
};

void call_frames_free(struct call_frames *frames);

/*
 * Reads the CIEs, and adds a range for each FDE on code of the file to `ranges`; what is wrong is
 * counted. Takes over `bytes`, whatever happens. 0, -ENOMEM, -EFBIG.
 */
int call_frames_read(struct call_frames *frames, bool is_eh, uint8_t *bytes, uint64_t size,
		     uint64_t address, const struct code_view *code, struct code_ranges *ranges,
		     struct unwind_counts *counts);

/* Rows of a range: as cfi_program_rows(). */
int call_frames_rows(const struct call_frames *frames, const struct code_range *range,
		     struct row_writer *writer);

#endif
