// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/frame_sections.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "cfi/eh_pointer.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static int inflate_bytes(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
	uLongf got = size;

	return uncompress(to, &got, from, from_size) == Z_OK && got == size ? 0 : -EIO;
}

static int zstd_bytes(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
	size_t got = ZSTD_decompress(to, size, from, from_size);

	return !ZSTD_isError(got) && got == size ? 0 : -EIO;
}

/* The stream follows the `header` bytes of the section's header. */
static int load_compressed(const struct elf_file *elf, const struct elf_section *section,
			   uint64_t header, uint64_t size, uint32_t kind,
			   struct frame_bytes *ret_bytes)
{
	own(own_free) uint8_t *packed = NULL;
	own(own_free) uint8_t *bytes = NULL;
	size_t packed_size = section->size - header;
	int r;

	if (size > FRAME_SECTION_MAX || packed_size > FRAME_SECTION_MAX)
		return -EFBIG;
	if (kind != ELFCOMPRESS_ZLIB && kind != ELFCOMPRESS_ZSTD)
		return -EIO;
	packed = malloc(packed_size ? packed_size : 1);
	bytes = malloc(size ? size : 1);
	if (!packed || !bytes)
		return -ENOMEM;
	r = elf_file_read(elf, section->offset + header, packed, packed_size);
	if (r < 0)
		return r;
	r = kind == ELFCOMPRESS_ZLIB ? inflate_bytes(packed, packed_size, bytes, size)
				     : zstd_bytes(packed, packed_size, bytes, size);
	if (r < 0)
		return r;
	*ret_bytes = (struct frame_bytes){ .bytes = take_ptr(bytes),
					   .size = size,
					   .address = section->address };
	return 0;
}

static int load_section(const struct elf_file *elf, const struct elf_section *section,
			struct frame_bytes *ret_bytes)
{
	void *bytes;
	int r;

	if (section->flags & SHF_COMPRESSED) {
		Elf64_Chdr header;

		if (section->size < sizeof(header))
			return -EIO;
		r = elf_file_read(elf, section->offset, &header, sizeof(header));
		return r < 0 ? r
			     : load_compressed(elf, section, sizeof(header), header.ch_size,
					       header.ch_type, ret_bytes);
	}
	r = elf_file_load(elf, section, FRAME_SECTION_MAX, &bytes);
	if (r < 0)
		return r;
	*ret_bytes = (struct frame_bytes){ .bytes = bytes,
					   .size = section->size,
					   .address = section->address };
	return 0;
}

/* GNU's compressed sections, older than SHF_COMPRESSED: "ZLIB", big-endian size, stream. */
static int load_zdebug(const struct elf_file *elf, const struct elf_section *section,
		       struct frame_bytes *ret_bytes)
{
	uint8_t header[12];
	uint64_t size;
	int r;

	if (section->size < sizeof(header))
		return -EIO;
	r = elf_file_read(elf, section->offset, header, sizeof(header));
	if (r < 0)
		return r;
	if (memcmp(header, "ZLIB", 4) != 0)
		return -EIO;
	memcpy(&size, header + 4, sizeof(size));
	return load_compressed(elf, section, sizeof(header), __builtin_bswap64(size),
			       ELFCOMPRESS_ZLIB, ret_bytes);
}

int frame_sections_debug(const struct elf_file *elf, struct frame_bytes *ret_bytes)
{
	const struct elf_section *section = elf_file_section(elf, ".debug_frame");

	if (section)
		return load_section(elf, section, ret_bytes);
	section = elf_file_section(elf, ".zdebug_frame");
	return section ? load_zdebug(elf, section, ret_bytes) : -ENODATA;
}

static const struct elf_segment *segment_at(const struct elf_file *elf, uint64_t address)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type == PT_LOAD && address >= segment->address &&
		    address - segment->address < segment->file_size)
			return segment;
	}
	return NULL;
}

/*
 * The highest address of an FDE in the search table of .eh_frame_hdr (LSB, 10.6.2), 0 if there is
 * no table. A terminator before that address is not the end of the section.
 */
static uint64_t last_fde(struct byte_reader reader, uint8_t count_encoding, uint8_t table_encoding,
			 const uint8_t *header, uint64_t header_address)
{
	uint64_t count, last = 0;

	if (count_encoding == EH_PE_OMIT || table_encoding != (EH_PE_DATAREL | EH_PE_SDATA4) ||
	    !eh_pointer_read(&reader, count_encoding,
			     header_address + (uint64_t)(reader.at - header), &count) ||
	    count > bytes_left(&reader) / 8)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t fde;

		read_u32(&reader);
		fde = header_address + (uint64_t)(int32_t)read_u32(&reader);
		if (fde > last)
			last = fde;
	}
	return last;
}

/* How many of the `size` bytes from the beginning of .eh_frame to its segment's end it has. */
static uint64_t extent(const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t last)
{
	struct byte_reader reader = { .at = bytes, .end = bytes + size };

	for (;;) {
		uint64_t at = (uint64_t)(reader.at - bytes), length = read_u32(&reader);

		if (length == UINT32_MAX)
			length = read_u64(&reader);
		if (reader.failed || (!length && address + at >= last))
			return at;
		bytes_skip(&reader, length);
		if (reader.failed)
			return at;
	}
}

/* Reads from .eh_frame_hdr's `frame_address` up to the end of that segment. */
static int load_segment(const struct elf_file *elf, uint64_t frame_address, uint64_t last,
			struct frame_bytes *ret_bytes)
{
	const struct elf_segment *segment = segment_at(elf, frame_address);
	own(own_free) uint8_t *bytes = NULL;
	uint64_t at, size;
	int r;

	if (!segment)
		return -EIO;
	at = frame_address - segment->address;
	size = segment->file_size - at;
	if (size > FRAME_SECTION_MAX)
		size = FRAME_SECTION_MAX;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	if (segment->offset > UINT64_MAX - at)
		return -EIO;
	r = elf_file_read(elf, segment->offset + at, bytes, size);
	if (r < 0)
		return r;
	size = extent(bytes, size, frame_address, last);
	*ret_bytes = (struct frame_bytes){ .bytes = take_ptr(bytes),
					   .size = size,
					   .address = frame_address };
	return 0;
}

static int load_by_header(const struct elf_file *elf, const struct elf_segment *segment,
			  struct frame_bytes *ret_bytes)
{
	own(own_free) uint8_t *header = NULL;
	struct byte_reader reader;
	uint64_t frame_address;
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int r;

	if (segment->file_size > FRAME_SECTION_MAX || segment->file_size < 4)
		return -EIO;
	header = malloc(segment->file_size);
	if (!header)
		return -ENOMEM;
	r = elf_file_read(elf, segment->offset, header, segment->file_size);
	if (r < 0)
		return r;
	reader = (struct byte_reader){ .at = header, .end = header + segment->file_size };
	version = read_u8(&reader);
	frame_encoding = read_u8(&reader);
	count_encoding = read_u8(&reader);
	table_encoding = read_u8(&reader);
	if (version != 1 || frame_encoding == EH_PE_OMIT ||
	    !eh_pointer_read(&reader, frame_encoding,
			     segment->address + (uint64_t)(reader.at - header), &frame_address))
		return -EIO;
	return load_segment(elf, frame_address,
			    last_fde(reader, count_encoding, table_encoding, header,
				     segment->address),
			    ret_bytes);
}

/* Debug files have the section headers of the file they were split from, but not the bytes. */
static bool is_stripped_to_debug(const struct elf_file *elf)
{
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		if (elf->sections[i].type == SHT_NOBITS &&
		    strcmp(elf_file_section_name(elf, &elf->sections[i]), ".eh_frame") == 0)
			return true;
	}
	return false;
}

int frame_sections_eh(const struct elf_file *elf, struct frame_bytes *ret_bytes)
{
	const struct elf_section *section = elf_file_section(elf, ".eh_frame");

	if (section && section->size)
		return load_section(elf, section, ret_bytes);
	if (is_stripped_to_debug(elf))
		return -ENODATA;
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		if (elf->segments[i].type == PT_GNU_EH_FRAME)
			return load_by_header(elf, &elf->segments[i], ret_bytes);
	}
	return -ENODATA;
}
