// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Out of memory: whichever allocation of a part fails, the part returns -ENOMEM and frees all it
 * had, and the next call works.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "built_files.h"
#include "cfi/unwind_rows.h"
#include "failing_memory.h"
#include "forged_elf.h"
#include "kernel/kallsyms.h"
#include "process/images.h"
#include "recording/recording.h"
#include "symbolize/answers.h"
#include "symbolize/file_reader.h"
#include "symbolize/symbolizer.h"
#include "tally/tally.h"

/*
 * Runs `part` once for each of its allocations, which fails, and once without a failure. It must
 * make `least` allocations; up to `spare` of them may fail without an error.
 */
static void each_allocation_fails(int (*part)(void *context), void *context, uint64_t least,
				  uint64_t spare)
{
	uint64_t spared = 0;

	for (uint64_t n = 0;; n++) {
		int r;

		memory_fails_after(n);
		r = part(context);
		if (!memory_is_back()) {
			assert_int_equal(r, 0);
			assert_true(n >= least && spared <= spare);
			return;
		}
		if (r == 0)
			spared++;
		else
			assert_int_equal(r, -ENOMEM);
	}
}

static int count_many(void *context)
{
	struct tally *tally = NULL;
	uint32_t frames[1], id;
	int r = tally_new(0, 0, &tally);

	(void)context;
	for (uint32_t i = 0; !r && i < 600; i++) {
		struct tally_address address = { .address = i };
		struct tally_entry entry = { .count = 1, .tgid = i };

		r = tally_address(tally, &address, &frames[0]);
		if (!r)
			r = tally_stack(tally, frames, 1, 0, &id);
		if (!r)
			r = tally_add(tally, &entry);
	}
	tally_free(tally);
	return r;
}

static void a_tally(void **state)
{
	(void)state;
	each_allocation_fails(count_many, NULL, 20, 0);
}

static int open_recording(void)
{
	int fd = open("tests/golden/recordings/profile.stacktally", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int load_one(void *context)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	int fd = open_recording(), r;

	(void)context;
	r = recording_load(fd, "x", &recording, &err);
	close(fd);
	if (r < 0) {
		assert_null(recording);
		assert_non_null(strstr(err.text, "x: out of memory"));
	}
	recording_free(recording);
	return r;
}

static void loading_a_recording(void **state)
{
	(void)state;
	each_allocation_fails(load_one, NULL, 15, 0);
}

struct saved {
	struct recording *recording;
	FILE *out;
};

static int save_one(void *context)
{
	const struct saved *saved = context;
	const struct recording *recording = saved->recording;
	struct error err = { 0 };
	int r;

	rewind(saved->out);
	r = recording_save(saved->out, &recording->meta, recording->tally, recording->names, NULL,
			   &err);
	if (r < 0)
		assert_non_null(strstr(err.text, "cannot save a recording: "));
	return r;
}

static void saving_a_recording(void **state)
{
	static char bytes[1 << 16], buffer[BUFSIZ];
	struct saved saved = { .out = fmemopen(bytes, sizeof(bytes), "w") };
	struct error err = { 0 };
	int fd = open_recording();

	(void)state;
	assert_non_null(saved.out);
	setvbuf(saved.out, buffer, _IOFBF, sizeof(buffer));
	assert_int_equal(recording_load(fd, "x", &saved.recording, &err), 0);
	close(fd);
	each_allocation_fails(save_one, &saved, 3, 0);
	fclose(saved.out);
	recording_free(saved.recording);
}

static int read_kallsyms(void *context)
{
	struct kallsyms *kallsyms = NULL;
	int fd = *(int *)context, r;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = kallsyms_read(fd, -1, &kallsyms);
	if (r)
		assert_null(kallsyms);
	kallsyms_free(kallsyms);
	return r;
}

static void reading_kallsyms(void **state)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	(void)state;
	for (unsigned int i = 1; i <= 40000; i++)
		dprintf(fd, "%016x T a_function_of_the_kernel_%u\t[module%u]\n", i * 16, i,
			i / 8000);
	each_allocation_fails(read_kallsyms, &fd, 8, 0);
	close(fd);
}

static struct forged elf;

static int compile_rows(void *context)
{
	struct rule_table *table = NULL;
	struct unwind_rows rows = { 0 };
	struct error err = { 0 };
	int r = rule_table_new(&table);

	if (!r)
		r = unwind_rows_compile_memory(elf.bytes, *(size_t *)context, table, &rows, &err);
	if (!r)
		assert_int_equal(rows.n, 301 * 2);
	else
		assert_int_equal(rows.n, 0);
	unwind_rows_free(&rows);
	rule_table_free(table);
	return r;
}

static void compiling_rows(void **state)
{
	uint32_t of;
	size_t size;

	(void)state;
	/* zR with absolute addresses of four bytes; 300 FDEs, the first of which come last. */
	for (int i = 0; i < 70; i++) {
		of = begin_entry(&elf);
		put_u32(&elf, 0);
		put(&elf, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1);
		end_entry(&elf);
	}
	for (uint32_t i = 0; i < 301; i++) {
		begin_entry(&elf);
		put_u32(&elf, (uint32_t)elf.n - of);
		put_u32(&elf, 0x1ff0 - i * 8);
		put_u32(&elf, 4);
		put(&elf, 0);
		end_entry(&elf);
	}
	size = finish_elf(&elf, ".eh_frame");
	each_allocation_fails(compile_rows, &size, 15, 0);
}

static int compile_program(void *context)
{
	struct rule_table *table = NULL;
	struct unwind_rows rows = { 0 };
	struct error err = { 0 };
	own(own_fd) int fd = built_open("whole");
	uint32_t *n_rows = context;
	int r = rule_table_new(&table);

	if (!r)
		r = unwind_rows_compile(fd, table, &rows, &err);
	if (!r && !*n_rows)
		*n_rows = rows.n;
	/* No rows, or all of them. */
	assert_int_equal(rows.n, r < 0 ? 0 : *n_rows);
	unwind_rows_free(&rows);
	rule_table_free(table);
	return r;
}

static void compiling_a_program(void **state)
{
	uint32_t n_rows = 0;

	(void)state;
	assert_int_equal(compile_program(&n_rows), 0);
	assert_true(n_rows > 10);
	each_allocation_fails(compile_program, &n_rows, 10, 0);
}

static void discard(void *context, const void *bytes, size_t size)
{
	(void)bytes;
	*(size_t *)context += size;
}

/* What a child does that has named the addresses. */
static int answer(void *context)
{
	static const uint64_t addresses[2] = { 1, 2 };
	const struct byte_sink sink = { .write = discard, .context = context };
	own(own_free) struct symbol_query *queries = answers_queries(addresses, 2);

	if (!queries)
		return -ENOMEM;
	queries[1].name = "main";
	return answers_send(&sink, queries, 2);
}

static void answering(void **state)
{
	size_t sent = 0;

	(void)state;
	each_allocation_fails(answer, &sent, 2, 0);
	assert_true(sent > 0);
}

static uint64_t local_one;

/* Looks up every 64th byte of a program: functions, linkers' stubs, code without names. */
static int find_symbols(void *context)
{
	static struct symbol_query queries[128];
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	own(own_pool_free) struct pool *pool = NULL;
	own(own_fd) int fd = built_open(context), debug_fd = built_open("whole.debug");
	int r = pool_new(&pool);

	if (r == 0)
		r = elf_file_open(fd, &tables.main);
	if (r < 0)
		return r;
	if (strcmp(context, "linked") == 0)
		debug_file_open_checked(tables.main, debug_fd, DEBUG_PROOF_CRC, &tables.debug);
	memset(queries, 0, sizeof(queries));
	for (size_t i = 0; i < 128; i++)
		queries[i].address = i * 64;
	queries[0].address = local_one;
	r = file_reader_find(&tables, pool, queries, 128);
	if (!memory_failed)
		assert_string_equal(queries[0].name, "local_one");
	return r;
}

static void finding_symbols(void **state)
{
	(void)state;
	local_one = built_value("whole", "local_one", NULL);
	/* Where the code of a label ends stays unknown without memory to follow it. */
	each_allocation_fails(find_symbols, "whole", 15, 1);
	each_allocation_fails(find_symbols, "mini", 20, 4);
	each_allocation_fails(find_symbols, "linked", 20, 28);
}

/* With symbols, with compressed ones, and with those of a debug file. */
static int build_programs(void **state)
{
	if (built_setup(state))
		return -1;
	built_write("a.c", built_source);
	return built_run("gcc -O1 -Wl,--build-id=none a.c -o whole && strip whole -o bare && "
			 "xz -k whole -c >whole.xz && "
			 "objcopy --add-section .gnu_debugdata=whole.xz bare mini && "
			 "objcopy --only-keep-debug whole whole.debug && "
			 "objcopy --add-gnu-debuglink=whole.debug bare linked")
		       ? 0
		       : -1;
}

struct sampled {
	struct images *images;
	struct tally *tally;
};

static int name_addresses(void *context)
{
	const struct sampled *sampled = context;
	struct symbolizer *symbolizer = NULL;
	struct names *names = NULL;
	struct error err = { 0 };
	int r = symbolizer_new(sampled->images, NULL, &symbolizer);

	if (!r)
		r = names_new(&names);
	if (!r)
		r = symbolizer_resolve(symbolizer, sampled->tally, names, &err);
	names_free(names);
	symbolizer_free(symbolizer);
	return r;
}

static void naming_addresses(void **state)
{
	struct tally_address address = { .flags = TALLY_ADDRESS_EXACT };
	struct sampled sampled = { 0 };
	struct timespec now;
	uint32_t id;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_int_equal(tally_new(0, 0, &sampled.tally), 0);
	assert_int_equal(images_new(NULL, &sampled.images), 0);
	assert_int_equal(images_at(sampled.images, getpid(), 0,
				   (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec,
				   &address.image),
			 0);
	for (uint64_t i = 0; i < 2; i++) {
		address.address = (uintptr_t)name_addresses + 2 - i;
		assert_int_equal(tally_address(sampled.tally, &address, &id), 0);
	}
	/* A file whose build-id cannot be read is not taken for the one that was mapped. */
	each_allocation_fails(name_addresses, &sampled, 30, 6);
	images_free(sampled.images);
	tally_free(sampled.tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tally),
		cmocka_unit_test(loading_a_recording),
		cmocka_unit_test(saving_a_recording),
		cmocka_unit_test(reading_kallsyms),
		cmocka_unit_test(compiling_rows),
		cmocka_unit_test(compiling_a_program),
		cmocka_unit_test(answering),
		cmocka_unit_test(finding_symbols),
		cmocka_unit_test(naming_addresses),
	};

	return cmocka_run_group_tests(tests, build_programs, built_teardown);
}
