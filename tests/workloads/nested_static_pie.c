// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -static-pie
#include "nested.c"
