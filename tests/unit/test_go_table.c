// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of .gopclntab: looks up the same two functions in each layout, in a file and in
 * memory.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/go_symbols.h"
#include "elf/go_table.h"

#define TEXT	   0x1000u
#define FIRST	   (TEXT + 0x40)
#define SECOND	   (TEXT + 0x80)
#define END	   (TEXT + 0x100)
#define NAMES	   0x80u
#define VALUES	   0xc0u
#define FUNCTIONS  0x100u
#define RECORDS	   0x80u /* behind FUNCTIONS */
#define RECORD	   0x40u /* from one to the next */
#define TABLE_SIZE (FUNCTIONS + RECORDS + 2 * RECORD)

/* 0 for 4 bytes, 24 for 50, -8 for 6, 0 for 4. */
static const uint8_t depths[] = { 2, 4, 48, 50, 63, 6, 16, 4, 0 };

struct layout {
	uint32_t magic;
	uint8_t pointer_size, quantum;
	bool text_left_out;
};

static const struct layout layouts[] = {
	{ 0xfffffffb, 8, 1, false }, { 0xfffffffb, 4, 1, false }, { 0xfffffffa, 8, 1, false },
	{ 0xfffffffa, 4, 1, false }, { 0xfffffff0, 8, 1, false }, { 0xfffffff1, 8, 1, false },
	{ 0xfffffff1, 4, 1, false }, { 0xfffffff1, 8, 1, true },  { 0xfffffff1, 8, 4, false },
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

struct file {
	uint8_t bytes[TABLE_SIZE];
	struct elf_section sections[3];
	struct elf_file elf;
};

static void put(struct file *file, size_t at, uint64_t value, size_t size)
{
	memcpy(file->bytes + at, &value, size);
}

static void forge(struct file *file, const struct layout *layout)
{
	static char section_names[] = "\0.gopclntab\0.text";
	const bool old = layout->magic == 0xfffffffb, offsets = layout->magic < 0xfffffff8;
	const size_t word = layout->pointer_size, entry = offsets ? 4 : word;
	const uint64_t names = old ? 0 : NAMES, values = old ? 0 : VALUES;
	const uint64_t functions = old ? 0 : FUNCTIONS, text = offsets ? TEXT : 0;
	size_t index = old ? 8 + word : FUNCTIONS;

	*file = (struct file){
		.sections = {
			{ 0 },
			{ .name = 1, .type = SHT_PROGBITS, .size = TABLE_SIZE },
			{ .name = 12, .type = SHT_PROGBITS, .size = 0x100, .address = TEXT },
		},
		.elf = {
			.fd = -1,
			.bytes = file->bytes,
			.size = TABLE_SIZE,
			.is_64 = true,
			.sections = file->sections,
			.n_sections = 3,
			.section_names = section_names,
			.section_names_size = sizeof(section_names),
		},
	};
	put(file, 0, layout->magic, 4);
	put(file, 6, layout->quantum, 1);
	put(file, 7, word, 1);
	put(file, 8, 2, word);
	if (offsets) {
		put(file, 8 + 2 * word, layout->text_left_out ? 0 : TEXT, word);
		put(file, 8 + 3 * word, NAMES, word);
		put(file, 8 + 6 * word, VALUES, word);
		put(file, 8 + 7 * word, FUNCTIONS, word);
	} else if (!old) {
		put(file, 8 + 2 * word, NAMES, word);
		put(file, 8 + 5 * word, VALUES, word);
		put(file, 8 + 6 * word, FUNCTIONS, word);
	}
	memcpy(file->bytes + NAMES + 1, "main.first\0main.second", 23);
	memcpy(file->bytes + VALUES + 1, depths, sizeof(depths));
	put(file, index, FIRST - text, entry);
	put(file, index + entry, FUNCTIONS + RECORDS - functions, entry);
	put(file, index + 2 * entry, SECOND - text, entry);
	put(file, index + 3 * entry, FUNCTIONS + RECORDS + RECORD - functions, entry);
	put(file, index + 4 * entry, END - text, entry);
	put(file, FUNCTIONS + RECORDS + entry, NAMES + 1 - names, 4);
	put(file, FUNCTIONS + RECORDS + entry + 12, VALUES + 1 - values, 4);
	put(file, FUNCTIONS + RECORDS + RECORD + entry, NAMES + 12 - names, 4);
}

static void check_functions(const struct go_table *table)
{
	struct go_function first, second;
	uint64_t address;
	char name[32];

	assert_int_equal(table->n_functions, 2);
	assert_true(go_table_function(table, 0, &first));
	assert_true(go_table_function(table, 1, &second));
	assert_int_equal(first.begin, FIRST);
	assert_int_equal(first.end, SECOND);
	assert_int_equal(second.begin, SECOND);
	assert_int_equal(second.end, END);
	assert_int_equal(first.depths, VALUES + 1);
	assert_int_equal(second.depths, 0);
	assert_int_equal(go_table_name(table, &first, name, sizeof(name)), 10);
	assert_string_equal(name, "main.first");
	assert_int_equal(go_table_name(table, &second, name, sizeof(name)), 11);
	assert_string_equal(name, "main.second");
	assert_int_equal(go_table_name(table, &second, name, 6), 5);
	assert_string_equal(name, "main.");
	assert_true(go_table_address(table, 2, &address));
	assert_int_equal(address, END);
	assert_false(go_table_address(table, 1000, &address));
	assert_false(go_table_function(table, 1000, &first));
}

static void reads_every_layout(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct go_table table;
		struct file file;

		forge(&file, &layouts[i]);
		assert_int_equal(go_table_open(&file.elf, &table), 0);
		check_functions(&table);
		assert_int_equal(go_table_load(&table), 0);
		check_functions(&table);
		go_table_close(&table);
	}
}

static void tells_depths(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		const struct {
			uint64_t size;
			int64_t depth;
		} pieces[] = { { 4, 0 }, { 50, 24 }, { 6, -8 }, { 4, 0 } };
		struct go_function function;
		struct go_table table;
		struct go_depth depth;
		uint64_t at = FIRST;
		struct file file;

		forge(&file, &layouts[i]);
		assert_int_equal(go_table_open(&file.elf, &table), 0);
		assert_int_equal(go_table_load(&table), 0);
		assert_true(go_table_function(&table, 0, &function));
		go_depth_begin(&table, &function, &depth);
		for (size_t k = 0; k < 4; k++) {
			assert_true(go_depth_next(&depth));
			assert_int_equal(depth.begin, at);
			at += pieces[k].size * layouts[i].quantum;
			assert_int_equal(depth.end, at);
			assert_int_equal(depth.depth, pieces[k].depth);
		}
		assert_false(go_depth_next(&depth));
		assert_false(depth.bytes.failed);
		assert_true(go_table_function(&table, 1, &function));
		go_depth_begin(&table, &function, &depth);
		assert_false(go_depth_next(&depth));
		go_table_close(&table);
	}
}

static void names_addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct symbol_query queries[] = {
			{ .address = FIRST - 1 }, { .address = FIRST },
			{ .address = FIRST + 9 }, { .address = SECOND - 1 },
			{ .address = SECOND },	  { .address = SECOND + 1, .name = "known" },
			{ .address = END - 1 },	  { .address = END },
		};
		struct pool *pool = NULL;
		struct file file;

		forge(&file, &layouts[i]);
		assert_int_equal(pool_new(&pool), 0);
		assert_int_equal(go_symbols_find(&file.elf, queries, 8, pool), 0);
		assert_null(queries[0].name);
		for (size_t k = 1; k < 4; k++) {
			assert_string_equal(queries[k].name, "main.first");
			assert_int_equal(queries[k].start, FIRST);
		}
		assert_string_equal(queries[4].name, "main.second");
		assert_string_equal(queries[5].name, "known");
		assert_string_equal(queries[6].name, "main.second");
		assert_int_equal(queries[6].start, SECOND);
		assert_null(queries[7].name);
		pool_free(pool);
	}
}

static void refuses(struct file *file, size_t at, uint64_t value, size_t size)
{
	struct file damaged = *file;
	struct go_table table;

	damaged.elf.bytes = damaged.bytes;
	damaged.elf.sections = damaged.sections;
	put(&damaged, at, value, size);
	assert_int_equal(go_table_open(&damaged.elf, &table), -EBADMSG);
}

static void refuses_damage(void **state)
{
	struct go_table table;
	struct file file;

	(void)state;
	forge(&file, &layouts[5]);
	refuses(&file, 0, 0xfffffff2, 4);
	refuses(&file, 4, 1, 1);
	refuses(&file, 6, 0, 1);
	refuses(&file, 7, 5, 1);
	refuses(&file, 8, 0, 8);
	refuses(&file, 8, GO_TABLE_MAX_FUNCTIONS + 1, 8);
	refuses(&file, 8 + 3 * 8, TABLE_SIZE, 8);
	refuses(&file, 8 + 6 * 8, TABLE_SIZE, 8);
	refuses(&file, 8 + 7 * 8, TABLE_SIZE, 8);
	file.sections[1].size = 30;
	assert_int_equal(go_table_open(&file.elf, &table), -EBADMSG);
	file.sections[1].name = 0;
	assert_int_equal(go_table_open(&file.elf, &table), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_layout),
		cmocka_unit_test(tells_depths),
		cmocka_unit_test(names_addresses),
		cmocka_unit_test(refuses_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
