/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording section by section: checks each header and checksum, and decodes the payload.
 * Numbers are checked against a bound given by the caller. The first failure is kept in `failed`;
 * from then on everything reads as 0, so that callers need to check only once per item.
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
	uint32_t version;	       /* of the format */
	uint64_t size;		       /* of the file */
	uint64_t next;		       /* offset of the next section */
	uint64_t payload_at;	       /* offset of the payload */
	unsigned char *payload;	       /* RECORDING_SECTION_MAX bytes, and as many for what is
					* inflated */
	const unsigned char *at, *end; /* what is left of the payload */
	enum recording_section section;
	int failed; /* 0 or a negative errno, then `err` is set */
};

/*
 * Checks the file and its header. 0 or a negative errno; reader_close() is due in both cases. The
 * descriptor remains the caller's; path and err must outlive the reader.
 */
int reader_open(struct reader *reader, int fd, const char *path, struct error *err);
void reader_close(struct reader *reader);

/* Reads the next section into `payload` and `section`. 0 or a negative errno. */
int reader_next(struct reader *reader);

/* True while some of the payload is left and nothing has failed. */
static inline bool reader_more(const struct reader *reader)
{
	return reader->at < reader->end;
}

/* Fails with `what` and the current offset, unless it has failed before. Returns `failed`. */
int reader_fail(struct reader *reader, int code, const char *what);

/* Numbers of any length; reader_number() inlines those of one byte. */
uint64_t reader_number_slowly(struct reader *reader);

static inline uint64_t reader_number(struct reader *reader)
{
	if (__builtin_expect(reader->at < reader->end && *reader->at < 0x80, 1))
		return *reader->at++;
	return reader_number_slowly(reader);
}

/* A number; fails with `what` and returns 0 if it is above `most`. */
static inline uint64_t reader_up_to(struct reader *reader, uint64_t most, const char *what)
{
	uint64_t value = reader_number(reader);

	if (__builtin_expect(value <= most, 1))
		return value;
	reader_fail(reader, -EBADMSG, what);
	return 0;
}

/* The next `size` bytes, in the payload; NULL after a failure. */
const unsigned char *reader_bytes(struct reader *reader, uint64_t size);

/* `n` numbers; fails with `what` unless all are below `limit`. */
void reader_ids(struct reader *reader, uint32_t *to, uint32_t n, uint32_t limit, const char *what);

#endif
