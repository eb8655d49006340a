/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of profile: its table of options and the struct that receives their values.
 * options_clear() frees the lists; strings point into argv.
 */
#ifndef STACKTALLY_COMMANDS_PROFILE_OPTIONS_H
#define STACKTALLY_COMMANDS_PROFILE_OPTIONS_H

#include "commands/shared_options.h"

struct profile_options {
	struct shared_options shared;
	uint64_t frequency; /* Hz; 0: not given: 49 unless there is a period */
	uint64_t period;    /* -c; 0: not given */
	bool include_idle;
	bool off_cpu, wall, wakers, dump;
	int64_t state;				  /* -1: not given */
	uint64_t min_block, max_block;		  /* us; 0: not given */
	uint64_t budget;			  /* %; 0: not given */
	const char *cgroupmap, *mntnsmap, *event; /* NULL: not given */
};

/* What options_parse() starts from. */
#define PROFILE_OPTIONS_DEFAULT                                                                    \
	{                                                                                          \
		.shared = SHARED_OPTIONS_DEFAULT, .state = -1                                      \
	}

extern const struct command_line profile_command_line;
extern const struct manual_section profile_manual[]; /* manual.c */

#endif
