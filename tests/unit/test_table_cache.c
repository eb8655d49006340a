// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache on disk: round trips, damaged files, files of others, too many files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "unwind/table_cache_internal.h"

#define CHECKSUM_AT 12

struct fixture {
	char directory[64], kept[80];
	struct table_cache *cache;
};

static int setup(void **state)
{
	struct fixture *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/test_table_cache.XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->kept, sizeof(place->kept), "%s/cache", place->directory);
	assert_int_equal(table_cache_open(place->kept, 0, &place->cache), 0);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *place = *state;
	char command[128];

	table_cache_close(place->cache);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->directory);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

/* The path of the cache's only file. */
static void only_file(const struct fixture *place, char *path)
{
	DIR *directory = opendir(place->kept);
	const struct dirent *entry;
	uint32_t n = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		snprintf(path, PATH_MAX, "%s/%s", place->kept, entry->d_name);
	}
	closedir(directory);
	assert_int_equal(n, 1);
}

struct made {
	struct rule_table *rules;
	struct unwind_rows rows;
	struct table_identity identity;
};

static void compile_path(const char *path, struct made *made)
{
	static const uint8_t id[] = { 0xab, 0xcd, 0xef };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(table_identity_read(fd, id, sizeof(id), &made->identity), 0);
	assert_int_equal(rule_table_new(&made->rules), 0);
	assert_int_equal(unwind_rows_compile(fd, made->rules, &made->rows, NULL), 0);
	close(fd);
}

/* A table of a few rows. */
static void make_small(struct made *made)
{
	struct wire_rule rule = { .cfa = WIRE_CFA_UNSUPPORTED };
	uint16_t numbers[3];

	made->identity = (struct table_identity){ .inode = 1, .build_id_size = 0 };
	assert_int_equal(rule_table_new(&made->rules), 0);
	rule.extra = RULE_UNSUPPORTED_EXPRESSION;
	numbers[0] = rule_table_add(made->rules, &rule);
	rule.extra = RULE_UNSUPPORTED_OTHER;
	numbers[1] = rule_table_add(made->rules, &rule);
	rule = (struct wire_rule){
		.cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp = WIRE_FP_REG, .fp_offset = 3
	};
	numbers[2] = rule_table_add(made->rules, &rule);
	made->rows = (struct unwind_rows){ .rows = calloc(5, sizeof(struct unwind_row)), .n = 5 };
	for (uint32_t i = 0; i < 5; i++)
		made->rows.rows[i] = (struct unwind_row){ 0x1000 + i * 16, numbers[i % 3] };
}

static void made_clear(struct made *made)
{
	unwind_rows_free(&made->rows);
	rule_table_free(made->rules);
}

/* The rows and their rules are equal; the rules' numbers may differ. */
static void assert_equal(const struct made *made, const struct rule_table *rules,
			 const struct unwind_rows *rows)
{
	uint32_t n_a, n_b;
	const struct wire_rule *a = rule_table_rules(made->rules, &n_a);
	const struct wire_rule *b = rule_table_rules(rules, &n_b);

	assert_int_equal(rows->n, made->rows.n);
	assert_memory_equal(&rows->counts, &made->rows.counts, sizeof(rows->counts));
	for (uint32_t i = 0; i < rows->n; i++) {
		assert_int_equal(rows->rows[i].address, made->rows.rows[i].address);
		assert_memory_equal(&a[made->rows.rows[i].rule], &b[rows->rows[i].rule],
				    sizeof(*a));
	}
}

static int try_load(const struct fixture *place, const struct made *made)
{
	struct rule_table *rules;
	struct unwind_rows rows;
	int r;

	assert_int_equal(rule_table_new(&rules), 0);
	r = table_cache_load(place->cache, &made->identity, rules, &rows);
	if (r == 0) {
		assert_equal(made, rules, &rows);
		unwind_rows_free(&rows);
	}
	rule_table_free(rules);
	return r;
}

static void test_round_trip(void **state)
{
	struct fixture *place = *state;
	struct made made;
	struct stat status;
	char path[PATH_MAX];

	compile_path("/lib/x86_64-linux-gnu/libc.so.6", &made);
	assert_true(made.rows.n > 10000);
	assert_int_equal(try_load(place, &made), -ENOENT);
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	only_file(place, path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	assert_int_equal(try_load(place, &made), 0);
	/* Saved again, it replaces itself. */
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	only_file(place, path);
	assert_int_equal(try_load(place, &made), 0);
	made_clear(&made);
	make_small(&made);
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	assert_int_equal(try_load(place, &made), 0);
	made_clear(&made);
}

/* No rows for another file of the same build-id, nor for the same file after a change. */
static void test_identity(void **state)
{
	struct fixture *place = *state;
	struct made made;
	struct table_identity right;

	make_small(&made);
	right = made.identity;
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	made.identity.inode++;
	assert_int_equal(try_load(place, &made), -ENOENT);
	made.identity = right;
	made.identity.changed_ns++;
	assert_int_equal(try_load(place, &made), -ENOENT);
	made.identity = right;
	made.identity.build_id_size = 1;
	assert_int_equal(try_load(place, &made), -ENOENT);
	made.identity = right;
	assert_int_equal(try_load(place, &made), 0);
	made_clear(&made);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	assert_int_equal(chmod(path, 0600), 0);
}

/* Any changed byte is found, and a damaged file is removed. */
static void test_damaged(void **state)
{
	struct fixture *place = *state;
	struct made made;
	char path[PATH_MAX];
	uint8_t *bytes;
	size_t size;

	make_small(&made);
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	only_file(place, path);
	assert_int_equal(table_cache_file_format(&made.identity, made.rules, &made.rows,
						 (void **)&bytes, &size),
			 0);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0x20;
		write_file(path, bytes, size);
		assert_int_equal(try_load(place, &made), -EBADMSG);
		assert_int_equal(access(path, F_OK), -1);
		bytes[i] ^= 0x20;
	}
	for (size_t i = 0; i < size; i += 3) {
		write_file(path, bytes, i);
		assert_int_equal(try_load(place, &made), -EBADMSG);
	}
	write_file(path, bytes, size);
	assert_int_equal(try_load(place, &made), 0);
	free(bytes);
	made_clear(&made);
}

/* Wrong content under a right checksum is refused or harmless: a short run of the fuzzer. */
static void test_hostile(void **state)
{
	struct made made;
	uint8_t *bytes;
	size_t size;
	uint32_t refused = 0;
	int file = memfd_create("table", MFD_CLOEXEC);

	(void)state;
	assert_true(file >= 0);
	make_small(&made);
	assert_int_equal(table_cache_file_format(&made.identity, made.rules, &made.rows,
						 (void **)&bytes, &size),
			 0);
	for (size_t i = 0; i < size; i++) {
		static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };

		for (uint32_t j = 0; j < sizeof(values); j++) {
			struct rule_table *rules;
			struct unwind_rows rows;
			uint8_t before = bytes[i];
			uint32_t crc = 0;

			bytes[i] = values[j];
			memcpy(bytes + CHECKSUM_AT, &crc, sizeof(crc));
			crc = (uint32_t)crc32_z(0, bytes, size);
			memcpy(bytes + CHECKSUM_AT, &crc, sizeof(crc));
			assert_int_equal(rule_table_new(&rules), 0);
			assert_int_equal(pwrite(file, bytes, size, 0), size);
			if (table_cache_file_read(file, size, &made.identity, rules, &rows) == 0)
				unwind_rows_free(&rows);
			else
				refused++;
			rule_table_free(rules);
			bytes[i] = before;
		}
	}
	assert_in_range(refused, 400, 5 * size);
	close(file);
	free(bytes);
	made_clear(&made);
}

/* Files and directories that others can write to are not used, and links are not followed. */
static void test_trust(void **state)
{
	struct fixture *place = *state;
	struct table_cache *other;
	struct made made;
	char path[PATH_MAX], away[PATH_MAX];

	make_small(&made);
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows), 0);
	only_file(place, path);
	assert_int_equal(chmod(path, 0620), 0);
	assert_int_equal(try_load(place, &made), -EBADMSG);
	assert_int_equal(chmod(path, 0602), 0);
	assert_int_equal(try_load(place, &made), -EBADMSG);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(try_load(place, &made), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(try_load(place, &made), -EBADMSG);
		assert_int_equal(chown(path, 0, 0), 0);
	}
	snprintf(away, sizeof(away), "%s/away", place->directory);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(symlink(away, path), 0);
	assert_int_equal(try_load(place, &made), -EBADMSG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(try_load(place, &made), -EBADMSG);
	assert_int_equal(unlink(path), 0);

	assert_int_equal(chmod(place->kept, 0770), 0);
	assert_int_equal(table_cache_open(place->kept, 0, &other), -EPERM);
	assert_int_equal(chmod(place->kept, 0700), 0);
	snprintf(away, sizeof(away), "%s/link", place->directory);
	assert_int_equal(symlink(place->kept, away), 0);
	assert_true(table_cache_open(away, 0, &other) < 0);
	made_clear(&made);
}

static uint64_t total(const struct fixture *place, uint32_t *ret_n)
{
	DIR *directory = opendir(place->kept);
	const struct dirent *entry;
	uint64_t bytes = 0;

	*ret_n = 0;
	while ((entry = readdir(directory))) {
		struct stat status;

		if (entry->d_name[0] == '.')
			continue;
		assert_int_equal(fstatat(dirfd(directory), entry->d_name, &status, 0), 0);
		bytes += (uint64_t)status.st_size;
		++*ret_n;
	}
	closedir(directory);
	return bytes;
}

/* The files stay within the limit; the ones used last are kept. */
static void test_limit(void **state)
{
	struct fixture *place = *state;
	struct made made;
	void *bytes;
	size_t size;
	uint32_t n;

	make_small(&made);
	assert_int_equal(table_cache_file_format(&made.identity, made.rules, &made.rows, &bytes,
						 &size),
			 0);
	free(bytes);
	table_cache_close(place->cache);
	assert_int_equal(table_cache_open(place->kept, 10 * size, &place->cache), 0);
	for (uint32_t i = 1; i <= 100; i++) {
		made.identity.inode = i;
		assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules,
						  &made.rows),
				 0);
		assert_true(total(place, &n) <= 10 * size);
		assert_true(n >= 7 || n == i);
		assert_int_equal(try_load(place, &made), 0);
	}
	made.identity.inode = 1;
	assert_int_equal(try_load(place, &made), -ENOENT);
	table_cache_close(place->cache);
	assert_int_equal(table_cache_open(place->kept, size - 1, &place->cache), 0);
	assert_int_equal(table_cache_save(place->cache, &made.identity, made.rules, &made.rows),
			 -EFBIG);
	made_clear(&made);
}

static void test_place(void **state)
{
	char path[64];

	(void)state;
	setenv("XDG_CACHE_HOME", "/somewhere", 1);
	table_cache_place(path, sizeof(path));
	assert_string_equal(path, "/somewhere/stacktally");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "/home/me", 1);
	table_cache_place(path, sizeof(path));
	assert_string_equal(path, geteuid() == 0 ? "/var/cache/stacktally"
						 : "/home/me/.cache/stacktally");
	table_cache_place(path, 10);
	assert_string_equal(path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trust, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
