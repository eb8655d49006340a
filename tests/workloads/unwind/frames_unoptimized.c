// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O0 -fno-omit-frame-pointer
#include "frames.c"
