// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/ld_cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/machine.h"

#define MAGIC	  "glibc-ld.so.cache1.1"
#define MAGIC_OLD "ld.so-1.7.0"

#define KIND_MASK 0xff00
#define KIND_ELF  0x3 /* of the low byte: ELF for libc6 */

struct header {
	char magic[20];
	uint32_t n;
	uint32_t strings_size;
	uint8_t flags;
	uint8_t padding[3];
	uint32_t extensions;
	uint32_t unused[3];
};

struct entry {
	int32_t flags;
	uint32_t name, path; /* offsets from the new format's header */
	uint32_t os_version;
	uint64_t hwcap;
};

/* The old format in front of the new one: a header and 12 bytes an entry. */
struct old_header {
	char magic[12]; /* one byte of padding */
	uint32_t n;
};

#define OLD_ENTRY_SIZE 12

_Static_assert(sizeof(struct header) == 48, "the layout of the file");
_Static_assert(sizeof(struct entry) == 24, "the layout of the file");

/* Where the new format begins: behind the old one, aligned to 8 bytes. */
static size_t header_offset(const char *bytes, size_t size)
{
	struct old_header old;
	size_t offset;

	if (size < sizeof(old) || memcmp(bytes, MAGIC_OLD, strlen(MAGIC_OLD)) != 0)
		return 0;
	memcpy(&old, bytes, sizeof(old));
	offset = sizeof(old) + (size_t)old.n * OLD_ENTRY_SIZE;
	return (offset + 7) & ~(size_t)7;
}

/* A string that ends within the file, or NULL. */
static const char *string_at(const char *bytes, size_t size, uint32_t offset)
{
	if (offset >= size || !memchr(bytes + offset, '\0', size - offset))
		return NULL;
	return bytes + offset;
}

static bool name_fits(const char *have, const char *wanted)
{
	size_t n = strlen(wanted);

	return strncmp(have, wanted, n) == 0 && (have[n] == '\0' || have[n] == '.');
}

const char *ld_cache_find(const void *file, size_t size, const char *name)
{
	const char *bytes = file;
	size_t offset = header_offset(bytes, size);
	struct header header;

	if (offset > size || size - offset < sizeof(header))
		return NULL;
	bytes += offset;
	size -= offset;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, MAGIC, sizeof(header.magic)) != 0 ||
	    header.n > (size - sizeof(header)) / sizeof(struct entry))
		return NULL;
	for (uint32_t i = 0; i < header.n; i++) {
		struct entry entry;
		const char *have, *path;

		memcpy(&entry, bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
		if ((entry.flags & 0xff) != KIND_ELF || (entry.flags & KIND_MASK) != ARCH_LD_CACHE)
			continue;
		have = string_at(bytes, size, entry.name);
		if (!have || !name_fits(have, name))
			continue;
		path = string_at(bytes, size, entry.path);
		if (path && path[0] == '/')
			return path;
	}
	return NULL;
}
