// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/gzip.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, and a gzip header */

void gzip_start(struct gzip *gzip, FILE *out)
{
	memset(&gzip->stream, 0, sizeof(gzip->stream));
	gzip->out = out;
	gzip->failed = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
				    8, Z_DEFAULT_STRATEGY) == Z_OK
			       ? 0
			       : -ENOMEM;
}

/* Until all input is consumed, or with Z_FINISH all output written. */
static void deflate_all(struct gzip *gzip, int flush)
{
	size_t n;

	do {
		gzip->stream.next_out = gzip->chunk;
		gzip->stream.avail_out = sizeof(gzip->chunk);
		deflate(&gzip->stream, flush);
		n = sizeof(gzip->chunk) - gzip->stream.avail_out;
		if (n > 0 && fwrite(gzip->chunk, 1, n, gzip->out) != n)
			gzip->failed = -EIO;
	} while (!gzip->failed && gzip->stream.avail_out == 0);
}

void gzip_put(struct gzip *gzip, const void *from, size_t size)
{
	const unsigned char *at = from;

	while (!gzip->failed && size > 0) {
		uInt n = size < UINT_MAX ? (uInt)size : UINT_MAX;

		gzip->stream.next_in = (Bytef *)at;
		gzip->stream.avail_in = n;
		deflate_all(gzip, Z_NO_FLUSH);
		at += n;
		size -= n;
	}
}

int gzip_end(struct gzip *gzip)
{
	if (!gzip->failed)
		deflate_all(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	return gzip->failed;
}
