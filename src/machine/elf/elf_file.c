// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_dynamic.h"

#define MAX_SECTIONS	  65536u
#define MAX_SEGMENTS	  4096u
#define MAX_SECTION_NAMES (4u << 20)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_BYTE_ORDER ELFDATA2LSB
#else
#define OUR_BYTE_ORDER ELFDATA2MSB
#endif

#define WINDOW	    4096u
#define LONG_WINDOW 16384u /* where reads go on behind the last window, as they do in tables */
#define SMALL_READ  1024u

struct elf_window {
	uint64_t at;
	size_t n;
	uint8_t bytes[LONG_WINDOW];
};

/* Answers a read from the window, which it moves there first. False: read it otherwise. */
static bool read_window(const struct elf_file *elf, uint64_t offset, void *to, size_t size)
{
	struct elf_window *window = elf->window;

	if (!window || size > SMALL_READ)
		return false;
	if (offset < window->at || offset + size > window->at + window->n) {
		/* Windows are aligned, but for reads across two of them. */
		uint64_t at = offset % WINDOW + size > WINDOW ? offset : offset - offset % WINDOW;
		bool goes_on = offset >= window->at && offset <= window->at + window->n;
		ssize_t n =
			pread(elf->fd, window->bytes, goes_on ? LONG_WINDOW : WINDOW, (off_t)at);

		window->at = at;
		window->n = n > 0 ? (size_t)n : 0;
		if (offset + size > at + window->n)
			return false;
	}
	memcpy(to, window->bytes + (offset - window->at), size);
	return true;
}

int elf_file_read(const struct elf_file *elf, uint64_t offset, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	if (offset > elf->size || size > elf->size - offset)
		return -EIO;
	if (elf->fd < 0) {
		if (size)
			memcpy(to, elf->bytes + offset, size);
		return 0;
	}
	if (read_window(elf, offset, to, size))
		return 0;
	while (size > 0) {
		ssize_t n = pread(elf->fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO; /* truncated since it was opened */
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

uint64_t elf_file_next_data(const struct elf_file *elf, uint64_t offset)
{
	off_t data = elf->fd < 0 ? (off_t)offset : lseek(elf->fd, (off_t)offset, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		return elf->size;
	/* A file system without holes has data everywhere. */
	return data < (off_t)offset ? offset : (uint64_t)data;
}

/* A table of `count` entries of `entry_size` bytes, of which the first `want` are known. */
static int read_table(const struct elf_file *elf, uint64_t offset, uint32_t count,
		      uint32_t entry_size, uint32_t want, uint8_t **ret_table)
{
	own(own_free) uint8_t *table = NULL;
	size_t size = (size_t)count * entry_size;
	int r;

	if (entry_size < want || entry_size > 4096)
		return -ENOEXEC;
	if (offset > elf->size || size > elf->size - offset)
		return -ENOEXEC;
	table = malloc(size ? size : 1);
	if (!table)
		return -ENOMEM;
	r = elf_file_read(elf, offset, table, size);
	if (r < 0)
		return r;
	*ret_table = take_ptr(table);
	return 0;
}

#define COPY_SECTION(to, from)                                                                     \
	(*(to) = (struct elf_section){ .address = (from).sh_addr,                                  \
				       .offset = (from).sh_offset,                                 \
				       .size = (from).sh_size,                                     \
				       .flags = (from).sh_flags,                                   \
				       .entry_size = (from).sh_entsize,                            \
				       .type = (from).sh_type,                                     \
				       .link = (from).sh_link,                                     \
				       .info = (from).sh_info,                                     \
				       .name = (from).sh_name })

static void copy_section(const struct elf_file *elf, const uint8_t *raw, struct elf_section *to)
{
	if (elf->is_64) {
		Elf64_Shdr header;

		memcpy(&header, raw, sizeof(header));
		COPY_SECTION(to, header);
	} else {
		Elf32_Shdr header;

		memcpy(&header, raw, sizeof(header));
		COPY_SECTION(to, header);
	}
}

#define COPY_SEGMENT(to, from)                                                                     \
	(*(to) = (struct elf_segment){ .address = (from).p_vaddr,                                  \
				       .offset = (from).p_offset,                                  \
				       .file_size = (from).p_filesz,                               \
				       .memory_size = (from).p_memsz,                              \
				       .type = (from).p_type,                                      \
				       .flags = (from).p_flags })

static void copy_segment(const struct elf_file *elf, const uint8_t *raw, struct elf_segment *to)
{
	if (elf->is_64) {
		Elf64_Phdr header;

		memcpy(&header, raw, sizeof(header));
		COPY_SEGMENT(to, header);
	} else {
		Elf32_Phdr header;

		memcpy(&header, raw, sizeof(header));
		COPY_SEGMENT(to, header);
	}
}

static int read_sections(struct elf_file *elf, uint64_t offset, uint32_t count, uint32_t entry_size,
			 uint32_t names)
{
	uint32_t want = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	own(own_free) uint8_t *first = NULL;
	own(own_free) uint8_t *table = NULL;
	struct elf_section zero;
	int r;

	if (!offset)
		return 0;
	/* Numbers that do not fit in the header's 16 bits are in section 0. */
	if (!count || names == SHN_XINDEX) {
		r = read_table(elf, offset, 1, entry_size, want, &first);
		if (r < 0)
			return r;
		copy_section(elf, first, &zero);
		if (!count)
			count = zero.size > MAX_SECTIONS ? MAX_SECTIONS : (uint32_t)zero.size;
		if (names == SHN_XINDEX)
			names = zero.link;
	}
	if (!count)
		return 0;
	r = read_table(elf, offset, count, entry_size, want, &table);
	if (r < 0)
		return r;
	elf->sections = calloc(count, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		copy_section(elf, table + (size_t)i * entry_size, &elf->sections[i]);
	elf->n_sections = count;

	if (names < count && elf->sections[names].type == SHT_STRTAB &&
	    elf->sections[names].size > 0) {
		void *bytes;

		r = elf_file_load(elf, &elf->sections[names], MAX_SECTION_NAMES, &bytes);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		elf->section_names = bytes;
		elf->section_names_size = (uint32_t)elf->sections[names].size;
		elf->section_names[elf->section_names_size - 1] = '\0';
	}
	return 0;
}

static int read_segments(struct elf_file *elf, uint64_t offset, uint32_t count, uint32_t entry_size)
{
	uint32_t want = elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	own(own_free) uint8_t *table = NULL;
	int r;

	if (!offset || !count)
		return 0;
	if (count > MAX_SEGMENTS)
		count = MAX_SEGMENTS;
	r = read_table(elf, offset, count, entry_size, want, &table);
	if (r < 0)
		return r;
	elf->segments = calloc(count, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		copy_segment(elf, table + (size_t)i * entry_size, &elf->segments[i]);
	elf->n_segments = count;
	return 0;
}

/* The header of either class, as far as it tells where the two tables are. */
struct header {
	uint64_t segments, sections; /* offsets */
	uint32_t n_segments, segment_size, n_sections, section_size, section_names;
};

#define COPY_HEADER(elf, to, from)                                                                 \
	({                                                                                         \
		(elf)->type = (from).e_type;                                                       \
		(elf)->machine = (from).e_machine;                                                 \
		(elf)->entry = (from).e_entry;                                                     \
		*(to) = (struct header){ .segments = (from).e_phoff,                               \
					 .n_segments = (from).e_phnum,                             \
					 .segment_size = (from).e_phentsize,                       \
					 .sections = (from).e_shoff,                               \
					 .n_sections = (from).e_shnum,                             \
					 .section_size = (from).e_shentsize,                       \
					 .section_names = (from).e_shstrndx };                     \
	})

static int read_header(struct elf_file *elf, struct header *ret_header)
{
	uint8_t ident[EI_NIDENT];

	if (elf_file_read(elf, 0, ident, sizeof(ident)) < 0 ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != OUR_BYTE_ORDER)
		return -ENOEXEC;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (elf->is_64) {
		Elf64_Ehdr header;

		if (elf_file_read(elf, 0, &header, sizeof(header)) < 0)
			return -ENOEXEC;
		COPY_HEADER(elf, ret_header, header);
	} else {
		Elf32_Ehdr header;

		if (ident[EI_CLASS] != ELFCLASS32 ||
		    elf_file_read(elf, 0, &header, sizeof(header)) < 0)
			return -ENOEXEC;
		COPY_HEADER(elf, ret_header, header);
	}
	return 0;
}

static int read_outline(struct elf_file *elf, bool with_sections)
{
	struct header header;
	int r = read_header(elf, &header);

	if (r < 0)
		return r;
	/* A damaged table leaves the other one usable. */
	r = read_segments(elf, header.segments, header.n_segments, header.segment_size);
	if (r != -ENOMEM && with_sections)
		r = read_sections(elf, header.sections, header.n_sections, header.section_size,
				  header.section_names);
	if (r != -ENOMEM && with_sections && !elf->n_sections)
		r = elf_dynamic_sections(elf);
	return r == -ENOMEM ? r : 0;
}

static int start(int fd, const void *bytes, uint64_t size, bool with_sections,
		 struct elf_file **ret_elf)
{
	own(own_elf_file_close) struct elf_file *elf = calloc(1, sizeof(*elf));
	int r;

	if (!elf)
		return -ENOMEM;
	elf->fd = fd;
	elf->bytes = bytes;
	elf->size = size;
	if (fd >= 0) {
		elf->window = malloc(sizeof(*elf->window));
		if (!elf->window)
			return -ENOMEM;
		elf->window->at = UINT64_MAX; /* nowhere */
		elf->window->n = 0;
	}
	r = read_outline(elf, with_sections);
	if (r < 0)
		return r;
	*ret_elf = take_ptr(elf);
	return 0;
}

static int start_file(int fd, bool with_sections, struct elf_file **ret_elf)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < 0)
		return -ENOEXEC;
	return start(fd, NULL, (uint64_t)status.st_size, with_sections, ret_elf);
}

int elf_file_open(int fd, struct elf_file **ret_elf)
{
	return start_file(fd, true, ret_elf);
}

int elf_file_open_segments(int fd, struct elf_file **ret_elf)
{
	return start_file(fd, false, ret_elf);
}

int elf_file_open_memory(const void *bytes, size_t size, struct elf_file **ret_elf)
{
	return start(-1, bytes, size, true, ret_elf);
}

void elf_file_close(struct elf_file *elf)
{
	if (!elf)
		return;
	free(elf->sections);
	free(elf->segments);
	free(elf->section_names);
	free(elf->window);
	free(elf);
}

int elf_file_string(const struct elf_file *elf, const struct elf_section *strings, uint64_t offset,
		    char *ret_string, size_t size)
{
	size_t take, length;

	if (offset >= strings->size || strings->offset > elf->size ||
	    strings->size > elf->size - strings->offset || !size)
		return -EIO;
	take = strings->size - offset;
	/* Most names are short: begin with a small piece. */
	if (take > size - 1)
		take = size - 1;
	for (size_t done = 0, piece = 64; done < take; piece *= 4) {
		size_t n = take - done < piece ? take - done : piece;
		char *end;

		if (elf_file_read(elf, strings->offset + offset + done, ret_string + done, n))
			return -EIO;
		end = memchr(ret_string + done, '\0', n);
		if (end)
			return (int)(end - ret_string);
		done += n;
	}
	length = take;
	ret_string[length] = '\0';
	return (int)length;
}

const char *elf_file_section_name(const struct elf_file *elf, const struct elf_section *section)
{
	return section->name < elf->section_names_size ? elf->section_names + section->name : "";
}

const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name)
{
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type != SHT_NOBITS &&
		    strcmp(elf_file_section_name(elf, section), name) == 0)
			return section;
	}
	return NULL;
}

const struct elf_section *elf_file_section_of_type(const struct elf_file *elf, uint32_t type)
{
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	}
	return NULL;
}

const struct elf_section *elf_file_code_section(const struct elf_file *elf, uint64_t address)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	for (uint32_t i = 1; i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if ((section->flags & code) == code && address >= section->address &&
		    address - section->address < section->size)
			return section;
	}
	return NULL;
}

int elf_file_load(const struct elf_file *elf, const struct elf_section *section, size_t limit,
		  void **ret_bytes)
{
	own(own_free) void *bytes = NULL;
	int r;

	if (section->type == SHT_NOBITS || !section->size || (section->flags & SHF_COMPRESSED))
		return -ENODATA;
	if (section->offset > elf->size || section->size > elf->size - section->offset)
		return -EIO;
	if (section->size > limit)
		return -EFBIG;
	bytes = malloc(section->size);
	if (!bytes)
		return -ENOMEM;
	r = elf_file_read(elf, section->offset, bytes, section->size);
	if (r < 0)
		return r;
	*ret_bytes = take_ptr(bytes);
	return 0;
}

bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address)
{
	const struct elf_segment *found = NULL;

	/* Segments may share a page of the file: code runs in the executable one. */
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD || offset < segment->offset ||
		    offset - segment->offset >= segment->file_size)
			continue;
		if (!found || (!(found->flags & PF_X) && (segment->flags & PF_X)))
			found = segment;
	}
	if (!found)
		return false;
	*ret_address = found->address + (offset - found->offset);
	return true;
}
