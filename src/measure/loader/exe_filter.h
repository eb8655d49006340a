/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --exe: the processes that execute a file. Those that run are found in /proc; later ones are found
 * by the BPF program at their exec, by the file or by its path.
 */
#ifndef STACKTALLY_LOADER_EXE_FILTER_H
#define STACKTALLY_LOADER_EXE_FILTER_H

#include "base/error.h"

struct stacktally;

/*
 * Fills the maps once the programs that follow exec are attached. A name without a slash is looked
 * for in PATH. 0, or a negative errno with `err` set: -ENOENT where there is no such file.
 */
int exe_filter_fill(const char *exe, struct stacktally *skeleton, struct error *err);

/* Looks whether the file was replaced, about once a second. */
void exe_filter_tick(const char *exe, struct stacktally *skeleton);

#endif
