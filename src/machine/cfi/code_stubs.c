// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/code_stubs.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "cfi/code_bytes.h"
#include "cfi/unwind_rows.h"

/* Bytes. */
#define MAX_PLT	   (16u << 20)
#define MAX_CRT	   256	      /* .init or .fini */
#define MAX_SCAN   (8u << 20) /* searched for musl's functions */
#define ENTRY_SIZE 96	      /* read at the entry point */
#define SLOT	   16

struct search {
	const struct code_view *code;
	const struct code_ranges *known;
	struct rule_table *rules;
	struct code_ranges *ranges;
	int result;
};

static void add(struct search *search, uint64_t begin, uint64_t end, const struct wire_rule *rule)
{
	struct code_range range = { .begin = (uint32_t)begin,
				    .end = (uint32_t)end,
				    .context = rule_table_add(search->rules, rule),
				    .source = UNWIND_CODE };

	if (!search->result && begin < end && end <= UINT32_MAX)
		search->result = code_ranges_add(search->ranges, &range);
}

/* CFA = sp + depth; the frame pointer is unchanged. */
static void add_depth(struct search *search, uint64_t begin, uint64_t end, int depth)
{
	const struct wire_rule rule = { .cfa = WIRE_CFA_SP, .cfa_offset = depth };

	add(search, begin, end, &rule);
}

/* A frame without a caller, or a signal frame. */
static void add_kind(struct search *search, uint64_t begin, uint64_t end, enum wire_ra ra)
{
	const struct wire_rule rule = { .cfa = WIRE_CFA_SP, .ra = ra };

	add(search, begin, end, &rule);
}

/* ---- the linker's stubs ---- */

enum slot_kind {
	SLOT_JUMP_8,   /* jmp *GOT; xchg %ax,%ax */
	SLOT_JUMP,     /* [endbr64;] jmp *GOT; padding */
	SLOT_LAZY,     /* jmp *GOT; push $n; jmp the first slot */
	SLOT_LAZY_IBT, /* endbr64; push $n; jmp the first slot */
	SLOT_FIRST,    /* push GOT+8; jmp *GOT+16 */
	N_SLOT_KINDS,
};

/* Forms with f2 (bnd) are those of MPX and of early IBT. */
static const struct {
	enum slot_kind kind;
	const char *pattern;
} slots[] = {
	{ SLOT_JUMP_8, "ff 25 ?? ?? ?? ?? 66 90" },
	{ SLOT_LAZY, "ff 25 ?? ?? ?? ?? 68 ?? ?? ?? ?? e9 ?? ?? ?? ??" },
	{ SLOT_FIRST, "ff 35 ?? ?? ?? ?? ff 25 ?? ?? ?? ?? ?? ?? ?? ??" },
	{ SLOT_FIRST, "ff 35 ?? ?? ?? ?? f2 ff 25 ?? ?? ?? ?? ?? ?? ??" },
	{ SLOT_LAZY_IBT, "f3 0f 1e fa 68 ?? ?? ?? ?? e9 ?? ?? ?? ?? 66 90" },
	{ SLOT_LAZY_IBT, "f3 0f 1e fa 68 ?? ?? ?? ?? f2 e9 ?? ?? ?? ?? 90" },
	{ SLOT_JUMP, "f3 0f 1e fa ff 25 ?? ?? ?? ?? 66 0f 1f 44 00 00" },
	{ SLOT_JUMP, "f3 0f 1e fa f2 ff 25 ?? ?? ?? ?? 0f 1f 44 00 00" },
	{ SLOT_JUMP, "ff 25 ?? ?? ?? ?? cc cc cc cc cc cc cc cc cc cc" },
};

/* Adds the stub at the address. Returns its size, 0 when it is not recognised. */
static uint32_t add_slot(struct search *search, uint64_t address, const uint8_t *bytes, size_t left)
{
	const struct wire_rule lazy = { .cfa = WIRE_CFA_PLT, .cfa_offset = 11 };
	uint32_t i, n = sizeof(slots) / sizeof(slots[0]);

	for (i = 0; i < n && !code_matches(bytes, left, slots[i].pattern); i++)
		;
	if (i == n)
		return 0;
	switch (slots[i].kind) {
	case SLOT_JUMP_8:
		add_depth(search, address, address + 8, 8);
		return 8;
	case SLOT_LAZY:
		if (address % SLOT == 0) {
			add(search, address, address + SLOT, &lazy);
			break;
		}
		add_depth(search, address, address + 11, 8);
		add_depth(search, address + 11, address + SLOT, 16);
		break;
	case SLOT_LAZY_IBT:
		add_depth(search, address, address + 9, 8);
		add_depth(search, address + 9, address + SLOT, 16);
		break;
	case SLOT_FIRST:
		add_depth(search, address, address + 6, 16);
		add_depth(search, address + 6, address + SLOT, 24);
		break;
	default:
		add_depth(search, address, address + SLOT, 8);
	}
	return SLOT;
}

static void find_plt(struct search *search, const struct elf_section *section)
{
	own(own_free) void *loaded = NULL;
	const uint8_t *bytes;
	uint64_t at = 0;
	uint32_t size;
	int r = elf_file_load(search->code->elf, section, MAX_PLT, &loaded);

	if (r == -ENOMEM)
		search->result = r;
	if (r || !code_view_segment(search->code, section->address))
		return;
	bytes = loaded;
	while (at < section->size && !search->result) {
		uint64_t address = section->address + at;

		size = address <= UINT32_MAX - SLOT
			       ? add_slot(search, address, bytes + at, section->size - at)
			       : 0;
		if (!size)
			return;
		at += size;
	}
}

/* ---- .init and .fini: a function each, whose beginning and end are in crti.o and crtn.o ---- */

static void find_crt(struct search *search, const struct elf_section *section)
{
	uint8_t bytes[MAX_CRT];
	size_t size = section->size, begin = 0;
	uint64_t address = section->address;

	if (size > sizeof(bytes) || code_view_read(search->code, address, bytes, size) != size)
		return;
	if (code_matches(bytes, size, "f3 0f 1e fa"))
		begin = 4;
	if (size >= begin + 9 && code_matches(bytes + begin, size - begin, "48 83 ec 08") &&
	    code_matches(bytes + size - 5, 5, "48 83 c4 08 c3"))
		begin += 4;
	else if (size >= begin + 3 && code_matches(bytes + begin, size - begin, "50") &&
		 code_matches(bytes + size - 2, 2, "58 c3"))
		begin += 1;
	else
		return;
	add_depth(search, address, address + begin, 8);
	add_depth(search, address + begin, address + size - 1, 16);
	add_depth(search, address + size - 1, address + size, 8);
}

/* ---- where programs begin ---- */

static bool is_code(const struct search *search, uint64_t address)
{
	return code_view_segment(search->code, address) != NULL;
}

/*
 * The size of the entry code: up to its first call, included, as another function may follow; that
 * of glibc's dynamic linker ends with the jump to the program. 0 when it is not recognised.
 */
static size_t entry_size(const struct search *search, uint64_t entry, const uint8_t *bytes,
			 size_t size)
{
	size_t at = code_matches(bytes, size, "f3 0f 1e fa") ? 4 : 0;
	bool linker = code_matches(bytes + at, size - at, "48 89 e7 e8 ?? ?? ?? ??");

	if (!linker && !code_matches(bytes + at, size - at, "31 ed") &&
	    !code_matches(bytes + at, size - at, "48 31 ed"))
		return 0;
	for (; at + 6 <= size; at++) {
		int32_t distance;

		if (linker) {
			if (code_matches(bytes + at, size - at, "41 ff e4"))
				return at + 3;
			continue;
		}
		memcpy(&distance, bytes + at + 1, sizeof(distance));
		if (bytes[at] == 0xe8 &&
		    is_code(search, entry + at + 5 + (uint64_t)(int64_t)distance))
			return at + 5;
		if (code_matches(bytes + at, size - at, "ff 15"))
			return at + 6;
	}
	return 0;
}

static void find_entry(struct search *search)
{
	uint64_t entry = search->code->elf->entry;
	uint8_t bytes[ENTRY_SIZE];
	size_t size = code_view_read(search->code, entry, bytes, sizeof(bytes));

	if (!size) /* the file ends before */
		for (size = sizeof(bytes) - 1; size > 8; size--)
			if (code_view_read(search->code, entry, bytes, size) == size)
				break;
	size = entry_size(search, entry, bytes, size);
	if (size)
		add_kind(search, entry, entry + size, WIRE_RA_ENTRY);
}

/* ---- musl, whose assembly is built without CFI ---- */

#define MUSL_CLONE                                                                                 \
	"31 c0 b0 38 49 89 fb 48 89 d7 4c 89 c2 4d 89 c8 4c 8b 54 24 08 4d 89 d9 48 83 e6 f0 "     \
	"48 83 ee 08 48 89 0e 0f 05 85 c0 75 0f 31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4 c3"
#define MUSL_CLONE_CHILD 0x29 /* the first instruction after the system call */
#define MUSL_CLONE_RET	 0x38
/* exit(main(argc, argv, envp)) of libc_start_main_stage2, which does not return. */
#define MUSL_MAIN      "89 ?? 4c 89 ?? 4c 89 ?? ff ?? 89 c7 e8 ?? ?? ?? ??"
#define MUSL_MAIN_CALL 8 /* the call of main in it */
#define MUSL_MAIN_END  17
#define MUSL_VFORK     "5a b8 3a 00 00 00 0f 05 52 48 89 c7 e9"

static bool calls_main(const struct search *search, uint64_t address, const uint8_t *code,
		       size_t left)
{
	int32_t distance;

	if (!code_matches(code, left, MUSL_MAIN) || (code[MUSL_MAIN_CALL + 1] & 0xf8) != 0xd0)
		return false;
	memcpy(&distance, code + MUSL_MAIN_END - sizeof(distance), sizeof(distance));
	return is_code(search, address + MUSL_MAIN_END + (uint64_t)(int64_t)distance);
}

static void find_stubs(struct search *search, uint64_t begin, const uint8_t *bytes, size_t size)
{
	const struct wire_rule vfork = { .cfa = WIRE_CFA_SP, .ra = WIRE_RA_REG, .reg = 1 };

	for (size_t at = 0; at < size; at++) {
		uint64_t address = begin + at;
		const uint8_t *code = bytes + at;

		if (*code == 0x48 && code_matches(code, size - at, CODE_SIGNAL_RETURN)) {
			/* A walk looks up the byte before a return address. */
			add_kind(search, at ? address - 1 : address, address + 9, WIRE_RA_SIGNAL);
		} else if (*code == 0x31 && code_matches(code, size - at, MUSL_CLONE)) {
			add_depth(search, address, address + MUSL_CLONE_CHILD, 8);
			add_kind(search, address + MUSL_CLONE_CHILD, address + MUSL_CLONE_RET,
				 WIRE_RA_ENTRY);
			add_depth(search, address + MUSL_CLONE_RET, address + MUSL_CLONE_RET + 1,
				  8);
		} else if (*code == 0x89 && calls_main(search, address, code, size - at)) {
			add_kind(search, address + MUSL_MAIN_CALL, address + MUSL_MAIN_END,
				 WIRE_RA_ENTRY);
		} else if (*code == 0x5a && code_matches(code, size - at, MUSL_VFORK)) {
			add_depth(search, address, address + 1, 8);
			add(search, address + 1, address + 9, &vfork);
			add_depth(search, address + 9, address + 17, 8);
		}
	}
}

/* Searches the gaps between known ranges. */
static void scan_segment(struct search *search, const struct code_segment *segment, size_t *left)
{
	const struct code_ranges *known = search->known;
	uint32_t i = code_ranges_above(known, (uint32_t)segment->begin);
	uint64_t begin = segment->begin;

	while (begin < segment->end && *left && !search->result) {
		uint64_t end = i < known->n ? known->ranges[i].begin : segment->end;
		own(own_free) uint8_t *bytes = NULL;
		size_t size;

		if (end > segment->end)
			end = segment->end;
		size = end > begin ? end - begin : 0;
		if (size > *left)
			size = *left;
		/* The shortest pattern has nine bytes; shorter gaps are padding. */
		if (size >= 9) {
			bytes = malloc(size);
			if (!bytes) {
				search->result = -ENOMEM;
				return;
			}
			size = code_view_read(search->code, begin, bytes, size);
			find_stubs(search, begin, bytes, size);
			*left -= size;
		}
		if (i == known->n)
			return;
		begin = known->ranges[i++].end;
	}
}

int code_stubs_find(const struct code_view *code, const struct code_ranges *known,
		    struct rule_table *rules, struct code_ranges *ranges)
{
	static const char *const plts[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct search search = { .code = code, .known = known, .rules = rules, .ranges = ranges };
	const struct elf_file *elf = code->elf;
	const struct elf_section *section;
	size_t left = MAX_SCAN;

	for (uint32_t i = 0; i < sizeof(plts) / sizeof(plts[0]); i++) {
		section = elf_file_section(elf, plts[i]);
		if (section && section->address <= UINT32_MAX &&
		    !code_ranges_cover(known, (uint32_t)section->address))
			find_plt(&search, section);
	}
	section = elf_file_section(elf, ".init");
	if (section)
		find_crt(&search, section);
	section = elf_file_section(elf, ".fini");
	if (section)
		find_crt(&search, section);
	/* If the entry point has no CFI, other assembly may have none either. */
	if (is_code(&search, elf->entry) && !code_ranges_cover(known, (uint32_t)elf->entry)) {
		find_entry(&search);
		for (uint32_t i = 0; i < code->n; i++)
			scan_segment(&search, &code->segments[i], &left);
	}
	return search.result;
}
