// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPython's description of itself, as three versions lay it out and as no version may: reports like
 * "since the new Python my functions are gone", and forged files.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "interpreters/python_description.h"

#define ADDRESS	    0x10000u
#define RUNTIME	    (ADDRESS + 0x400u)
#define CODE_TYPE   (ADDRESS + 0x1000u)
#define STRING_TYPE (ADDRESS + 0x1100u)
#define N_WORDS	    128

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint8_t bytes[0x2000];
};

static struct file file;

static uint64_t *word(uint64_t address)
{
	return (uint64_t *)(void *)((uint8_t *)&file + (address - ADDRESS));
}

/* A file with one segment, and the sizes of two types' objects behind the heads of the types. */
static void make_file(uint64_t head, uint64_t code_size, uint64_t string_size)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_machine = EM_X86_64;
	file.header.e_phoff = sizeof(file.header);
	file.header.e_phnum = 1;
	file.header.e_phentsize = sizeof(file.segment);
	file.segment =
		(Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof(file) };
	*word(CODE_TYPE + head + 16) = code_size;
	*word(STRING_TYPE + head + 16) = string_size;
}

struct layout {
	uint32_t version;
	uint32_t thread, frame, code, head, string; /* places of groups: bytes */
	uint64_t owner, bytes, thread_size, frame_size;
};

/* Where Debian's builds have the groups, and what these say. */
static const struct layout layouts[] = {
	{ 0x030d05f0, 152, 224, 272, 352, 536, 70, 200, 304, 80 },
	{ 0x030e0af0, 176, 248, 312, 400, 616, 74, 208, 320, 88 },
	{ 0x030f02f0, 176, 312, 376, 464, 712, 74, 208, 336, 88 },
};

static void put(uint32_t at, const uint64_t *words, size_t n)
{
	memcpy(word(RUNTIME + at), words, n * sizeof(*words));
}

static void make(const struct layout *is)
{
	make_file(16, is->bytes, 64);
	memcpy(word(RUNTIME), "xdebugpy", 8);
	*word(RUNTIME + 8) = is->version;
	put(is->thread, (const uint64_t[]){ is->thread_size, 0, 8, 16, 72 }, 5);
	put(is->frame,
	    (const uint64_t[]){ is->frame_size, 8, 0, 56, is->frame_size - 8, is->owner }, 6);
	put(is->code,
	    (const uint64_t[]){ is->bytes + 8, 112, 120, 128, 136, 68, 52, 96, 104, is->bytes },
	    10);
	put(is->head, (const uint64_t[]){ 16, 8 }, 2);
	put(is->string, (const uint64_t[]){ 64, 32, 16, 40 }, 4);
}

static int read_it(struct python_description *ret)
{
	struct elf_file *elf = NULL;
	int r;

	assert_int_equal(elf_file_open_memory(&file, sizeof(file), &elf), 0);
	r = python_description_read(elf, RUNTIME, CODE_TYPE, STRING_TYPE, ret);
	elf_file_close(elf);
	return r;
}

static void versions_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct python_description is;

		make(&layouts[i]);
		assert_int_equal(read_it(&is), 0);
		assert_int_equal(is.version, layouts[i].version);
		assert_false(is.free_threaded);
		assert_int_equal(is.top, 72);
		assert_int_equal(is.frame_code, 0);
		assert_int_equal(is.frame_previous, 8);
		assert_int_equal(is.frame_instruction, 56);
		assert_int_equal(is.frame_owner, layouts[i].owner);
		assert_int_equal(is.type, 8);
		assert_int_equal(is.code_file, 112);
		assert_int_equal(is.code_name, 128);
		assert_int_equal(is.code_lines, 136);
		assert_int_equal(is.code_line, 68);
		assert_int_equal(is.code_bytes, layouts[i].bytes);
		assert_int_equal(is.string_state, 32);
		assert_int_equal(is.string_length, 16);
		assert_int_equal(is.string_ascii_size, 40);
	}
}

/* A version to come: groups have moved, and members are larger. */
static void groups_may_move(void **state)
{
	const struct layout next = { 0x03100000, 240, 400, 480, 600, 880, 78, 224, 400, 96 };
	struct python_description is;

	(void)state;
	make(&next);
	assert_int_equal(read_it(&is), 0);
	assert_int_equal(is.frame_owner, 78);
	assert_int_equal(is.code_bytes, 224);
}

static void without_it_there_is_none(void **state)
{
	struct python_description is;

	(void)state;
	make(&layouts[0]);
	*word(RUNTIME) ^= 1;
	assert_int_equal(read_it(&is), -ENODATA);
}

/* Each word that is used is changed to what it cannot be: nothing, or too much, is said. */
static void what_cannot_be_is_refused(void **state)
{
	static const uint64_t wrong[] = { UINT64_MAX, 1u << 20, 300, 255 };
	const struct layout *is = &layouts[1];
	const uint32_t used[] = { is->thread,	   is->thread + 8, is->thread + 16, is->thread + 24,
				  is->thread + 32, is->frame,	   is->frame + 8,   is->frame + 16,
				  is->frame + 24,  is->frame + 40, is->code,	    is->code + 8,
				  is->code + 24,   is->code + 40,  is->code + 72,   is->head,
				  is->head + 8,	   is->string,	   is->string + 8,  is->string + 16,
				  is->string + 24 };
	struct python_description found;

	(void)state;
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
			if (wrong[j] < 400 && (used[i] == is->thread || used[i] == is->frame))
				continue; /* a size that may be */
			make(is);
			*word(RUNTIME + used[i]) = wrong[j];
			if (read_it(&found) != -EINVAL && wrong[j] < 400)
				fail_msg("%u: %u", used[i], (unsigned)wrong[j]);
			if (wrong[j] >= 400 && used[i] != is->thread && used[i] != is->frame)
				assert_int_equal(read_it(&found), -EINVAL);
		}
	}
	/* Types whose objects have impossible sizes, and a file that ends before. */
	make(is);
	*word(CODE_TYPE + 32) = 1u << 30;
	assert_int_equal(read_it(&found), -EINVAL);
	make(is);
	*word(STRING_TYPE + 32) = 8;
	assert_int_equal(read_it(&found), -EINVAL);
	make(is);
	file.segment.p_filesz = RUNTIME - ADDRESS + 8;
	assert_int_equal(read_it(&found), -ENODATA);
}

static void builds_without_the_lock_say_so(void **state)
{
	const struct layout *is = &layouts[1];
	struct python_description found;

	(void)state;
	make(is);
	make_file(32, 232, 80);
	memcpy(word(RUNTIME), "xdebugpy", 8);
	*word(RUNTIME + 8) = is->version;
	*word(RUNTIME + 16) = 1;
	put(is->thread, (const uint64_t[]){ 320, 0, 8, 16, 72 }, 5);
	put(is->frame, (const uint64_t[]){ 96, 8, 0, 56, 88, 78 }, 6);
	put(is->code, (const uint64_t[]){ 240, 128, 136, 144, 152, 84, 68, 112, 120, 232 }, 10);
	put(is->head, (const uint64_t[]){ 32, 24 }, 2);
	put(is->string, (const uint64_t[]){ 80, 48, 32, 56 }, 4);
	assert_int_equal(read_it(&found), 0);
	assert_true(found.free_threaded);
	assert_int_equal(found.type, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(groups_may_move),
		cmocka_unit_test(without_it_there_is_none),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(builds_without_the_lock_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
