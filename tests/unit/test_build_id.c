// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Build-ids: among notes in memory, and in files as both readers see them.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "built_files.h"
#include "elf/build_id.h"

struct notes {
	uint8_t bytes[512];
	size_t n;
};

static void put_note(struct notes *notes, uint32_t type, const char *owner, uint8_t first,
		     uint32_t size)
{
	const Elf64_Nhdr note = { .n_namesz = (uint32_t)strlen(owner) + 1,
				  .n_descsz = size,
				  .n_type = type };

	memcpy(notes->bytes + notes->n, &note, sizeof(note));
	notes->n += sizeof(note);
	memcpy(notes->bytes + notes->n, owner, note.n_namesz);
	notes->n += (note.n_namesz + 3) & ~3u;
	for (uint32_t i = 0; i < size; i++)
		notes->bytes[notes->n + i] = (uint8_t)(first + i);
	notes->n += (size + 3) & ~3u;
}

/* Returns the size of the id, whose bytes are `first`, `first` + 1 ... */
static uint32_t find(const struct notes *notes, uint32_t capacity, uint8_t first)
{
	uint8_t id[64] = { 0 };
	uint32_t size = build_id_in_notes(notes->bytes, notes->n, id, capacity);

	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(id[i], first + i);
	for (uint32_t i = size; i < sizeof(id); i++)
		assert_int_equal(id[i], 0);
	return size;
}

static void is_whole_or_none(void **state)
{
	(void)state;
	for (uint32_t size = 0; size <= 64; size++) {
		struct notes notes = { 0 };

		put_note(&notes, NT_GNU_BUILD_ID, "GNU", 7, size);
		assert_int_equal(find(&notes, 20, 7), size <= 20 ? size : 0);
		assert_int_equal(find(&notes, 64, 7), size);
		notes.n--;
		assert_int_equal(find(&notes, 64, 7), size % 4 ? size : 0);
	}
}

static void is_found_among_others(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	assert_int_equal(find(&notes, 20, 0), 0);
	put_note(&notes, NT_GNU_ABI_TAG, "GNU", 1, 16);
	put_note(&notes, NT_GNU_BUILD_ID, "Go", 2, 20);
	put_note(&notes, NT_GNU_BUILD_ID, "GNUs", 3, 5);
	put_note(&notes, NT_GNU_BUILD_ID, "GNU", 4, 32);
	assert_int_equal(find(&notes, 20, 0), 0);
	assert_int_equal(find(&notes, 32, 4), 32);
	put_note(&notes, NT_GNU_BUILD_ID, "GNU", 5, 17);
	assert_int_equal(find(&notes, 20, 5), 17);
	/* A note with a wrong size ends the search. */
	memset(notes.bytes + 4, 0xff, 4);
	assert_int_equal(find(&notes, 20, 0), 0);
}

/* Both readers find `size` bytes, those of `hex`. */
static void check_file(const char *path, const char *hex, uint32_t size)
{
	uint8_t id[64], same[BUILD_ID_MAX];
	int fd = built_open(path);
	struct elf_file *elf = NULL;
	char said[129] = "";

	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(build_id_of(elf, id, sizeof(id)), size);
	for (uint32_t i = 0; i < size; i++)
		snprintf(said + 2 * i, 3, "%02x", id[i]);
	assert_string_equal(said, hex);
	assert_int_equal(build_id_of(elf, same, sizeof(same)), size <= 20 ? size : 0);
	assert_int_equal(build_id_read(fd, same), size <= 20 ? size : 0);
	if (size <= 20)
		assert_memory_equal(same, id, size);
	elf_file_close(elf);
	close(fd);
}

#define FOUR   "00112233"
#define TWENTY FOUR FOUR FOUR FOUR FOUR

static void is_read_from_files(void **state)
{
	uint8_t id[BUILD_ID_MAX];
	int fd;

	(void)state;
	built_write("a.c", "int main(void) { return 0; }\n");
	assert_true(built_run("for id in " FOUR " " TWENTY " " TWENTY "44; do "
			      "gcc -Wl,--build-id=0x$id a.c -o with_$id || exit 1; done && "
			      "gcc -Wl,--build-id=none a.c -o without && "
			      "objcopy --only-keep-debug with_" TWENTY " debug"));
	check_file("with_" FOUR, FOUR, 4);
	check_file("with_" TWENTY, TWENTY, 20);
	check_file("with_" TWENTY "44", TWENTY "44", 21);
	check_file("without", "", 0);
	fd = built_open("a.c");
	assert_int_equal(build_id_read(fd, id), -ENOEXEC);
	close(fd);
}

/* Debug files have notes in sections; those of segments are gone. */
static void is_read_from_sections(void **state)
{
	uint8_t id[BUILD_ID_MAX];
	struct elf_file *elf = NULL;
	int fd = built_open("debug");

	(void)state;
	assert_int_equal(elf_file_open(fd, &elf), 0);
	free(elf->segments);
	elf->segments = NULL;
	elf->n_segments = 0;
	assert_int_equal(build_id_of(elf, id, sizeof(id)), 20);
	assert_memory_equal(id, "\x00\x11\x22\x33\x00\x11", 6);
	elf_file_close(elf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_whole_or_none),
		cmocka_unit_test(is_found_among_others),
		cmocka_unit_test(is_read_from_files),
		cmocka_unit_test(is_read_from_sections),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
