/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions at which a user probe breaks the program, or which the kernel is sure to refuse.
 *
 * The kernel runs a copy of the probed instruction, but emulates jumps, calls and nops. On x86 it
 * knows them by the opcode byte alone, without its map: an AVX instruction (VEX, EVEX) whose opcode
 * equals that of a jump (vpbroadcastb's is 0x7a) is emulated as the jump, and every process that
 * runs it goes wrong. Seen on Linux 6.18 at the entry of libc's strchr; no kernel is known to be
 * right. For the same reason vpxor (0xef) is refused as port I/O. One refused probe fails a whole
 * uprobe.multi link, so knowing beforehand spares the search for it.
 */
#ifndef STACKTALLY_TRIGGER_UNPROBEABLE_H
#define STACKTALLY_TRIGGER_UNPROBEABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNPROBEABLE_BYTES 16 /* the longest instruction, rounded up */

/* Whether the bytes, at most `size`, begin with such an instruction. `is_64`: 64-bit code. */
bool unprobeable(const uint8_t *bytes, size_t size, bool is_64);

/* Whether the kernel emulates the instruction at a probe, which costs one exception, not two. */
bool probe_emulated(const uint8_t *bytes, size_t size);

#endif
