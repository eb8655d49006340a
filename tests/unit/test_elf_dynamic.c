// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the dynamic linker finds in files: without section headers, the tables are those that the
 * headers described; symbols are found by its hash tables. Reports of programs that export
 * functions and have no names, and of interpreters in files of any name.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_exports.h"
#include "elf/elf_file.h"
#include "elf/export_lookup.h"

#define LIBRARY "/lib/x86_64-linux-gnu/libc.so.6"

static uint8_t *bytes;
static size_t n_bytes;

static int load(void **state)
{
	int fd = open(LIBRARY, O_RDONLY | O_CLOEXEC);
	struct stat status;

	(void)state;
	if (fd < 0 || fstat(fd, &status))
		return -1;
	n_bytes = (size_t)status.st_size;
	bytes = malloc(n_bytes);
	if (!bytes || read(fd, bytes, n_bytes) != (ssize_t)n_bytes)
		return -1;
	return close(fd);
}

static int unload(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

static struct elf_section section_of(const char *name)
{
	struct elf_file *elf = NULL;
	const struct elf_section *section;
	struct elf_section is = { 0 };

	assert_int_equal(elf_file_open_memory(bytes, n_bytes, &elf), 0);
	section = elf_file_section(elf, name);
	if (section)
		is = *section;
	elf_file_close(elf);
	return is;
}

static void remove_headers(void)
{
	Elf64_Ehdr *header = (void *)bytes;

	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
}

/* Gives a tag of PT_DYNAMIC another number, one that nobody knows. */
static void hide_tag(int64_t tag)
{
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++) {
		Elf64_Dyn *tags = (void *)(bytes + segments[i].p_offset);

		if (segments[i].p_type != PT_DYNAMIC)
			continue;
		for (size_t j = 0; j < segments[i].p_filesz / sizeof(*tags); j++) {
			if (tags[j].d_tag == tag)
				tags[j].d_tag = 0x60000123;
		}
	}
}

static void same_place(const struct elf_section *is, const struct elf_section *was)
{
	assert_int_equal(is->type, was->type);
	assert_int_equal(is->address, was->address);
	assert_int_equal(is->offset, was->offset);
	assert_int_equal(is->size, was->size);
}

static void tables_are_found(void **state)
{
	struct elf_section symbols = section_of(".dynsym"), strings = section_of(".dynstr");
	struct elf_section slots = section_of(".rela.plt"), is;

	(void)state;
	assert_true(symbols.size > 1000);
	remove_headers();
	is = section_of(".dynsym");
	same_place(&is, &symbols);
	is = section_of(".dynstr");
	same_place(&is, &strings);
	is = section_of(".rela.plt");
	same_place(&is, &slots);
	hide_tag(DT_HASH);
	is = section_of(".dynsym");
	same_place(&is, &symbols);
	hide_tag(DT_GNU_HASH);
	assert_int_equal(section_of(".dynsym").size, 0);
}

/* ---- symbols by hash tables ---- */

/* Whether it is found; if so, with its address and size. */
static bool has(const char *name)
{
	struct elf_export export = { .name = name };
	struct elf_file *elf = NULL;
	struct export_lookup lookup;
	Elf64_Sym symbol;
	bool found;

	assert_int_equal(elf_file_open_memory(bytes, n_bytes, &elf), 0);
	export_lookup_open(&lookup, elf);
	found = export_lookup_has(&lookup, name);
	if (found) {
		assert_true(export_lookup_find(&lookup, name, &symbol));
		assert_int_equal(elf_exports_find(elf, &export, 1), 0);
		assert_int_equal(export.address, symbol.st_value);
		assert_int_equal(export.size, symbol.st_size);
		/* One without an address, such as a version's, is as good as none. */
		assert_int_equal(elf_exports_look_up(elf, &export, 1, 1), !symbol.st_value);
		assert_int_equal(export.address, symbol.st_value);
	} else {
		assert_int_equal(elf_exports_look_up(elf, &export, 1, 1), 1);
		assert_int_equal(elf_exports_look_up(elf, &export, 1, 0), 0);
	}
	elf_file_close(elf);
	return found;
}

/* Looks up each symbol of .dynsym, and a longer name. Returns how many are defined. */
static uint32_t look_up_all(struct elf_section symbols, struct elf_section strings)
{
	const Elf64_Sym *all = (const void *)(bytes + symbols.offset);
	uint32_t n = 0;

	for (size_t i = 1; i < symbols.size / sizeof(*all); i++) {
		const char *name = (const char *)bytes + strings.offset + all[i].st_name;
		char longer[160];

		if (strlen(name) > 126)
			continue;
		snprintf(longer, sizeof(longer), "%s_", name);
		if (all[i].st_shndx != SHN_UNDEF && !has(name))
			fail_msg("%s is not found", name);
		if (all[i].st_shndx == SHN_UNDEF && has(name))
			fail_msg("%s is not defined", name);
		if (i % 64 == 0 && has(longer))
			fail_msg("%s is found", longer);
		n += all[i].st_shndx != SHN_UNDEF;
	}
	return n;
}

static void symbols_are_found(void **state)
{
	struct elf_section symbols = section_of(".dynsym"), strings = section_of(".dynstr");

	(void)state;
	assert_true(look_up_all(symbols, strings) > 1000);
	hide_tag(DT_GNU_HASH); /* Debian's libc has both tables */
	assert_true(look_up_all(symbols, strings) > 1000);
	hide_tag(DT_HASH);
	assert_false(has("malloc"));
}

/* Chains without an end, tables without buckets and far too large ones: it ends. */
static void forged_tables_end(void **state)
{
	struct elf_section table = section_of(".gnu.hash"), old = section_of(".hash");
	uint32_t *words = (uint32_t *)(void *)(bytes + table.offset), n_buckets = words[0];
	size_t chains = 4 + 2 * (size_t)words[2] + n_buckets;

	(void)state;
	assert_true(has("malloc"));
	memset(words + 4, 0xff, 8 * (size_t)words[2]);
	for (size_t i = chains; i < table.size / sizeof(*words); i++)
		words[i] = 2;
	assert_false(has("malloc"));
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t kept = words[i];

		words[i] = UINT32_MAX;
		assert_false(has("malloc"));
		words[i] = 0;
		has("malloc"); /* without a filter, by the other table */
		words[i] = kept;
	}
	hide_tag(DT_GNU_HASH);
	assert_true(has("malloc"));
	words = (uint32_t *)(void *)(bytes + old.offset);
	for (size_t i = 2; i < old.size / sizeof(*words); i++)
		words[i] = 1; /* a circle */
	assert_false(has("malloc"));
	words[0] = 0;
	assert_false(has("malloc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tables_are_found, load, unload),
		cmocka_unit_test_setup_teardown(symbols_are_found, load, unload),
		cmocka_unit_test_setup_teardown(forged_tables_end, load, unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
