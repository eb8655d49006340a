// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "import/folded_reader.h"
#include "import/pprof_reader.h"

DEFINE_OWN(struct baseline, baseline_free)

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, and a gzip header */

void baseline_free(struct baseline *base)
{
	if (!base)
		return;
	tally_free(base->tally);
	names_free(base->names);
	free(base);
}

/* Unpacks the first gzip member. */
static int inflate_into(z_stream *stream, unsigned char **bytes, size_t *ret_size)
{
	size_t room = 0, used = 0;
	int status = Z_OK;

	while (status == Z_OK) {
		int r = used < BASELINE_UNPACKED_MAX ? grow(bytes, &room, used + 65536) : -E2BIG;

		if (r < 0)
			return r;
		stream->next_out = *bytes + used;
		stream->avail_out = (uInt)(room - used);
		status = inflate(stream, Z_NO_FLUSH);
		used = room - stream->avail_out;
	}
	if (status != Z_STREAM_END)
		return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	*ret_size = used;
	return 0;
}

static int unpack(const char *packed, size_t size, unsigned char **ret_bytes, size_t *ret_size,
		  struct error *err)
{
	own(own_free) unsigned char *bytes = NULL;
	z_stream stream = { .next_in = (Bytef *)packed, .avail_in = (uInt)size };
	int r;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return error_set(err, -ENOMEM, "out of memory");
	r = inflate_into(&stream, &bytes, ret_size);
	inflateEnd(&stream);
	if (r == -E2BIG)
		return error_set(err, r, "more than %zu MiB when unpacked",
				 BASELINE_UNPACKED_MAX >> 20);
	if (r < 0)
		return error_set(err, r, r == -ENOMEM ? "out of memory" : "not whole gzip");
	*ret_bytes = take_ptr(bytes);
	return 0;
}

/* A message has control characters in its first bytes; text has only tabs and line ends. */
static bool is_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < 512; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r')
			return false;
	}
	return true;
}

static int fill(const char *bytes, size_t size, struct baseline *base, struct error *err)
{
	own(own_free) unsigned char *unpacked = NULL;
	size_t unpacked_size = 0;
	int r;

	if (size >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b) {
		r = unpack(bytes, size, &unpacked, &unpacked_size, err);
		if (r < 0)
			return r;
		bytes = (const char *)unpacked;
		size = unpacked_size;
	}
	if (is_text(bytes, size))
		return folded_read(bytes, size, base->tally, base->names, err);
	return pprof_read(bytes, size, &base->meta, base->tally, base->names, err);
}

int baseline_read(const char *bytes, size_t size, struct baseline **ret_base, struct error *err)
{
	own(own_baseline_free) struct baseline *base = calloc(1, sizeof(*base));
	int r;

	if (size > BASELINE_FILE_MAX)
		return error_set(err, -E2BIG, "larger than %zu MiB", BASELINE_FILE_MAX >> 20);
	if (!base || tally_new(0, 0, &base->tally) < 0 || names_new(&base->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = fill(bytes, size, base, err);
	if (r < 0)
		return r;
	base->meta.user = base->meta.kernel = true;
	profile_find_details(base->tally, base->names, &base->meta.has);
	*ret_base = take_ptr(base);
	return 0;
}

static int read_whole(int fd, size_t size, char *bytes)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = pread(fd, bytes + used, size - used, (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG; /* the file was truncated */
		used += (size_t)n;
	}
	return 0;
}

int baseline_load(int fd, const char *path, struct baseline **ret_base, struct error *err)
{
	own(own_free) char *bytes = NULL;
	struct error why = { 0 };
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return error_set(err, -EINVAL, "cannot read %s: not a regular file", path);
	if (status.st_size == 0)
		return error_set(err, -ENODATA, "cannot read %s: it is empty", path);
	if (status.st_size > (off_t)BASELINE_FILE_MAX)
		return error_set(err, -E2BIG, "cannot read %s: larger than %zu MiB", path,
				 BASELINE_FILE_MAX >> 20);
	bytes = malloc((size_t)status.st_size + 1);
	r = bytes ? read_whole(fd, (size_t)status.st_size, bytes) : -ENOMEM;
	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", path, strerror(-r));
	r = baseline_read(bytes, (size_t)status.st_size, ret_base, &why);
	if (r == -ENOEXEC)
		return error_set(err, r,
				 "%s is not a stacktally recording, folded stacks or a pprof file",
				 path);
	return r < 0 ? error_set(err, r, "%s: %s", path, why.text) : 0;
}
