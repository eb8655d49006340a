// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/debug_data.h"

#include <errno.h>
#include <lzma.h>

#define MAX_COMPRESSED (32u << 20)  /* bytes */
#define MEMORY_LIMIT   (128u << 20) /* bytes for the decoder; xz -9 asks for 65 MB */

static int decompress(lzma_stream *stream, uint8_t **bytes, size_t *ret_size)
{
	size_t capacity = 64u << 10;

	for (;;) {
		uint8_t *grown = realloc(*bytes, capacity);
		lzma_ret r;

		if (!grown)
			return -ENOMEM;
		*bytes = grown;
		stream->next_out = grown + stream->total_out;
		stream->avail_out = capacity - (size_t)stream->total_out;
		r = lzma_code(stream, LZMA_FINISH);
		if (r == LZMA_STREAM_END) {
			*ret_size = (size_t)stream->total_out;
			return 0;
		}
		if (r != LZMA_OK || stream->avail_out > 0)
			return r == LZMA_MEM_ERROR ? -ENOMEM : -EIO;
		if (capacity >= DEBUG_DATA_MAX_SIZE)
			return -EFBIG;
		capacity *= 2;
	}
}

int debug_data_load(const struct elf_file *elf, void **ret_bytes, size_t *ret_size)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debugdata");
	own(own_free) void *compressed = NULL;
	own(own_free) uint8_t *bytes = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t size;
	int r;

	if (!section)
		return -ENODATA;
	r = elf_file_load(elf, section, MAX_COMPRESSED, &compressed);
	if (r < 0)
		return r;
	if (lzma_stream_decoder(&stream, MEMORY_LIMIT, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = compressed;
	stream.avail_in = (size_t)section->size;
	r = decompress(&stream, &bytes, &size);
	lzma_end(&stream);
	if (r < 0)
		return r;
	*ret_bytes = take_ptr(bytes);
	*ret_size = size;
	return 0;
}
