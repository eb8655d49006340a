// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* first_calls with a million rows of call frame information, which take a while to compile. */
#include "first_calls.c"

__asm__(".text\n"
	".type padding, @function\n"
	"padding:\n"
	".cfi_startproc\n"
	".rept 500000\n"
	"nop\n"
	".cfi_def_cfa_offset 16\n"
	"nop\n"
	".cfi_def_cfa_offset 8\n"
	".endr\n"
	"ret\n"
	".cfi_endproc\n"
	".size padding, . - padding\n");
