/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the sections of a recording, one at a time: checks the frame that each stands in and
 * takes its payload apart. Every number comes with a bound. The first thing that is wrong is kept,
 * with its offset; from then on everything reads as 0, so that a caller may look once an item.
 */
#ifndef STACKTALLY_RECORDING_READER_H
#define STACKTALLY_RECORDING_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "recording/format.h"

struct reader {
	int fd;
	const char *path;
	struct error *err;
	uint64_t size;		/* of the file */
	uint64_t next;		/* offset of the next section */
	uint64_t payload_at;	/* offset of the payload */
	unsigned char *payload; /* RECORDING_SECTION_MAX bytes */
	const unsigned char *at, *end;
	enum recording_section section;
	int failed; /* negative errno */
};

/* Checks the file and its header; the descriptor stays the caller's. reader_close() is due. */
int reader_open(struct reader *reader, int fd, const char *path, struct error *err);
void reader_close(struct reader *reader);

/* Reads the next section, of whatever kind. 0 or a negative errno. */
int reader_next(struct reader *reader);

/* Whether something is left of the payload, and nothing went wrong. */
static inline bool reader_more(const struct reader *reader)
{
	return reader->at < reader->end;
}

/* Says what is wrong at the point read so far. Returns the code. */
int reader_fail(struct reader *reader, int code, const char *what);

uint64_t reader_number_slowly(struct reader *reader);

static inline uint64_t reader_number(struct reader *reader)
{
	if (__builtin_expect(reader->at < reader->end && *reader->at < 0x80, 1))
		return *reader->at++;
	return reader_number_slowly(reader);
}

/* A number of at most `most`. */
static inline uint64_t reader_up_to(struct reader *reader, uint64_t most, const char *what)
{
	uint64_t value = reader_number(reader);

	if (__builtin_expect(value <= most, 1))
		return value;
	reader_fail(reader, -EBADMSG, what);
	return 0;
}

/* `size` bytes of the payload, or NULL. */
const unsigned char *reader_bytes(struct reader *reader, uint64_t size);

/* `n` numbers below `limit`. */
void reader_ids(struct reader *reader, uint32_t *to, uint32_t n, uint32_t limit, const char *what);

#endif
