// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -fno-pie -no-pie
#include "nested.c"
