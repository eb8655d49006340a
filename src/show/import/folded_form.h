/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lines of a folded file mean, decided once for the whole file, as no line alone says it:
 *
 * - Whether the first piece is the name of a thread, as programs that fold perf's output and bcc's
 *   tools write it, or the outermost function, as async-profiler, py-spy, rbspy and those that fold
 *   the stacks of DTrace, gdb, Go or V8 do. Each line may be evidence: a function at which stacks
 *   begin in the second place makes the first a thread; such a function in the first place, or what
 *   only functions are called, makes it a function, and so does a name longer than a thread's. If
 *   neither prevails, it is a function, which then is seen at least.
 * - Whether ids follow each thread's name.
 * - Whether `-` stands between user and kernel functions, as with bcc's -d, or is a function.
 * - Whether lines have one count or, as a difference, two.
 */
#ifndef STACKTALLY_IMPORT_FOLDED_FORM_H
#define STACKTALLY_IMPORT_FOLDED_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum folded_ids_form { FOLDED_NO_IDS, FOLDED_PIDS, FOLDED_PIDS_AND_TIDS };

struct folded_form {
	bool comm; /* the first piece is a thread's name */
	enum folded_ids_form ids;
	bool delimited;	 /* the first `-` or `--` of a line is not a function */
	bool difference; /* two counts: of the base, then of what is compared with it */
};

/*
 * 0; -ENOEXEC if the first line is no stack with a number; -EBADMSG and an error if some lines have
 * two counts and others one.
 */
int folded_form_of(const char *text, size_t size, struct folded_form *ret_form, struct error *err);

#endif
