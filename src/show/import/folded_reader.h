/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads folded stacks, ours or another program's: lines of `COMM;root;...;leaf COUNT`, with or
 * without a comm (import/folded_form.h).
 *
 * Frames are the kernel's if they end with `_[k]` or follow our mark for a missed stack or, where
 * the form says so, `-`. The annotations `_[k]`, `_[i]`, `_[j]`, `_[0]` and `_[1]` are removed.
 * Stacks deeper than TALLY_MAX_FRAMES lose their root and are marked as cut. Empty lines and
 * comments are skipped.
 */
#ifndef STACKTALLY_IMPORT_FOLDED_READER_H
#define STACKTALLY_IMPORT_FOLDED_READER_H

#include <stddef.h>

#include "base/error.h"
#include "import/folded_form.h"
#include "tally/names.h"
#include "tally/tally.h"

/* Which of the two counts of a difference is read; other files have one. */
enum folded_column { FOLDED_COUNT, FOLDED_BASE };

/*
 * Fills both, which are empty. 0, or a negative errno and an error that names the line: -EBADMSG
 * for one that is not a stack with a whole number, and where the sum exceeds INT64_MAX, which
 * other formats cannot have.
 */
int folded_read(const char *text, size_t size, const struct folded_form *form,
		enum folded_column column, struct tally *tally, struct names *names,
		struct error *err);

#endif
