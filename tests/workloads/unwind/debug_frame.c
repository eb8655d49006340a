// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -g
/* The CFI of this program's own code is in .debug_frame only. */
#include "frames.c"
