// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "elf/code_file.h"
#include "elf/debug_data.h"
#include "elf/frame_header.h"
#include "elf/ifunc_slots.h"
#include "symbolize/demangle.h"
#include "trigger/functions_internal.h"
#include "trigger/matcher.h"
#include "trigger/unprobeable.h"

#define TABLE_MAX (512u << 20) /* bytes of one symbol or string table */

/* A function that matches. */
struct found {
	const char *name;
	uint64_t at;
	enum function_is is;
	bool unprobeable;
};

struct reader {
	const struct functions_question *question;
	int fd;
	const struct elf_file *elf; /* the file to be probed */
	struct ifunc_slots *slots;  /* NULL: not looked for yet, or none */
	bool slots_tried;
	struct functions_facts facts;
	struct pool *names;
	struct found *items;
	uint32_t capacity;
	char demangled[DEMANGLE_SIZE];
};

/* The start of the parameters in a demangled name such as "ns::f<(a)1>(int, g()) const", or NULL.
 */
static char *parameters(char *demangled)
{
	char *at = strrchr(demangled, ')');
	uint32_t depth = 0;

	for (; at && at > demangled; at--) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at;
	}
	return NULL;
}

static bool matches(struct reader *reader, const char *name)
{
	char *at;

	if (matcher_matches(reader->question->matcher, name))
		return true;
	if (reader->question->cplusplus &&
	    demangle(name, reader->demangled, sizeof(reader->demangled))) {
		if (matcher_matches(reader->question->matcher, reader->demangled))
			return true;
		at = parameters(reader->demangled);
		if (at)
			*at = '\0';
		if (at && matcher_matches(reader->question->matcher, reader->demangled))
			return true;
		name = reader->demangled;
	}
	nearest_add(&reader->facts.nearest, name);
	return false;
}

static bool is_unprobeable(const struct reader *reader, uint64_t offset)
{
	uint8_t code[UNPROBEABLE_BYTES];
	ssize_t n = pread(reader->fd, code, sizeof(code), (off_t)offset);

	return n > 0 && unprobeable(code, (size_t)n, reader->elf->is_64);
}

static int add(struct reader *reader, const char *name, const struct found *found)
{
	uint32_t n = reader->facts.n;
	int r = grow(&reader->items, &reader->capacity, n + 1);

	if (r < 0)
		return r;
	reader->items[n] = *found;
	reader->items[n].name = pool_string(reader->names, name);
	if (!reader->items[n].name)
		return -ENOMEM;
	reader->facts.n++;
	return 0;
}

/* The slot of the resolver's choice. */
static bool find_slot(struct reader *reader, uint64_t resolver, uint64_t *ret_slot)
{
	if (!reader->slots_tried)
		ifunc_slots_read(reader->elf, &reader->slots);
	reader->slots_tried = true;
	return reader->slots && ifunc_slots_find(reader->slots, resolver, ret_slot);
}

static int consider(struct reader *reader, char *name, const Elf64_Sym *symbol)
{
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);
	char *version = strchr(name, '@');
	struct found found = { .is = FUNCTION_PLAIN };
	uint64_t address = symbol->st_value;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    address == 0 || !name[0])
		return 0;
	if (version && version != name)
		*version = '\0'; /* memcpy@@GLIBC_2.14 */
	reader->facts.n_symbols++;
	if (!matches(reader, name))
		return 0;
	if (type == STT_GNU_IFUNC) {
		found.is = find_slot(reader, address, &found.at) ? FUNCTION_CHOSEN
								 : FUNCTION_UNRESOLVED;
		return add(reader, name, &found);
	}
	if (!code_file_offset(reader->elf, address, true, &found.at))
		return 0;
	found.unprobeable = is_unprobeable(reader, found.at);
	return add(reader, name, &found);
}

static void widen(const Elf32_Sym *narrow, Elf64_Sym *ret_wide)
{
	*ret_wide = (Elf64_Sym){ .st_name = narrow->st_name,
				 .st_info = narrow->st_info,
				 .st_shndx = narrow->st_shndx,
				 .st_value = narrow->st_value,
				 .st_size = narrow->st_size };
}

/* A table that cannot be read (truncated, compressed) counts as empty. */
static int read_table(struct reader *reader, const struct elf_file *elf,
		      const struct elf_section *section)
{
	const size_t entry = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	own(own_free) void *symbols = NULL;
	own(own_free) void *bytes = NULL;
	size_t size;
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
	for (size_t i = 1; r == 0 && i < section->size / entry; i++) {
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
			r = consider(reader, strings + symbol.st_name, &symbol);
	}
	return r;
}

/* Returns whether the file has a full symbol table, or a negative errno. */
static int read_tables(struct reader *reader, const struct elf_file *elf)
{
	bool full = false;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < elf->n_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)
			continue;
		full = full || section->type == SHT_SYMTAB;
		r = read_table(reader, elf, section);
	}
	return r < 0 ? r : full;
}

/* For a stripped file: its debug file or .gnu_debugdata may have the symbols. */
static int read_elsewhere(struct reader *reader, int debug_fd)
{
	own(own_elf_file_close) struct elf_file *debug = NULL;
	own(own_free) void *bytes = NULL;
	size_t size;

	if (debug_fd >= 0 &&
	    debug_file_open_checked(reader->elf, debug_fd, reader->question->proof, &debug) == 0) {
		reader->facts.right_debug = true;
		return read_tables(reader, debug);
	}
	if (debug_data_load(reader->elf, &bytes, &size) == 0 &&
	    elf_file_open_memory(bytes, size, &debug) == 0)
		return read_tables(reader, debug);
	return 0;
}

static void find_first(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->elf->n_segments; i++) {
		const struct elf_segment *segment = &reader->elf->segments[i];

		if (segment->type != PT_LOAD || segment->offset != 0)
			continue;
		reader->facts.first = segment->address;
		reader->facts.has_first = true;
		return;
	}
}

static int read_all(struct reader *reader, int debug_fd)
{
	int full, r;

	reader->facts.nearest = *reader->question->nearest;
	debug_wanted_read(reader->elf, &reader->facts.wanted);
	find_first(reader);
	full = read_tables(reader, reader->elf);
	r = full < 0 ? full : full == 0 ? read_elsewhere(reader, debug_fd) : 0;
	reader->facts.stripped = full == 0;
	return r < 0 ? r : 0;
}

static void answer(const struct confined_job *job, const struct reader *reader)
{
	confined_send(job, &reader->facts, sizeof(reader->facts));
	for (uint32_t i = 0; i < reader->facts.n; i++) {
		const struct found *found = &reader->items[i];
		const struct function_sent sent = { .at = found->at,
						    .is = found->is,
						    .unprobeable = found->unprobeable };

		confined_send(job, &sent, sizeof(sent));
		reading_send_string(job, found->name);
	}
}

int functions_reader_work(const struct confined_job *job)
{
	const struct functions_question *question = job->request;
	own(own_free) struct reader *reader = calloc(1, sizeof(*reader));
	own(own_elf_file_close) struct elf_file *elf = NULL;
	own(own_pool_free) struct pool *names = NULL;
	struct error err = { 0 };
	int r = reader ? pool_new(&names) : -ENOMEM;

	if (r == 0)
		r = code_file_open(job->fds[0], question->path, &elf, &err);
	if (r == 0) {
		reader->question = question;
		reader->fd = job->fds[0];
		reader->elf = elf;
		reader->names = names;
		r = read_all(reader, job->fds[1]);
	}
	if (r == -ENOMEM)
		error_set(&err, r, "out of memory for the functions of %.500s", question->path);
	reading_send_head(job, r, &err);
	if (r == 0)
		answer(job, reader);
	if (reader) {
		ifunc_slots_free(reader->slots);
		free(reader->items);
	}
	return 0;
}

/* ---- starts of functions ---- */

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
	struct reader reader = { .fd = job->fds[0] };
	int r = elf_file_open(job->fds[0], &elf);

	reader.elf = elf;
	reading_send_head(job, r, &err);
	for (size_t i = 0; r == 0 && i < job->size / sizeof(*addresses); i++) {
		struct function_sent sent = { .is = FUNCTION_UNRESOLVED };

		if ((frame_header_begins_at(elf, addresses[i]) ||
		     symbol_begins_at(elf, addresses[i])) &&
		    code_file_offset(elf, addresses[i], true, &sent.at)) {
			sent.is = FUNCTION_PLAIN;
			sent.unprobeable = is_unprobeable(&reader, sent.at);
		}
		confined_send(job, &sent, sizeof(sent));
	}
	return 0;
}
