/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a section of call frame information: .eh_frame (LSB, 10.6) or .debug_frame
 * (DWARF 5, 6.4.1). Common information entries (CIE) are parsed and kept; frame description
 * entries (FDE) become ranges of code, whose instructions are executed later.
 *
 * An FDE refers to its CIE by an offset. Only offsets at which the pass over the section met a CIE
 * are accepted, so overlapping CIEs cannot be forged. Must not know: where the section came from.
 */
#ifndef STACKTALLY_CFI_CALL_FRAMES_H
#define STACKTALLY_CFI_CALL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/cfi_program.h"
#include "cfi/code_ranges.h"
#include "cfi/code_view.h"
#include "cfi/frame_sections.h"
#include "cfi/unwind_rows.h"

/* What FDEs of CIEs with augmentation S are. */
enum frame_kind {
	FRAME_CALLED,	     /* not marked, or a function that is called all the same */
	FRAME_INTERRUPTED,   /* its return address was interrupted: no call is before it */
	FRAME_SIGNAL_RETURN, /* the code to which the kernel has signal handlers return */
};

struct frame_cie {
	uint64_t offset; /* in the section */
	struct cfi_frame frame;
	uint8_t segment_size;  /* bytes of the segment selectors in FDEs; DWARF 4 */
	bool has_augmentation; /* FDEs have augmentation data, preceded by its size */
	bool usable;	       /* false: malformed or unknown, and so are its FDEs */
};

struct call_frames {
	bool is_eh;
	const struct cfi_machine *machine;
	uint8_t *bytes; /* owned */
	uint64_t size;
	uint64_t address; /* of the first byte in memory */
	struct frame_cie *cies;
	uint32_t n_cies, capacity;
};

void call_frames_free(struct call_frames *frames);

/*
 * Reads the CIEs, and adds a range to `ranges` for each FDE for code of the file; counts what is
 * malformed. Takes over the section's bytes, also on failure. 0, -ENOMEM, -EFBIG.
 */
int call_frames_read(struct call_frames *frames, bool is_eh, const struct frame_bytes *section,
		     const struct code_view *code, struct code_ranges *ranges,
		     struct unwind_counts *counts);

/* The CIE of .eh_frame at the first of the bytes, which may go on behind it. */
struct frame_cie call_frames_cie(const struct frame_bytes *bytes,
				 const struct cfi_machine *machine);

/*
 * Whether the frame is already set up where the code of an FDE with these instructions begins: the
 * first one says so before it moves on. (Code that nothing returns from, _start, says that it has
 * no caller.)
 */
bool call_frames_begin_within(const uint8_t *instructions, size_t size);

/* Whether one rule, `*ret_rule`, holds for all of a range. */
bool call_frames_is_constant(const struct call_frames *frames, const struct code_range *range,
			     struct wire_rule *ret_rule);

/* Writes the rows of a range. Returns as cfi_program_rows(). */
int call_frames_rows(const struct call_frames *frames, const struct code_range *range,
		     struct row_writer *writer);

#endif
