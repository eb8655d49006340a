/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a frame of a kernel stack does, told by how the name of its function begins. Answers are
 * cached: the same few functions are in most stacks.
 */
#ifndef STACKTALLY_KERNEL_FRAME_KINDS_H
#define STACKTALLY_KERNEL_FRAME_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kallsyms.h"

struct frame_kind {
	const char *prefix;
	uint8_t kind; /* not 0 */
};

#define FRAME_KINDS_CACHE 256

/* Zero but for the first four. */
struct frame_kinds {
	/* As kallsyms_find(); `context` and the list are borrowed. */
	bool (*find)(void *context, uint64_t address, struct kernel_symbol *ret_symbol);
	void *context;
	const struct frame_kind *list;
	size_t n;
	struct {
		uint64_t address;
		uint8_t kind;
	} cache[FRAME_KINDS_CACHE];
};

/* The kind of the function that a return address is in; 0: none of the list. */
uint8_t frame_kinds_of(struct frame_kinds *kinds, uint64_t return_address);

#endif
