/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers as .eh_frame and .eh_frame_hdr encode them (LSB, 10.5.1). Must not know: sections.
 */
#ifndef STACKTALLY_CFI_EH_POINTER_H
#define STACKTALLY_CFI_EH_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/byte_reader.h"

/* The low four bits are the format, the next three the base that the value is relative to. */
enum eh_pointer {
	EH_PE_ABSPTR = 0x00,
	EH_PE_ULEB128,
	EH_PE_UDATA2,
	EH_PE_UDATA4,
	EH_PE_UDATA8,
	EH_PE_SLEB128 = 0x09,
	EH_PE_SDATA2,
	EH_PE_SDATA4,
	EH_PE_SDATA8,
	EH_PE_PCREL = 0x10,
	EH_PE_DATAREL = 0x30,
	EH_PE_INDIRECT = 0x80,
	EH_PE_OMIT = 0xff,
};

#define EH_PE_FORMAT(encoding) ((encoding)&0x0f)

/*
 * Reads a pointer; `address` is that of reader->at in memory, for EH_PE_PCREL. False: truncated,
 * or another base than none and EH_PE_PCREL.
 */
bool eh_pointer_read(struct byte_reader *reader, uint8_t encoding, uint64_t address,
		     uint64_t *ret_value);

#endif
