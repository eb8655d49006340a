// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define MAX_SEGMENTS 512u
#define MAX_NOTES    65536u

struct note_segment {
	uint64_t offset, size;
};

/* Exactly `size` bytes; a file that ends before is damaged. */
static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	ssize_t n;

	if (offset > INT64_MAX - size)
		return -ENOEXEC;
	do {
		n = pread(fd, buffer, size, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -ENOEXEC;
}

int build_id_in_notes(const void *notes, size_t size, uint8_t ret_build_id[BUILD_ID_MAX])
{
	const uint8_t *bytes = notes;
	size_t at = 0;

	while (size - at >= sizeof(Elf32_Nhdr)) {
		Elf32_Nhdr note; /* the same in both classes */
		size_t name, content;

		memcpy(&note, bytes + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		content = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > size - at || note.n_descsz > size - at - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(bytes + at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz > 0 && note.n_descsz <= BUILD_ID_MAX) {
			memcpy(ret_build_id, bytes + at + name, note.n_descsz);
			return (int)note.n_descsz;
		}
		if (content > size - at - name)
			return 0;
		at += name + content;
	}
	return 0;
}

static int read_notes(int fd, const struct note_segment *segment, uint8_t *ret_build_id)
{
	size_t size = segment->size < MAX_NOTES ? segment->size : MAX_NOTES;
	own(own_free) uint8_t *notes = NULL;
	int r;

	if (size == 0)
		return 0;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	r = read_at(fd, notes, size, segment->offset);
	if (r < 0)
		return r == -ENOEXEC ? 0 : r;
	return build_id_in_notes(notes, size, ret_build_id);
}

/* The build-id by the segments of one class; they differ in the layout of headers only. */
#define DEFINE_READ_CLASS(bits)                                                                    \
	static int read_class_##bits(int fd, uint8_t *ret_build_id)                                \
	{                                                                                          \
		Elf##bits##_Ehdr header;                                                           \
		int r = read_at(fd, &header, sizeof(header), 0);                                   \
                                                                                                   \
		if (r < 0)                                                                         \
			return r;                                                                  \
		if (header.e_phentsize != sizeof(Elf##bits##_Phdr))                                \
			return header.e_phnum ? -ENOEXEC : 0;                                      \
		for (uint32_t i = 0; i < header.e_phnum && i < MAX_SEGMENTS; i++) {                \
			Elf##bits##_Phdr segment;                                                  \
			struct note_segment notes;                                                 \
                                                                                                   \
			r = read_at(fd, &segment, sizeof(segment),                                 \
				    (uint64_t)header.e_phoff + i * sizeof(segment));               \
			if (r < 0)                                                                 \
				return r;                                                          \
			if (segment.p_type != PT_NOTE)                                             \
				continue;                                                          \
			notes = (struct note_segment){ segment.p_offset, segment.p_filesz };       \
			r = read_notes(fd, &notes, ret_build_id);                                  \
			if (r != 0)                                                                \
				return r;                                                          \
		}                                                                                  \
		return 0;                                                                          \
	}

DEFINE_READ_CLASS(32)
DEFINE_READ_CLASS(64)

int build_id_read(int fd, uint8_t ret_build_id[BUILD_ID_MAX])
{
	const uint8_t native = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint8_t ident[EI_NIDENT];
	int r = read_at(fd, ident, sizeof(ident), 0);

	if (r < 0)
		return r;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != native)
		return -ENOEXEC;
	switch (ident[EI_CLASS]) {
	case ELFCLASS32:
		return read_class_32(fd, ret_build_id);
	case ELFCLASS64:
		return read_class_64(fd, ret_build_id);
	default:
		return -ENOEXEC;
	}
}
