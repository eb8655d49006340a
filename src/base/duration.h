/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A duration for readers: "1.235 s", "56.7 ms".
 */
#ifndef STACKTALLY_BASE_DURATION_H
#define STACKTALLY_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_SIZE 40

/* Writes four digits, or all of a longer number of seconds, and the unit. Returns `text`. */
const char *duration_text(uint64_t ns, char *text, size_t size);

#endif
