// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fcf-protection=none -mindirect-branch=thunk
// -mfunction-return=keep
#include "frames.c"
