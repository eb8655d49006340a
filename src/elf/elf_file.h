/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outline of one ELF file (header, sections, segments) and bounded reads of its bytes.
 *
 * Why not libelf: the files are chosen by the processes we look at, which may cut or rewrite them
 * while we read, and a mapped file that is cut ends us with SIGBUS. Here every byte comes through
 * pread() (or from a buffer) after its range was checked, and a symbol table of any size is read
 * piecewise, so that a debug binary of gigabytes costs no memory. libdw and libelf are used for
 * DWARF only.
 *
 * A file that lies about itself gives errors or fewer symbols, never a read out of bounds.
 * Does not own the descriptor or the buffer it reads from. Must not know: symbols, processes.
 */
#ifndef STACKTALLY_ELF_ELF_FILE_H
#define STACKTALLY_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct elf_section {
	uint64_t address, offset, size, flags, entry_size;
	uint32_t type, link, info;
	uint32_t name; /* in the section names */
};

struct elf_segment {
	uint64_t address, offset, file_size, memory_size;
	uint32_t type, flags;
};

/* The piece of the file that small reads were last answered from. */
struct elf_window;

struct elf_file {
	int fd; /* -1: read from `bytes` */
	struct elf_window *window;
	const uint8_t *bytes; /* of a file in memory */
	uint64_t size;
	bool is_64;
	uint16_t type, machine;
	uint64_t entry;
	struct elf_section *sections;
	uint32_t n_sections;
	struct elf_segment *segments;
	uint32_t n_segments;
	char *section_names;
	uint32_t section_names_size; /* the last byte is NUL */
};

/* 0, -ENOEXEC (no ELF of this machine's byte order), -EIO, -ENOMEM. The fd is a regular file. */
int elf_file_open(int fd, struct elf_file **ret_elf);
int elf_file_open_memory(const void *bytes, size_t size, struct elf_file **ret_elf);
void elf_file_close(struct elf_file *elf);
DEFINE_OWN(struct elf_file, elf_file_close)

/*
 * Reads exactly `size` bytes at `offset`, or fails with -EIO. Small reads are answered from a
 * window, so names and numbers that lie together cost one read; not for several threads.
 */
int elf_file_read(const struct elf_file *elf, uint64_t offset, void *bytes, size_t size);

/*
 * The string at `offset` of the string section, cut at `size` - 1 bytes; returns its length or
 * -EIO.
 */
int elf_file_string(const struct elf_file *elf, const struct elf_section *strings, uint64_t offset,
		    char *ret_string, size_t size);

/* The first section of that name (or type) that has bytes in the file, or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name);
const struct elf_section *elf_file_section_of_type(const struct elf_file *elf, uint32_t type);
const char *elf_file_section_name(const struct elf_file *elf, const struct elf_section *section);

/* The executable section that contains the address, or NULL. */
const struct elf_section *elf_file_code_section(const struct elf_file *elf, uint64_t address);

/*
 * All bytes of a section, in memory that the caller frees; -EFBIG beyond `limit`, -ENODATA for
 * sections without bytes or compressed ones.
 */
int elf_file_load(const struct elf_file *elf, const struct elf_section *section, size_t limit,
		  void **ret_bytes);

/* The address, in the file's own terms, that a byte of the file is loaded at. */
bool elf_file_address(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address);

/* The GNU build-id; returns its size (at most `size`), or 0 when there is none. */
uint32_t elf_file_build_id(const struct elf_file *elf, uint8_t *ret_id, uint32_t size);

/* The GNU build-id among ELF notes; `align` is 4, or 8 for segments aligned so. */
uint32_t elf_notes_build_id(const uint8_t *notes, size_t notes_size, size_t align, uint8_t *ret_id,
			    uint32_t size);

#endif
