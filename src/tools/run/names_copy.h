/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copying of names into others that get some of their frames under another name.
 */
#ifndef STACKTALLY_RUN_NAMES_COPY_H
#define STACKTALLY_RUN_NAMES_COPY_H

#include <stdbool.h>

#include "tally/names.h"

/*
 * The string, which may be NULL, as one of `names`. Sets *failed, and returns NULL, where there is
 * no memory for it.
 */
const char *names_copy_string(struct names *names, const char *string, bool *failed);

/* Copies the objects and cgroups; `names` has no objects yet. 0 or -ENOMEM. */
int names_copy_objects(const struct names *from, struct names *names);

#endif
