/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has libbpf take dead code out of the programs that it loads (loader/dead_code.h). */
#ifndef STACKTALLY_LOADER_DEAD_CODE_LOAD_H
#define STACKTALLY_LOADER_DEAD_CODE_LOAD_H

#define DEAD_CODE_SECTIONS 5

/* libbpf's handlers of the kinds of programs; 0: there is none. */
struct dead_code_handlers {
	int of[DEAD_CODE_SECTIONS];
};

/*
 * Sets handlers, which libbpf has for the whole process: before objects are opened that are to be
 * loaded so. What cannot be set is left to the kernel.
 */
void dead_code_set(struct dead_code_handlers *ret_handlers);

/* After those objects are closed. */
void dead_code_unset(struct dead_code_handlers *handlers);

#endif
