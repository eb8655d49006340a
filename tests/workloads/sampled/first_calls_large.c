// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* first_calls with larger frames: the same addresses, and other rules for them. */
#define FRAME 120
#include "first_calls.c"
