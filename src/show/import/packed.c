// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/own.h"

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, and a gzip header */
#define STEP	    65536

struct unpacking {
	z_stream stream;
	char *bytes;
	size_t used, capacity, most;
};

bool packed_is_gzip(const char *bytes, size_t size)
{
	return size >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* Unpacks one member. */
static int inflate_member(struct unpacking *unpacking)
{
	z_stream *stream = &unpacking->stream;
	int status = Z_OK;

	while (status == Z_OK) {
		int r = unpacking->used < unpacking->most
				? grow(&unpacking->bytes, &unpacking->capacity,
				       unpacking->used + STEP)
				: -E2BIG;

		if (r < 0)
			return r;
		stream->next_out = (Bytef *)unpacking->bytes + unpacking->used;
		stream->avail_out = (uInt)(unpacking->capacity - unpacking->used);
		status = inflate(stream, Z_NO_FLUSH);
		unpacking->used = unpacking->capacity - stream->avail_out;
	}
	if (status != Z_STREAM_END)
		return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	return 0;
}

/* Tapes and disks fill the end of a file with zeros. */
static bool only_zeros_follow(const z_stream *stream)
{
	for (uInt i = 0; i < stream->avail_in; i++)
		if (stream->next_in[i])
			return false;
	return true;
}

static int inflate_all(struct unpacking *unpacking)
{
	int r;

	do {
		r = inflate_member(unpacking);
		if (r == 0 && inflateReset(&unpacking->stream) != Z_OK)
			r = -EBADMSG;
	} while (r == 0 && !only_zeros_follow(&unpacking->stream));
	return r;
}

int packed_unpack(const char *packed, size_t size, size_t most, char **ret_bytes, size_t *ret_size,
		  struct error *err)
{
	struct unpacking unpacking = {
		.stream = { .next_in = (Bytef *)packed, .avail_in = (uInt)size },
		.most = most,
	};
	int r;

	if (inflateInit2(&unpacking.stream, GZIP_WINDOW) != Z_OK)
		return error_set(err, -ENOMEM, "out of memory");
	r = inflate_all(&unpacking);
	inflateEnd(&unpacking.stream);
	if (r == 0 && unpacking.used > most) /* the buffer grows in larger steps */
		r = -E2BIG;
	if (r == 0) {
		*ret_bytes = unpacking.bytes;
		*ret_size = unpacking.used;
		return 0;
	}
	free(unpacking.bytes);
	if (r == -E2BIG)
		return error_set(err, r, "more than %zu MiB when unpacked", most >> 20);
	return error_set(err, r, r == -ENOMEM ? "out of memory" : "not whole gzip");
}
