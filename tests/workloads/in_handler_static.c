// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -static
#include "in_handler.c"
