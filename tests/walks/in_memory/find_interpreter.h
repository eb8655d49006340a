/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interpreter that a live process has mapped, as the commands read it; and its threads. */
#ifndef STACKTALLY_TESTS_WALKS_FIND_INTERPRETER_H
#define STACKTALLY_TESTS_WALKS_FIND_INTERPRETER_H

#include <sys/types.h>

#include "interpreters/languages.h"
#include "tests/walks/in_memory/interpreter.h"

/*
 * Sets `is` and `bias` by the first mapping of a file that contains the interpreter; `root`: the
 * file system that the process sees. 0 or -1.
 */
int find_interpreter(pid_t pid, const char *root, const struct language_reader *reader,
		     struct interpreter_start *ret_start);

/* The first thread of a name. Negative: there is none. */
pid_t find_thread(pid_t pid, const char *name);

#endif
