/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that a user probe would break, or that the kernel is sure to refuse.
 *
 * The kernel runs a copy of the probed instruction, but emulates jumps, calls and nops; and on
 * x86 it tells what is what by the opcode byte alone. An AVX instruction (VEX, EVEX) whose opcode
 * is the same byte of another table, as vpbroadcastb's 0x7a is that of a jump, is then never
 * executed, and every process that calls the function goes wrong. Seen on Linux 6.18 at the entry
 * of libc's strchr; no release that tells them apart is known. For the same reason it refuses
 * vpxor (0xef) for an access to a device, and one refusal fails a whole uprobe.multi link: what
 * is known beforehand need not be found by trying halves.
 */
#ifndef STACKTALLY_TRIGGER_UNPROBEABLE_H
#define STACKTALLY_TRIGGER_UNPROBEABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNPROBEABLE_BYTES 16 /* the longest instruction, rounded up */

/* Whether the instruction that these bytes begin with is one of them. */
bool unprobeable(const uint8_t *bytes, size_t size, bool is_64);

#endif
