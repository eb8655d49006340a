// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const uint32_t kinds[] = {
#define KIND_OF(name, kind) kind,
	RECORDING_KINDS(KIND_OF)
};

static int fail_at(struct reader *reader, int code, const char *what, uint64_t offset)
{
	if (!reader->failed)
		reader->failed = error_set(reader->err, code, "%s: %s at offset %" PRIu64,
					   reader->path, what, offset);
	reader->at = reader->end;
	return reader->failed;
}

int reader_fail(struct reader *reader, int code, const char *what)
{
	return fail_at(reader, code, what,
		       reader->payload_at + (uint64_t)(reader->at - reader->payload));
}

static uint32_t load32(const unsigned char *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Reads `size` bytes. The file may have shrunk since its size was read. */
static int read_at(struct reader *reader, uint64_t offset, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n =
			pread(reader->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_at(reader, -errno, strerror(errno), offset + done);
		if (n == 0)
			return fail_at(reader, -EBADMSG, "truncated", offset + done);
		done += (size_t)n;
	}
	return 0;
}

static int not_a_recording(struct reader *reader)
{
	reader->failed =
		error_set(reader->err, -EBADMSG, "%s is not a stacktally recording", reader->path);
	return reader->failed;
}

static int check_header(struct reader *reader)
{
	unsigned char header[RECORDING_HEADER_SIZE];
	size_t size = reader->size < sizeof(header) ? reader->size : sizeof(header);
	int r = read_at(reader, 0, header, size);

	if (r < 0)
		return r;
	for (size_t i = 0; i < size && i < RECORDING_MAGIC_SIZE; i++)
		if (header[i] != (unsigned char)RECORDING_MAGIC[i])
			return not_a_recording(reader);
	if (size < sizeof(header))
		return fail_at(reader, -EBADMSG, "truncated", size);
	reader->version = load32(header + RECORDING_MAGIC_SIZE);
	if (reader->version < RECORDING_OLDEST || reader->version > RECORDING_NEWEST)
		return fail_at(reader, -EPROTONOSUPPORT,
			       "a format version that this program cannot read",
			       RECORDING_MAGIC_SIZE);
	reader->next = sizeof(header);
	return 0;
}

int reader_open(struct reader *reader, int fd, const char *path, struct error *err)
{
	struct stat st;

	*reader = (struct reader){ .fd = fd, .path = path, .err = err };
	if (fstat(fd, &st) < 0)
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL,
				 "%s is not a regular file: copy the recording to one", path);
	if ((uint64_t)st.st_size > RECORDING_FILE_MAX)
		return error_set(err, -EFBIG, "%s is too large for a recording", path);
	reader->size = (uint64_t)st.st_size;
	reader->payload = malloc(2 * (size_t)RECORDING_SECTION_MAX);
	if (!reader->payload)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	reader->at = reader->end = reader->payload;
	return check_header(reader);
}

void reader_close(struct reader *reader)
{
	free(reader->payload);
	reader->payload = NULL;
}

static int kind_of(uint32_t kind)
{
	for (int i = 0; i < RECORDING_N_SECTIONS; i++)
		if (kinds[i] == kind)
			return i;
	return -1;
}

/* Errors are then at the offset at which an item would be, if the payload were not deflated. */
static int inflate_payload(struct reader *reader)
{
	uint64_t size = reader_up_to(reader, RECORDING_SECTION_MAX, "section too large");
	unsigned char *items = reader->payload + RECORDING_SECTION_MAX;
	uLongf inflated = size;

	if (reader->failed || size == 0)
		return reader->failed;
	if (uncompress(items, &inflated, reader->at, (uLong)(reader->end - reader->at)) != Z_OK ||
	    inflated != size)
		return reader_fail(reader, -EBADMSG, "section that cannot be inflated");
	reader->payload_at -= RECORDING_SECTION_MAX;
	reader->at = items;
	reader->end = items + size;
	return 0;
}

int reader_next(struct reader *reader)
{
	unsigned char header[RECORDING_SECTION_SIZE];
	uint64_t left = reader->size - reader->next, from = reader->next;
	uint32_t size;
	uLong sum;
	int section;

	if (reader->failed)
		return reader->failed;
	if (left < sizeof(header))
		return fail_at(reader, -EBADMSG, "truncated", reader->size);
	if (read_at(reader, from, header, sizeof(header)) < 0)
		return reader->failed;
	section = kind_of(load32(header));
	size = load32(header + 4);
	if (section < 0)
		return fail_at(reader, -EBADMSG, "unknown section", from);
	if (size > RECORDING_SECTION_MAX)
		return fail_at(reader, -EBADMSG, "section too large", from + 4);
	if (size > left - sizeof(header))
		return fail_at(reader, -EBADMSG, "truncated", reader->size);
	if (read_at(reader, from + sizeof(header), reader->payload, size) < 0)
		return reader->failed;
	sum = crc32(RECORDING_CHECKSUM_OF(reader->version), header, 8);
	if (crc32(sum, reader->payload, size) != load32(header + 8))
		return fail_at(reader, -EBADMSG, "wrong checksum of the section", from);
	if ((enum recording_section)section < reader->section)
		return fail_at(reader, -EBADMSG, "section out of order", from);
	reader->section = (enum recording_section)section;
	reader->payload_at = from + sizeof(header);
	reader->next = reader->payload_at + size;
	reader->at = reader->payload;
	reader->end = reader->payload + size;
	return RECORDING_IS_DEFLATED(reader->section) ? inflate_payload(reader) : 0;
}

uint64_t reader_number_slowly(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; reader->at < reader->end; shift += 7) {
		uint64_t bits = *reader->at & 0x7f;

		if (shift > 63 || (shift == 63 && bits > 1)) {
			reader_fail(reader, -EBADMSG, "number too large");
			return 0;
		}
		value |= bits << shift;
		if (*reader->at++ < 0x80)
			return value;
	}
	reader_fail(reader, -EBADMSG, "section ends within a number");
	return 0;
}

const unsigned char *reader_bytes(struct reader *reader, uint64_t size)
{
	const unsigned char *bytes = reader->at;

	if (size > (uint64_t)(reader->end - reader->at)) {
		reader_fail(reader, -EBADMSG, "section ends within a string");
		return NULL;
	}
	reader->at += size;
	return bytes;
}

void reader_ids(struct reader *reader, uint32_t *to, uint32_t n, uint32_t limit, const char *what)
{
	const unsigned char *at = reader->at, *end = reader->end;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t id;

		/* The fast paths: one to three bytes, not at the end of the section. */
		if (end - at >= 3 && at[0] < 0x80) {
			id = at[0];
			at += 1;
		} else if (end - at >= 3 && at[1] < 0x80) {
			id = (at[0] & 0x7fu) | (uint32_t)at[1] << 7;
			at += 2;
		} else if (end - at >= 3 && at[2] < 0x80) {
			id = (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint32_t)at[2] << 14;
			at += 3;
		} else {
			reader->at = at;
			id = reader_number(reader);
			at = reader->at;
		}
		if (id >= limit) {
			reader->at = at;
			reader_fail(reader, -EBADMSG, what);
			id = 0;
			at = end;
		}
		to[i] = (uint32_t)id;
	}
	reader->at = at;
}
