// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -static
#include "sc_leaks.c"
