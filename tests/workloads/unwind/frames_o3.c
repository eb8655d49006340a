// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O3 -fomit-frame-pointer -fno-plt -fstack-protector-all -fstack-clash-protection
#include "frames.c"
