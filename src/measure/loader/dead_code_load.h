/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has libbpf take dead code out of the programs of clocks and tracepoints that it loads
 * (loader/dead_code.h).
 */
#ifndef STACKTALLY_LOADER_DEAD_CODE_LOAD_H
#define STACKTALLY_LOADER_DEAD_CODE_LOAD_H

/*
 * Sets the handlers that do this for objects that this process opens from now on. libbpf has them
 * for the whole process, so they are set once and stay: with the last handler, libbpf 1.1 frees its
 * list of them, which it goes on using. What cannot be set is left to the kernel. Any thread may
 * call it.
 */
void dead_code_load_set(void);

#endif
