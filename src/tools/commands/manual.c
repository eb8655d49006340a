// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The prose of the man pages: files in manual/, in man(7) macros. cli/man.c puts the parts it
 * generates from the table of options between them.
 */
#include "commands/profile_options.h"
#include "commands/stackcount_options.h"

/* Paths are relative to the top directory, where make runs; the Makefile has the dependency. */
#define MANUAL_TEXT(name)                                                                          \
	extern const char manual_##name[];                                                         \
	__asm__(".pushsection .rodata\nmanual_" #name                                              \
		":\n\t.incbin \"src/tools/commands/manual/" #name                                  \
		".roff\"\n\t.byte 0\n\t.popsection\n")

MANUAL_TEXT(profile_description);
MANUAL_TEXT(profile_output);
MANUAL_TEXT(profile_overhead);
MANUAL_TEXT(stackcount_description);
MANUAL_TEXT(stackcount_output);
MANUAL_TEXT(stackcount_overhead);
MANUAL_TEXT(shared_environment);
MANUAL_TEXT(shared_exit_status);
MANUAL_TEXT(shared_privileges);
MANUAL_TEXT(shared_recordings);

const struct manual_section profile_manual[] = {
	{ "DESCRIPTION", manual_profile_description }, { "OUTPUT", manual_profile_output },
	{ "RECORDINGS", manual_shared_recordings },    { "ENVIRONMENT", manual_shared_environment },
	{ "EXIT STATUS", manual_shared_exit_status },  { "PRIVILEGES", manual_shared_privileges },
	{ "OVERHEAD", manual_profile_overhead },       { 0 },
};

const struct manual_section stackcount_manual[] = {
	{ "DESCRIPTION", manual_stackcount_description },
	{ "OUTPUT", manual_stackcount_output },
	{ "RECORDINGS", manual_shared_recordings },
	{ "ENVIRONMENT", manual_shared_environment },
	{ "EXIT STATUS", manual_shared_exit_status },
	{ "PRIVILEGES", manual_shared_privileges },
	{ "OVERHEAD", manual_stackcount_overhead },
	{ 0 },
};
