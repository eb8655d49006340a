// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -g
/* Its own code is described by .debug_frame only. */
#include "frames.c"
