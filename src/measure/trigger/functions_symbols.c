// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbols of a file, one after another; and where functions begin. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/code_file.h"
#include "elf/elf_versions.h"
#include "elf/frame_header.h"
#include "trigger/functions_internal.h"
#include "trigger/unprobeable.h"

#define TABLE_MAX (512u << 20) /* bytes of one symbol or string table */

static void widen(const Elf32_Sym *narrow, Elf64_Sym *ret_wide)
{
	*ret_wide = (Elf64_Sym){ .st_name = narrow->st_name,
				 .st_info = narrow->st_info,
				 .st_shndx = narrow->st_shndx,
				 .st_value = narrow->st_value,
				 .st_size = narrow->st_size };
}

/* A table that cannot be read (truncated, compressed) counts as empty. */
static int read_table(const struct elf_file *elf, const struct elf_section *section,
		      functions_symbol_fn consider, void *context)
{
	const size_t entry = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	own(own_free) void *symbols = NULL;
	own(own_free) void *bytes = NULL;
	own(own_free) uint16_t *versions = NULL;
	size_t size, n = section->size / entry;
	char *strings;
	int r;

	if (section->link >= elf->n_sections)
		return 0;
	size = elf->sections[section->link].size;
	r = elf_file_load(elf, section, TABLE_MAX, &symbols);
	if (r == 0)
		r = elf_file_load(elf, &elf->sections[section->link], TABLE_MAX, &bytes);
	if (r < 0 || size == 0)
		return r == -ENOMEM ? r : 0;
	strings = bytes;
	strings[size - 1] = '\0'; /* so that every name ends */
	versions = calloc(n + 1, sizeof(*versions));
	if (!versions)
		return -ENOMEM;
	if (section->type != SHT_DYNSYM || !elf_versions_entries(elf, section, 0, versions, n))
		memset(versions, 0, n * sizeof(*versions));
	for (size_t i = 1; r == 0 && i < n; i++) {
		const char *raw = (const char *)symbols + i * entry;
		Elf64_Sym symbol;
		Elf32_Sym narrow;

		if (elf->is_64) {
			memcpy(&symbol, raw, sizeof(symbol));
		} else {
			memcpy(&narrow, raw, sizeof(narrow));
			widen(&narrow, &symbol);
		}
		if (symbol.st_name < size)
			r = consider(context, strings + symbol.st_name, &symbol, versions[i]);
	}
	return r;
}

int functions_each_symbol(const struct elf_file *elf, bool exported, functions_symbol_fn consider,
			  void *context)
{
	bool full = false;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type != SHT_DYNSYM && (exported || section->type != SHT_SYMTAB))
			continue;
		full = full || section->type == SHT_SYMTAB;
		r = consider ? read_table(elf, section, consider, context) : 0;
	}
	return r < 0 ? r : full;
}

/* ---- where functions begin ---- */

static bool is_unprobeable(const struct elf_file *elf, int fd, uint64_t offset)
{
	uint8_t code[UNPROBEABLE_BYTES];
	ssize_t n = pread(fd, code, sizeof(code), (off_t)offset);

	return n > 0 && unprobeable(code, (size_t)n, elf->is_64);
}

static bool is_emulated(int fd, uint64_t offset)
{
	uint8_t code[UNPROBEABLE_BYTES];
	ssize_t n = pread(fd, code, sizeof(code), (off_t)offset);

	return n > 0 && probe_emulated(code, (size_t)n);
}

/* Where the probes of the function belong; false: its first byte has to do. */
static bool find_entry(const struct elf_file *elf, uint64_t offset, uint64_t size, uint8_t *code,
		       struct function_entry *ret_entry)
{
	return elf->machine == EM_X86_64 && size > 0 && size <= FUNCTION_ENTRY_CODE_MAX &&
	       elf_file_read(elf, offset, code, size) == 0 &&
	       function_entry_find(code, size, ret_entry);
}

bool functions_entry_read(const struct elf_file *elf, int fd, uint64_t address, uint64_t size,
			  uint8_t *code, struct functions_entry *ret_entry)
{
	struct functions_entry entry = { .n = 1 };
	struct function_entry found = { 0 };
	bool probeable = true;
	uint64_t first;

	if (!code_file_offset(elf, address, true, &first))
		return false;
	entry.offsets[0] = first;
	entry.unprobeable = is_unprobeable(elf, fd, first);
	if (code && find_entry(elf, first, size, code, &found)) {
		for (uint32_t i = 0; i < found.n; i++)
			probeable = probeable && !is_unprobeable(elf, fd, first + found.at[i]);
		entry.turns = found.turns || !probeable;
		for (uint32_t i = 0; probeable && i < found.n; i++)
			entry.offsets[i] = first + found.at[i];
		if (probeable) {
			entry.n = found.n;
			entry.unprobeable = false;
		}
	}
	entry.emulated = is_emulated(fd, entry.offsets[0]);
	*ret_entry = entry;
	return true;
}

/* Whether a symbol table has a function that begins there. */
static bool symbol_begins_at(const struct elf_file *elf, uint64_t address)
{
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];
		Elf64_Sym symbol;

		if (!elf->is_64 || (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM))
			continue;
		for (uint64_t at = 0; at + sizeof(symbol) <= section->size && at < TABLE_MAX;
		     at += sizeof(symbol)) {
			if (elf_file_read(elf, section->offset + at, &symbol, sizeof(symbol)))
				break;
			if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    symbol.st_shndx != SHN_UNDEF && symbol.st_value == address)
				return true;
		}
	}
	return false;
}

int functions_begin_work(const struct confined_job *job)
{
	const uint64_t *addresses = job->request;
	own(own_elf_file_close) struct elf_file *elf = NULL;
	struct error err = { 0 };
	int r = elf_file_open(job->fds[0], &elf);

	reading_send_head(job, r, &err);
	for (size_t i = 0; r == 0 && i < job->size / sizeof(*addresses); i++) {
		struct function_sent sent = { .is = FUNCTION_UNRESOLVED };

		if ((frame_header_begins_at(elf, addresses[i]) ||
		     symbol_begins_at(elf, addresses[i])) &&
		    code_file_offset(elf, addresses[i], true, &sent.at)) {
			sent.is = FUNCTION_PLAIN;
			sent.unprobeable = is_unprobeable(elf, job->fds[0], sent.at);
			sent.emulated = is_emulated(job->fds[0], sent.at);
		}
		confined_send(job, &sent, sizeof(sent));
	}
	return 0;
}
