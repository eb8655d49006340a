/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, read: `COMM;root;...;leaf COUNT` a line, ours or another program's.
 *
 * What stands before the first semicolon is the comm if it is short enough to be one. `_[k]` at the
 * end of a frame, or a `-` or `--` before it, make it the kernel's, as do the words of our writer;
 * `_[i]` and `_[j]` are taken off as well. Empty lines and those that begin with `#` are passed
 * over.
 */
#ifndef STACKTALLY_IMPORT_FOLDED_READER_H
#define STACKTALLY_IMPORT_FOLDED_READER_H

#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"

/* Adds to both, which are empty. 0 or a negative errno, then with an error that names the line. */
int folded_read(const char *text, size_t size, struct tally *tally, struct names *names,
		struct error *err);

#endif
