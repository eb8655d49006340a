/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs' walk of HotSpot's generated code, compiled for user space. Caches of the walk
 * are kept from one call to the next, as on a CPU. Not for several threads. Its code is in
 * interpreter.c: the BPF programs' variables exist once.
 */
#ifndef STACKTALLY_TESTS_WALKS_JAVA_H
#define STACKTALLY_TESTS_WALKS_JAVA_H

#include <stdbool.h>

#include "tests/walks/in_memory/interpreter.h"

struct java_caller {
	uint64_t pc, sp, fp;
	bool has_fp; /* it is known */
};

/*
 * The callers, from that of the interrupted instruction on, until one is not in generated code, or
 * `most` are found. `*ret_reason`: enum wire_script_reason, why there is no further one;
 * WIRE_SCRIPT_KNOWN: it was not looked for.
 */
uint32_t java_callers(const struct interpreter_start *start,
		      const struct interpreter_memory *memory, struct java_caller *ret_callers,
		      uint32_t most, uint32_t *ret_reason);

/* What is at an address of the code cache. */
struct java_code {
	uint32_t kind;	     /* enum java_kind */
	uint64_t begin, end; /* of its code */
	uint64_t entry;	     /* of a compiled method, as the walk sees it */
	char name[64];
};

void java_code_at(const struct interpreter_start *start, const struct interpreter_memory *memory,
		  uint64_t address, struct java_code *ret_code);

#endif
