/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of functions of interpreted programs (tally/scripts.h).
 */
#ifndef STACKTALLY_SYMBOLIZE_SCRIPT_FRAMES_H
#define STACKTALLY_SYMBOLIZE_SCRIPT_FRAMES_H

#include "tally/names.h"
#include "tally/scripts.h"
#include "tally/tally.h"

/*
 * Adds to `names` the frame of an address with TALLY_ADDRESS_SCRIPT: "function (file.py)", or
 * "[python: REASON]". `scripts` may be NULL. 0 or a negative errno.
 */
int script_frames_add(struct scripts *scripts, const struct tally_address *address,
		      struct names *names);

#endif
