/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of interpreted programs as they come through the ring buffer.
 */
#ifndef STACKTALLY_DRAIN_SCRIPT_NAMES_H
#define STACKTALLY_DRAIN_SCRIPT_NAMES_H

#include <stddef.h>

#include "tally/scripts.h"

/*
 * Takes a struct wire_script_name, which may hold anything: characters that are none become U+FFFD.
 * 0, -EPROTO for wrong sizes, or -ENOMEM.
 */
int script_names_take(struct scripts *scripts, const void *record, size_t size);

#endif
