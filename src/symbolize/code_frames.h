/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of functions of interpreted programs (tally/codes.h).
 */
#ifndef STACKTALLY_SYMBOLIZE_CODE_FRAMES_H
#define STACKTALLY_SYMBOLIZE_CODE_FRAMES_H

#include "tally/codes.h"
#include "tally/names.h"
#include "tally/tally.h"

/*
 * Adds to `names` the frame of an address with TALLY_ADDRESS_CODE: "function (file.py)", or
 * "[python: REASON]". `codes` may be NULL. 0 or a negative errno.
 */
int code_frames_add(struct codes *codes, const struct tally_address *address, struct names *names);

#endif
