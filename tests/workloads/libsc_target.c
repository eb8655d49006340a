// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that the dynamic linker's cache does not know: sc_calls opens it by its path. */
static volatile unsigned long sink;

void sc_library_call(void);

__attribute__((noipa)) void sc_library_call(void)
{
	sink++;
}
