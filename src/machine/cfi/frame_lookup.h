/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a file as its call frame information tells them: an FDE for each. Reads the FDEs
 * that are asked for only, by way of the table .eh_frame_hdr; a file without that table has all its
 * FDEs read once. Must not know: symbols.
 */
#ifndef STACKTALLY_CFI_FRAME_LOOKUP_H
#define STACKTALLY_CFI_FRAME_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/call_frames.h"
#include "elf/frame_header.h"

struct frame_function {
	uint64_t begin, end; /* p_vaddr */
	/*
	 * Not entered by calls: its frame is set up before its first instruction. It is the cold
	 * part of a function.
	 */
	bool is_part;
};

struct frame_lookup {
	const struct elf_file *elf; /* borrowed */
	struct frame_header header; /* n is 0 where `frames` and `ranges` are in its place */
	struct call_frames frames;
	struct code_ranges ranges;
	/* The last CIE that an FDE referred to. */
	uint64_t cie_address;
	struct frame_cie cie;
};

/* For `n` searches. Call frame_lookup_close() in any case. 0 or -ENOMEM. */
int frame_lookup_open(struct frame_lookup *lookup, const struct code_view *code, size_t n);
void frame_lookup_close(struct frame_lookup *lookup);

/*
 * Whether a function contains the address. If none does, `ret_function` is the one before; its end
 * is 0 when there is none.
 */
bool frame_lookup_find(struct frame_lookup *lookup, uint64_t address,
		       struct frame_function *ret_function);

/*
 * The rule that leads from an address in a function to its caller. False: no function contains the
 * address, or its information is malformed, or longer than what is read of one.
 */
bool frame_lookup_rule(struct frame_lookup *lookup, uint64_t address, struct wire_rule *ret_rule);

#endif
