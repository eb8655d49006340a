/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without a symbol in a comparison (--diff) of two builds: [FILE+0xSTART] is another
 * function in another build, so equal names are not compared there.
 */
#ifndef STACKTALLY_RUN_REBUILT_H
#define STACKTALLY_RUN_REBUILT_H

#include "tally/names.h"

#define REBUILT_LINE 300

/*
 * A copy of the names of the base, in which the functions without a symbol of files that have
 * another build-id now, or none, have names of their own; NULL if there is no such file. `files`
 * gets the names of these files, as many as fit. 0 or -ENOMEM.
 */
int rebuilt_make(const struct names *now, const struct names *base, char files[REBUILT_LINE],
		 struct names **ret_names);

#endif
