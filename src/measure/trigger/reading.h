/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the file to be probed, which may be hostile, in a confined child that is made for one call.
 * It is a copy of this process: a request may hold pointers.
 */
#ifndef STACKTALLY_TRIGGER_READING_H
#define STACKTALLY_TRIGGER_READING_H

#include "base/error.h"
#include "base/pool.h"
#include "confined/confined.h"

struct reading {
	struct confined *confined;
	struct confined_child *child;
};

/* What comes first in each answer. */
struct reading_head {
	int32_t result; /* 0 or a negative errno */
	struct error err;
};

/*
 * Starts a call with a request of `size` bytes and the head of its answer. 0 or a negative errno
 * with `err` set. reading_end() is due in both cases.
 */
int reading_begin(confined_work *work, const void *request, size_t size, const int *fds,
		  uint32_t n_fds, struct reading *reading, struct error *err);

/* Reads the next bytes of the answer, or a string. 0 or a negative errno, without an error. */
int reading_bytes(struct reading *reading, void *bytes, size_t size);
int reading_string(struct reading *reading, struct pool *pool, const char **ret_string);

void reading_end(struct reading *reading);

/* The child's end. */
void reading_send_head(const struct confined_job *job, int result, const struct error *err);
void reading_send_string(const struct confined_job *job, const char *string);

#endif
