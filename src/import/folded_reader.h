/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads folded stacks, ours or another program's: lines of `COMM;root;...;leaf COUNT`.
 *
 * The text before the first semicolon is the comm if it has at most 15 bytes. Frames are the
 * kernel's if they end with `_[k]` or follow `-`, `--` or our mark for a missed stack. `_[k]`,
 * `_[i]` and `_[j]` are removed. Empty lines and lines that begin with `#` are skipped.
 */
#ifndef STACKTALLY_IMPORT_FOLDED_READER_H
#define STACKTALLY_IMPORT_FOLDED_READER_H

#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"

/*
 * Fills both, which are empty. 0, or a negative errno and an error that names the line; -ENOEXEC if
 * no line was a stack.
 */
int folded_read(const char *text, size_t size, struct tally *tally, struct names *names,
		struct error *err);

#endif
