// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_stubs.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"

#define MAX_RELOCATIONS_SIZE (16u << 20)
#define MAX_STUBS_SIZE	     (16u << 20)
#define MAX_NAME	     4096
#define MAX_STUB	     16 /* bytes */
/* jmp *DISPLACEMENT(%rip) */
#define JUMP_SIZE 6

/* A slot of the global offset table: its relocation tells which symbol's address it holds. */
struct slot {
	uint64_t address;
	uint32_t symbol;
};

struct stubs {
	const struct elf_file *elf;
	struct slot *slots; /* sorted by address */
	size_t n_slots, capacity;
	const struct elf_section *symbols, *strings;
	struct pool *pool;
};

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return 0;
}

static int add_slots(struct stubs *stubs, const char *name, uint32_t wanted_type)
{
	const struct elf_section *section = elf_file_section(stubs->elf, name);
	own(own_free) void *bytes = NULL;
	uint32_t n;
	int r;

	if (!section || section->type != SHT_RELA || section->link >= stubs->elf->n_sections)
		return 0;
	r = elf_file_load(stubs->elf, section, MAX_RELOCATIONS_SIZE, &bytes);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	n = (uint32_t)(section->size / sizeof(Elf64_Rela));
	r = grow(&stubs->slots, &stubs->capacity, stubs->n_slots + n);
	if (r < 0)
		return r;
	stubs->symbols = &stubs->elf->sections[section->link];
	for (uint32_t i = 0; i < n; i++) {
		Elf64_Rela relocation;

		memcpy(&relocation, (char *)bytes + i * sizeof(relocation), sizeof(relocation));
		if (ELF64_R_TYPE(relocation.r_info) != wanted_type)
			continue;
		stubs->slots[stubs->n_slots++] =
			(struct slot){ .address = relocation.r_offset,
				       .symbol = (uint32_t)ELF64_R_SYM(relocation.r_info) };
	}
	return 0;
}

/* The name of a dynamic symbol followed by @plt; NULL when it has none. 0 or -ENOMEM. */
static int stub_name(const struct stubs *stubs, uint32_t symbol, const char **ret_name)
{
	char name[MAX_NAME + 4];
	Elf64_Sym entry;
	int length;

	*ret_name = NULL;
	if (!symbol || symbol >= stubs->symbols->size / sizeof(entry) ||
	    elf_file_read(stubs->elf, stubs->symbols->offset + symbol * sizeof(entry), &entry,
			  sizeof(entry)))
		return 0;
	length = elf_file_string(stubs->elf, stubs->strings, entry.st_name, name, MAX_NAME);
	if (length <= 0)
		return 0;
	memcpy(name + length, "@plt", 5);
	*ret_name = pool_string(stubs->pool, name);
	return *ret_name ? 0 : -ENOMEM;
}

/* The slot that the first indirect jump of a stub reads. */
static const struct slot *slot_of_stub(const struct stubs *stubs, const uint8_t *code, size_t size,
				       uint64_t address)
{
	for (size_t i = 0; i + JUMP_SIZE <= size; i++) {
		struct slot key;
		int32_t displacement;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		key.address = address + i + JUMP_SIZE + (uint64_t)(int64_t)displacement;
		return bsearch(&key, stubs->slots, stubs->n_slots, sizeof(key), compare_slots);
	}
	return NULL;
}

/* The sections of stubs, the size of a stub in each, and the relocations of their slots. */
static const struct {
	const char *name;
	uint64_t stub_size;
	const char *slots;
	uint32_t type;
} sections[] = {
	{ ".plt", 16, ".rela.plt", R_X86_64_JUMP_SLOT },
	{ ".plt.sec", 16, ".rela.plt", R_X86_64_JUMP_SLOT },
	{ ".plt.got", 8, ".rela.dyn", R_X86_64_GLOB_DAT },
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const struct elf_section *section_of_stubs(const struct elf_file *elf, const char *name)
{
	const struct elf_section *section = elf_file_section(elf, name);

	return section && section->size <= MAX_STUBS_SIZE && section->flags & SHF_EXECINSTR
		       ? section
		       : NULL;
}

/* Whether a query that has no name yet is for a stub of the section. */
static bool is_asked_for(const struct elf_section *section, const struct symbol_query *queries,
			 size_t n)
{
	for (size_t i = symbol_query_lower_bound(queries, n, section->address);
	     i < n && queries[i].address - section->address < section->size; i++)
		if (!queries[i].name)
			return true;
	return false;
}

static int answer_in_section(const struct stubs *stubs, const struct elf_section *section,
			     uint64_t stub_size, struct symbol_query *queries, size_t n)
{
	uint8_t code[MAX_STUB];

	for (size_t i = symbol_query_lower_bound(queries, n, section->address);
	     i < n && queries[i].address - section->address < section->size; i++) {
		uint64_t at = (queries[i].address - section->address) / stub_size * stub_size;
		const struct slot *slot;
		const char *text;
		int r;

		if (queries[i].name || section->size - at < stub_size ||
		    elf_file_read(stubs->elf, section->offset + at, code, stub_size))
			continue;
		slot = slot_of_stub(stubs, code, stub_size, section->address + at);
		if (!slot)
			continue;
		r = stub_name(stubs, slot->symbol, &text);
		if (r < 0)
			return r;
		if (text) {
			queries[i].name = text;
			queries[i].start = section->address + at;
		}
	}
	return 0;
}

/*
 * Whether a C library's _start is at the entry point: it clears the frame pointer first, which ends
 * the chain of frames. The entry points of libraries that can be run (libc.so.6) do not.
 */
static bool starts_a_program(const struct elf_file *elf, const struct elf_section *section)
{
	uint8_t code[8];
	const uint8_t *at = code;

	if (section->type == SHT_NOBITS ||
	    elf_file_read(elf, section->offset + (elf->entry - section->address), code,
			  sizeof(code)))
		return false;
	if (elf->machine == EM_X86_64) {
		if (memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
			at += 4;
		return memcmp(at, "\x31\xed", 2) == 0 ||   /* xor %ebp, %ebp */
		       memcmp(at, "\x48\x31\xed", 3) == 0; /* xor %rbp, %rbp */
	}
	if (elf->machine == EM_AARCH64) {
		if (memcmp(at, "\x5f\x24\x03\xd5", 4) == 0) /* bti c */
			at += 4;
		return memcmp(at, "\x1d\x00\x80\xd2", 4) == 0; /* mov x29, #0 */
	}
	return false;
}

static int answer_entry(const struct elf_file *elf, struct symbol_query *queries, size_t n,
			struct pool *pool)
{
	/* The most bytes that _start has; other functions follow. */
	const uint64_t reach = 48;
	const struct elf_section *section = elf_file_code_section(elf, elf->entry);
	const char *name;

	if (!elf->entry || !section || !starts_a_program(elf, section))
		return 0;
	name = pool_string(pool, "_start");
	if (!name)
		return -ENOMEM;
	for (size_t i = symbol_query_lower_bound(queries, n, elf->entry);
	     i < n && queries[i].address - elf->entry < reach; i++) {
		if (queries[i].name || queries[i].address - section->address >= section->size)
			continue;
		queries[i].name = name;
		queries[i].start = elf->entry;
	}
	return 0;
}

/*
 * Code of C libraries to which no call leads, so that no frame is within it but at its first byte.
 * Nothing else begins with these bytes.
 */
static const struct {
	const char *name;
	uint8_t size;
	uint8_t code[12];
} returned_to[] = {
	/* mov $15,%rax; syscall: to it signal handlers return */
	{ "__restore_rt", 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } },
	/* mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je: functions of makecontext() do */
	{ "__start_context",
	  12,
	  { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74, 0x08 } },
};

/* NULL: it is not known. */
static const char *name_by_code(const struct elf_file *elf, uint64_t address)
{
	const struct elf_section *section = elf_file_code_section(elf, address);
	uint64_t left = section ? section->address + section->size - address : 0;
	uint8_t code[sizeof(returned_to[0].code)];

	if (!section || section->type == SHT_NOBITS || left < sizeof(code) ||
	    elf_file_read(elf, section->offset + (address - section->address), code, sizeof(code)))
		return NULL;
	for (size_t i = 0; i < sizeof(returned_to) / sizeof(returned_to[0]); i++) {
		if (memcmp(code, returned_to[i].code, returned_to[i].size) == 0)
			return returned_to[i].name;
	}
	return NULL;
}

static int answer_by_code(const struct elf_file *elf, struct symbol_query *queries, size_t n,
			  struct pool *pool)
{
	for (size_t i = 0; elf->machine == EM_X86_64 && i < n; i++) {
		const char *name = queries[i].name ? NULL : name_by_code(elf, queries[i].address);

		if (!name)
			continue;
		queries[i].name = pool_string(pool, name);
		if (!queries[i].name)
			return -ENOMEM;
		queries[i].start = queries[i].address;
	}
	return 0;
}

static void free_slots(struct stubs *stubs)
{
	free(stubs->slots);
}

/* Reads relocations only if a query needs them: they are many, and such queries are rare. */
static int answer_stubs(const struct elf_file *elf, size_t which, struct symbol_query *queries,
			size_t n, struct pool *pool)
{
	own(free_slots) struct stubs stubs = { .elf = elf, .pool = pool };
	const struct elf_section *section = section_of_stubs(elf, sections[which].name);
	int r;

	if (!section || !is_asked_for(section, queries, n))
		return 0;
	r = add_slots(&stubs, sections[which].slots, sections[which].type);
	if (r < 0)
		return r;
	if (!stubs.symbols || stubs.symbols->type != SHT_DYNSYM ||
	    stubs.symbols->link >= elf->n_sections)
		return 0;
	stubs.strings = &elf->sections[stubs.symbols->link];
	qsort(stubs.slots, stubs.n_slots, sizeof(*stubs.slots), compare_slots);
	/* Stubs of .plt.got that begin with endbr64 are larger. */
	return answer_in_section(&stubs, section,
				 section->entry_size == MAX_STUB ? MAX_STUB
								 : sections[which].stub_size,
				 queries, n);
}

int elf_stubs_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		   struct pool *pool)
{
	int r;

	for (size_t i = 0; elf->machine == EM_X86_64 && elf->is_64 && i < N_SECTIONS; i++) {
		r = answer_stubs(elf, i, queries, n, pool);
		if (r < 0)
			return r;
	}
	r = answer_entry(elf, queries, n, pool);
	return r < 0 ? r : answer_by_code(elf, queries, n, pool);
}
