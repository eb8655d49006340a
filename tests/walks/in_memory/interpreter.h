/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs' walk of an interpreter's frames (languages/), compiled for user space: it reads
 * memory through a callback, which may be that of a live process or of a recording.
 *
 * A recording (tests/walks/record) is where the walk begins, then for each read its address and
 * size, 8 bytes each, and the bytes. Not for several threads.
 */
#ifndef STACKTALLY_TESTS_WALKS_INTERPRETER_H
#define STACKTALLY_TESTS_WALKS_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/interpreter_wire.h"
#include "bpf/unwind_wire.h"

/* Where a walk begins. */
struct interpreter_start {
	struct wire_interpreter is;
	uint64_t bias;				  /* of the interpreter's file in the process */
	uint64_t thread;			  /* the base of the segment register fs */
	uint64_t pc, registers[WIRE_N_REGISTERS]; /* by DWARF number */
	struct wire_java_process machine;	  /* of Java: an instruction of its code is next */
};

/* With the sizes of structures, which may grow. 0 when it was read. */
void interpreter_start_write(const struct interpreter_start *start, FILE *file);
int interpreter_start_read(FILE *file, struct interpreter_start *ret_start);

struct interpreter_memory {
	int (*read)(void *data, void *to, size_t size, uint64_t address); /* 0: it was read */
	void *data;
};

/*
 * Writes a line for each run of functions, from the innermost on: "name (file);name (file)", leaf
 * first, or the number of the reason why they are not known in brackets. Returns how many there
 * are. A run of Java or JavaScript is what generated code runs, from the innermost function to the
 * last one before native code.
 */
uint32_t interpreter_runs(const struct interpreter_start *start,
			  const struct interpreter_memory *memory, char *text, size_t size);

#endif
