/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The intervals that wait to be sent, oldest first, in at most so many bytes: in memory, and with a
 * directory, what cannot be sent at once in files there, which a later run sends. When there is no
 * room, the oldest are dropped and counted.
 *
 * A file is called START.PROTOCOL, START being the interval's in ns, with 20 digits. While it is
 * being sent it is START.PROTOCOL.sent: whether the engine has one of that name, which a run that
 * was killed left, is not known, and it is dropped. For one thread.
 */
#ifndef STACKTALLY_PUSH_SPOOL_H
#define STACKTALLY_PUSH_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own.h"

#define SPOOL_MEMORY_MAX (16ull << 20) /* bytes without a directory */

struct spool;

struct spool_losses {
	uint64_t dropped; /* for lack of room */
	uint64_t dropped_bytes;
	uint64_t unanswered; /* left by another run that was sending it */
	uint64_t foreign;    /* files of other protocols, which stay where they are */
	int disk;	     /* why the last file could not be written, a negative errno; or 0 */
};

/*
 * `directory` is made if it is missing; NULL: memory only. It must be ours and is locked; `bytes`
 * is the bound of its files. `protocol` ends their names. 0 or a negative errno with `err` set.
 */
int spool_open(const char *directory, uint64_t bytes, const char *protocol,
	       struct spool **ret_spool, struct error *err);
/* What waits in memory only is gone. Files stay. */
void spool_close(struct spool *spool);
DEFINE_OWN(struct spool, spool_close)

/* Adds an interval, in memory. `body` is copied. 0 or a negative errno: it was dropped, uncounted.
 */
int spool_add(struct spool *spool, uint64_t start_ns, const void *body, size_t size);
/* Moves what is in memory to files, if there is a directory. */
void spool_store(struct spool *spool);

/*
 * The oldest: a descriptor, which stays the spool's, to read its `*ret_size` bytes from; -1: there
 * is none. Until spool_done() or spool_return() it cannot be dropped.
 */
int spool_take(struct spool *spool, uint64_t *ret_size);
/* The one that was taken was answered, or is given up: removes it. */
void spool_done(struct spool *spool);
/* It was not sent: it waits again. */
void spool_return(struct spool *spool);

uint32_t spool_n(const struct spool *spool);
uint64_t spool_bytes(const struct spool *spool);
/* What would be lost if it were closed now. */
uint32_t spool_n_in_memory(const struct spool *spool);
const struct spool_losses *spool_losses(const struct spool *spool);

#endif
