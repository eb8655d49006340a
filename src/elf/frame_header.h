/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame_hdr: the sorted table of where the functions of a file with call frame information
 * begin, which stripped files keep. Format: Linux Standard Base, Core, 10.6.2; the encodings are
 * those that GNU ld, gold and lld write.
 */
#ifndef STACKTALLY_ELF_FRAME_HEADER_H
#define STACKTALLY_ELF_FRAME_HEADER_H

#include "elf/elf_file.h"

/* Whether a function (an FDE) begins at the address. */
bool frame_header_begins_at(const struct elf_file *elf, uint64_t address);

#endif
