/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The searches of bpf/unwind_find.h over tables that a test wrote. The test defines
 * NATIVE_BLOCK(block) and NATIVE_PROCESS(tgid) first.
 */
#ifndef STACKTALLY_TESTS_UNWIND_NATIVE_H
#define STACKTALLY_TESTS_UNWIND_NATIVE_H

#define UNWIND_CONTEXT
#define UNWIND_PASS
#define UNWIND_INLINE		       static inline __attribute__((unused))
#define UNWIND_READ(to, size, address) ((void)(to), (void)(size), (void)(address), -1)
#define UNWIND_CODE(to, size, address) UNWIND_READ(to, size, address)
#define UNWIND_BLOCK(block)	       NATIVE_BLOCK(block)
#define UNWIND_RULE(number)	       ((const struct wire_rule *)((void)(number), (void *)0))
#define UNWIND_PROCESS(tgid)	       NATIVE_PROCESS(tgid)

#include "bpf/unwind_step.h"

#endif
