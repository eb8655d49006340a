/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that are made once and then only read, by any thread: a second's news is made once and
 * sent to all who watch. They go when their last user gives them back.
 */
#ifndef STACKTALLY_LIVE_BLOB_H
#define STACKTALLY_LIVE_BLOB_H

#include <stddef.h>

struct blob {
	unsigned int users; /* atomic */
	size_t size;
	char *bytes;
};

/* Takes over `bytes`, from malloc(); when there is no memory they are freed and NULL comes back. */
struct blob *blob_new(char *bytes, size_t size);
struct blob *blob_share(struct blob *blob);
/* Gives one use back. */
void blob_free(struct blob *blob);

#endif
