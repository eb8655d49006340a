/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often threads of each name were seen: what a filter by name left out, to name it to a user
 * whose filter left nothing.
 */
#ifndef STACKTALLY_TALLY_COMMS_H
#define STACKTALLY_TALLY_COMMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "tally/tally.h"

#define COMMS_MAX 4096 /* further names are not counted: processes choose them */

struct comm_count {
	char comm[TALLY_COMM_SIZE + 1];
	uint64_t count;
};

/* Zero-initialized; comms_clear() it. */
struct comms {
	struct comm_count *list;
	uint32_t n, capacity;
	struct index index;
};

/* 0 or -ENOMEM. */
int comms_add(struct comms *comms, const char comm[static TALLY_COMM_SIZE], uint64_t count);
void comms_clear(struct comms *comms);

/* The most frequent ones, "python3 (120), postgres (3)"; "" if there are none. */
void comms_describe(const struct comms *comms, char *buffer, size_t size);

#endif
