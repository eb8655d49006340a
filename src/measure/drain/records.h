/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who takes the records of each kind that come through the ring buffer. Must not know: what is in
 * them but their kind.
 */
#ifndef STACKTALLY_DRAIN_RECORDS_H
#define STACKTALLY_DRAIN_RECORDS_H

#include <stddef.h>

#include "bpf/wire.h"

struct record_taker {
	size_t least; /* bytes; shorter records are refused */
	/* The record may hold anything behind its kind. 0 or a negative errno. */
	int (*take)(void *context, const void *record, size_t size);
	void *context;
};

struct records {
	struct record_taker
		takers[WIRE_N_KINDS]; /* by kind; nobody takes a kind whose `take` is NULL */
};

/* What the taker returns; -EPROTO for a record that is too short, or whose kind nobody takes. */
int records_take(const struct records *records, const void *record, size_t size);

#endif
