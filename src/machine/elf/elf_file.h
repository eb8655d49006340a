/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outline of an ELF file (header, sections, segments) and bounded reads of its bytes.
 *
 * Why not libelf: the processes we look at choose these files and may truncate or rewrite them
 * while we read, and reading a mapped file beyond its new end raises SIGBUS. Here every range is
 * checked, then read with pread() or from a buffer. Symbol tables of any size are read piecewise,
 * so that a debug file of gigabytes takes no memory. libdw and libelf are used for DWARF only.
 *
 * A file that lies about itself gives errors or fewer symbols, never a read out of bounds.
 * Owns neither the descriptor nor the buffer it reads from. For one thread: even reads of a const
 * file move its window. Must not know: symbols, processes.
 */
#ifndef STACKTALLY_ELF_ELF_FILE_H
#define STACKTALLY_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

/* Fields of section and program headers, see elf(5). Nothing in them was checked. */
struct elf_section {
	uint64_t address, offset, size, flags, entry_size;
	uint32_t type, link, info;
	uint32_t name; /* offset in the section names */
};

struct elf_segment {
	uint64_t address, offset, file_size, memory_size;
	uint32_t type, flags;
};

/* A buffer: the piece of the file that small reads are answered from. */
struct elf_window;

struct elf_file {
	int fd; /* -1: read from `bytes` */
	struct elf_window *window;
	const uint8_t *bytes; /* of a file in memory */
	uint64_t size;
	bool is_64;
	uint16_t type, machine;
	uint64_t entry;
	uint64_t lowered; /* what load_segments_lower_file() subtracted from all addresses */
	struct elf_section *sections;
	uint32_t n_sections;
	struct elf_segment *segments;
	uint32_t n_segments;
	char *section_names;
	uint32_t section_names_size; /* the last byte is NUL */
};

/*
 * 0; -ENOEXEC: not a regular file, or not an ELF file of this machine's byte order; or another
 * negative errno. A damaged table of sections or segments counts as empty.
 */
int elf_file_open(int fd, struct elf_file **ret_elf);
int elf_file_open_memory(const void *bytes, size_t size, struct elf_file **ret_elf);
/* The same without sections: one or two reads. */
int elf_file_open_segments(int fd, struct elf_file **ret_elf);
void elf_file_close(struct elf_file *elf);
DEFINE_OWN(struct elf_file, elf_file_close)

/* Reads exactly `size` bytes at `offset`: 0 or -EIO. Small reads that lie together cost one. */
int elf_file_read(const struct elf_file *elf, uint64_t offset, void *bytes, size_t size);

/* The first offset from this one on that is not in a hole of the file; its size if none is. */
uint64_t elf_file_next_data(const struct elf_file *elf, uint64_t offset);

/*
 * The string at `offset` of the string section, cut at `size` - 1 bytes. Returns its length or
 * -EIO.
 */
int elf_file_string(const struct elf_file *elf, const struct elf_section *strings, uint64_t offset,
		    char *ret_string, size_t size);

/* The first section of that name that has bytes in the file; of that type. NULL: none. */
const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name);
const struct elf_section *elf_file_section_of_type(const struct elf_file *elf, uint32_t type);

/* "" when it has none. */
const char *elf_file_section_name(const struct elf_file *elf, const struct elf_section *section);

/* The executable section that contains the address, or NULL. */
const struct elf_section *elf_file_code_section(const struct elf_file *elf, uint64_t address);

/*
 * All bytes of a section, which the caller frees. 0; -ENODATA: empty, compressed, or without bytes
 * in the file; -EFBIG: more than `limit`; -EIO, -ENOMEM.
 */
int elf_file_load(const struct elf_file *elf, const struct elf_section *section, size_t limit,
		  void **ret_bytes);

/* The address (p_vaddr) at which the byte at `offset` is loaded. False: it is not loaded. */
bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address);

#endif
