// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/section_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/own.h"

static const uint32_t kinds[] = {
#define KIND_OF(name, kind) kind,
	RECORDING_KINDS(KIND_OF)
};

static void store32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static void put_out(struct section_writer *writer, const void *bytes, size_t size)
{
	if (!writer->failed && fwrite(bytes, 1, size, writer->out) != size)
		writer->failed = errno ? -errno : -EIO;
}

void section_writer_begin(struct section_writer *writer, FILE *out, uint32_t version)
{
	unsigned char header[RECORDING_HEADER_SIZE];

	*writer = (struct section_writer){ .out = out, .version = version };
	writer->payload = malloc(RECORDING_SECTION_MAX);
	if (!writer->payload)
		writer->failed = -ENOMEM;
	memcpy(header, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
	store32(header + RECORDING_MAGIC_SIZE, version);
	put_out(writer, header, sizeof(header));
}

void section_writer_end(struct section_writer *writer)
{
	free(writer->payload);
	writer->payload = NULL;
}

void section_put(struct section_writer *writer, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		writer->payload[writer->used++] = (unsigned char)(value | 0x80);
	writer->payload[writer->used++] = (unsigned char)value;
}

void section_put_bytes(struct section_writer *writer, const void *bytes, uint32_t size)
{
	memcpy(writer->payload + writer->used, bytes, size);
	writer->used += size;
}

void section_begin_item(struct section_writer *writer)
{
	if (writer->used >= RECORDING_SECTION_FULL)
		section_close(writer);
}

static void put_section(struct section_writer *writer)
{
	unsigned char header[RECORDING_SECTION_SIZE];
	uLong sum;

	store32(header, kinds[writer->section]);
	store32(header + 4, writer->used);
	sum = crc32(crc32(RECORDING_CHECKSUM_OF(writer->version), header, 8), writer->payload,
		    writer->used);
	store32(header + 8, (uint32_t)sum);
	put_out(writer, header, sizeof(header));
	put_out(writer, writer->payload, writer->used);
	writer->used = 0;
}

/* Replaces the payload by its size and its deflated bytes, or if these are not fewer by 0 and it.
 */
static void deflate_payload(struct section_writer *writer)
{
	own(own_free) unsigned char *plain = malloc((size_t)writer->used + 1);
	uLongf size = compressBound(writer->used), room = RECORDING_SECTION_MAX - 10;
	uint32_t used = writer->used;

	if (!plain || size > room) {
		writer->failed = plain ? -EFBIG : -ENOMEM;
		return;
	}
	memcpy(plain, writer->payload, used);
	writer->used = 0;
	section_put(writer, used);
	size = room;
	if (compress2(writer->payload + writer->used, &size, plain, used, 9) == Z_OK &&
	    size < used) {
		writer->used += (uint32_t)size;
		return;
	}
	writer->used = 0;
	section_put(writer, 0);
	section_put_bytes(writer, plain, used);
}

void section_close(struct section_writer *writer)
{
	if (writer->failed)
		return;
	if (RECORDING_IS_DEFLATED(writer->section))
		deflate_payload(writer);
	put_section(writer);
}
