// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_versions.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/grow.h"

#define SECTION_MAX  (1u << 20)
#define STRINGS_MAX  (64u << 20)
#define MAX_VERSIONS 4096u
#define HIDDEN	     0x8000 /* in an entry: not the default version */

/* A section of definitions or needs, and the strings it refers to. */
struct reader {
	struct elf_versions *versions;
	char *bytes;
	uint64_t size, strings_size;
};

static bool read_at(const struct reader *reader, uint64_t at, void *entry, size_t size)
{
	if (at > reader->size || size > reader->size - at)
		return false;
	memcpy(entry, reader->bytes + at, size);
	return true;
}

static int add(struct reader *reader, uint32_t name, uint16_t index)
{
	struct elf_versions *versions = reader->versions;
	int r;

	if (name >= reader->strings_size || !versions->strings[name])
		return 0;
	r = grow(&versions->versions, &versions->capacity, versions->n + 1);
	if (r < 0)
		return r;
	versions->versions[versions->n++] = (struct elf_version){ versions->strings + name, index };
	return 0;
}

static int read_defined(struct reader *reader)
{
	Elf64_Verdef entry;
	Elf64_Verdaux first;
	uint64_t at = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < MAX_VERSIONS; i++) {
		if (!read_at(reader, at, &entry, sizeof(entry)))
			break;
		/* The base version is the name of the file, and no symbol's. */
		if (!(entry.vd_flags & VER_FLG_BASE) &&
		    read_at(reader, at + entry.vd_aux, &first, sizeof(first)))
			r = add(reader, first.vda_name, entry.vd_ndx);
		if (!entry.vd_next)
			break;
		at += entry.vd_next;
	}
	reader->versions->n_defined = reader->versions->n;
	return r;
}

static int read_needed(struct reader *reader)
{
	uint32_t left = MAX_VERSIONS;
	uint64_t at = 0;
	int r = 0;

	while (r == 0 && left) {
		Elf64_Verneed file;
		uint64_t next;

		if (!read_at(reader, at, &file, sizeof(file)))
			break;
		next = at + file.vn_aux;
		for (uint32_t i = 0; r == 0 && i < file.vn_cnt && left; i++, left--) {
			Elf64_Vernaux entry;

			if (!read_at(reader, next, &entry, sizeof(entry)))
				break;
			r = add(reader, entry.vna_name, entry.vna_other);
			next += entry.vna_next;
		}
		if (!file.vn_next)
			break;
		at += file.vn_next;
		left -= left > 0;
	}
	return r;
}

/* The two sections name their versions in one section of strings. */
static int read_section(const struct elf_file *elf, uint32_t type, struct elf_versions *versions)
{
	const struct elf_section *section = elf_file_section_of_type(elf, type), *strings;
	struct reader reader = { .versions = versions };
	own(own_free) void *bytes = NULL;
	void *text = NULL;
	int r;

	if (!section || section->link >= elf->n_sections)
		return 0;
	strings = &elf->sections[section->link];
	r = elf_file_load(elf, section, SECTION_MAX, &bytes);
	if (r == 0 && !versions->strings) {
		r = elf_file_load(elf, strings, STRINGS_MAX, &text);
		versions->strings = text;
	}
	if (r < 0 || !strings->size || versions->strings[strings->size - 1])
		return r == -ENOMEM ? r : 0;
	reader.bytes = bytes;
	reader.size = section->size;
	reader.strings_size = strings->size;
	return type == SHT_GNU_verdef ? read_defined(&reader) : read_needed(&reader);
}

int elf_versions_read(const struct elf_file *elf, struct elf_versions *ret_versions)
{
	const struct elf_section *defined = elf_file_section_of_type(elf, SHT_GNU_verdef);
	const struct elf_section *needed = elf_file_section_of_type(elf, SHT_GNU_verneed);
	int r = 0;

	*ret_versions = ELF_VERSIONS_NONE;
	if (defined)
		r = read_section(elf, SHT_GNU_verdef, ret_versions);
	if (r == 0 && needed && (!defined || needed->link == defined->link))
		r = read_section(elf, SHT_GNU_verneed, ret_versions);
	return r;
}

void elf_versions_free(struct elf_versions *versions)
{
	free(versions->strings);
	free(versions->versions);
	*versions = ELF_VERSIONS_NONE;
}

enum elf_version_kind elf_versions_split(const struct elf_versions *versions, const char *name,
					 size_t *ret_length)
{
	const char *at = strrchr(name, '@'), *end = at;

	*ret_length = strlen(name);
	if (!at || at == name)
		return ELF_VERSION_NONE;
	if (at[-1] == '@')
		end--;
	if (end == name)
		return ELF_VERSION_NONE;
	for (uint32_t i = 0; i < versions->n; i++) {
		if (strcmp(versions->versions[i].name, at + 1) != 0)
			continue;
		*ret_length = (size_t)(end - name);
		return end == at && i < versions->n_defined ? ELF_VERSION_OTHER
							    : ELF_VERSION_DEFAULT;
	}
	return ELF_VERSION_NONE;
}

const char *elf_versions_other(const struct elf_versions *versions, uint16_t entry)
{
	return entry & HIDDEN ? elf_versions_defined(versions, entry) : NULL;
}

const char *elf_versions_defined(const struct elf_versions *versions, uint16_t entry)
{
	for (uint32_t i = 0; i < versions->n_defined; i++) {
		if (versions->versions[i].index == (entry & ~HIDDEN))
			return versions->versions[i].name;
	}
	return NULL;
}

bool elf_versions_entries(const struct elf_file *elf, const struct elf_section *symbols,
			  uint64_t first, uint16_t *entries, size_t n)
{
	const struct elf_section *section = elf_file_section_of_type(elf, SHT_GNU_versym);
	const uint64_t size = sizeof(*entries);

	return section && section->link < elf->n_sections &&
	       &elf->sections[section->link] == symbols && first <= section->size / size &&
	       n <= section->size / size - first &&
	       elf_file_read(elf, section->offset + first * size, entries, n * size) == 0;
}
