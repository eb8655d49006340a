// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings written byte by byte, as docs/recording.md describes them: the meaning of each byte,
 * the bound of each number, and the offset in each error.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../recordings/checksums.h"
#include "recording/reader.h"
#include "recording/recording.h"

/* ---- short and interrupted reads */
static size_t most_at_once = SIZE_MAX;
static unsigned int calls, interrupted_each;
static int read_error;

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	calls++;
	if (read_error) {
		errno = read_error;
		return -1;
	}
	if (interrupted_each && calls % interrupted_each == 0) {
		errno = EINTR;
		return -1;
	}
	return syscall(SYS_pread64, fd, to, size < most_at_once ? size : most_at_once, offset);
}

/* ---- a recording in pieces */
struct piece {
	const char *kind;
	const unsigned char *bytes;
	size_t size;
};

#define BYTES(...)                                                                                 \
	(const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ })

enum { STRS, META, UNWD, OBJS, CGRP, ADDR, STKS, ENTS, LOSS, END, N_PIECES };

/* One of everything: two strings, two addresses, a stack of both, an entry. */
static const struct piece whole[N_PIECES] = {
	[STRS] = { "STRS", BYTES(2, '/', 'a', 1, 'f') },
	[META] = { "META", BYTES(2, 1, 2, 1, 0, 2, 11, 12, 13, 14, 15, 16, 0xa9, 1, 1, 2) },
	[UNWD] = { "UNWD", BYTES(21, 22, 23, 24, 25, 26, 27, 28, 29) },
	[OBJS] = { "OBJS", BYTES(1, 31, 32, 33, 34, 35, 2, 0xaa, 0xbb) },
	[CGRP] = { "CGRP", BYTES(7, 1, 8, 2) },
	/* 16, then 16 - 8. */
	[ADDR] = { "ADDR", BYTES(32, 1, 2, 2, 2, 1, 2, 1, 5, 6, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0,
				 /**/ 15, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0) },
	[STKS] = { "STKS", BYTES(2, 1, 0, 1) },
	[ENTS] = { "ENTS", BYTES(3, 7, 8, 9, 1, 2, 1, 'x') },
	[LOSS] = { "LOSS", BYTES(41, 42, 43, 44, 45, 46, 1) },
	[END] = { "END.", BYTES(2, 2, 1, 1, 3) },
};

static unsigned char file[RECORDING_SECTION_MAX * 2];
static size_t file_size;

static void begin_file(void)
{
	static const unsigned char header[] = {
		0x8b, 'S', 'T', 'A', 'L', 'L', 'Y', '\n', 4, 0, 0, 0
	};

	memcpy(file, header, sizeof(header));
	file_size = sizeof(header);
}

/* Returns the offset of the payload. */
static size_t add_piece(const struct piece *piece)
{
	unsigned char *at = file + file_size;

	memcpy(at, piece->kind, 4);
	for (int i = 0; i < 4; i++)
		at[4 + i] = (unsigned char)(piece->size >> 8 * i);
	memcpy(at + 12, piece->bytes, piece->size);
	file_size += 12 + piece->size;
	make_checksums(file, file_size);
	return file_size - piece->size;
}

/* Writes the recording with one piece replaced; returns the offset of that piece's payload. */
static size_t write_with(const struct piece *other)
{
	size_t offset = 0;

	begin_file();
	for (int i = 0; i < N_PIECES; i++) {
		bool replaced = other && strcmp(other->kind, whole[i].kind) == 0;
		size_t at = add_piece(replaced ? other : &whole[i]);

		if (replaced)
			offset = at;
	}
	return offset;
}

static int fd_of_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, file_size), file_size);
	return fd;
}

static int load(struct recording **recording, struct error *err)
{
	int fd = fd_of_file(), r = recording_load(fd, "x", recording, err);

	close(fd);
	return r;
}

static void assert_refused(const char *what, size_t offset)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	char expected[128];

	snprintf(expected, sizeof(expected), "x: %s at offset %zu", what, offset);
	assert_int_equal(load(&recording, &err), -EBADMSG);
	assert_null(recording);
	assert_string_equal(err.text, expected);
}

static struct recording *loaded(void)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	int r = load(&recording, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return recording;
}

static void assert_text(const char *a, const char *b)
{
	assert_non_null(a);
	assert_string_equal(a, b);
}

static void assert_is_whole(const struct recording *is)
{
	const struct profile_meta *meta = &is->meta;
	const struct profile_unwinding *unwinding = &meta->unwinding;
	const struct tally_losses *losses = tally_losses_of(is->tally);
	const struct tally_entry *entry = tally_entries(is->tally);
	const struct tally_address *address = tally_addresses(is->tally);
	const struct names_object *object = names_objects(is->names);
	struct names_frame frame = names_frame(is->names, 0);

	assert_text(meta->command, "f");
	assert_text(meta->command_line, "/a");
	assert_text(meta->title, "f");
	assert_text(meta->event, "/a");
	assert_null(meta->hostname);
	assert_text(meta->kernel_release, "f");
	assert_true(meta->frequency == 11 && meta->period == 12 && meta->start_time_ns == 13);
	assert_true(meta->duration_ns == 14 && meta->hash_storage == 15);
	assert_true(meta->stack_storage == 16 && meta->user && !meta->kernel);
	assert_true(!meta->has.processes && meta->has.threads && !meta->has.cgroups);
	assert_true(meta->has.idle && !meta->has.inlines && meta->has.lines);
	assert_text(meta->scope, "/a");
	assert_text(meta->filter, "f");
	assert_true(unwinding->tables == 21 && unwinding->rows == 22 && unwinding->bytes == 23);
	assert_true(unwinding->compiled == 24 && unwinding->compile_ns == 25);
	assert_true(unwinding->cached == 26 && unwinding->cached_ns == 27);
	assert_true(unwinding->waited == 28 && unwinding->waited_completed == 29);
	assert_int_equal(names_n_objects(is->names), 1);
	assert_text(object->path, "/a");
	assert_true(object->start == 31 && object->end == 32 && object->offset == 33);
	assert_true(object->device == 34 && object->inode == 35 && object->build_id_size == 2);
	assert_memory_equal(object->build_id, "\xaa\xbb\0", 3);
	assert_int_equal(names_n_cgroups(is->names), 2);
	assert_int_equal(names_cgroups(is->names)[0].id, 7);
	assert_text(names_cgroups(is->names)[0].path, "/a");
	assert_int_equal(names_cgroups(is->names)[1].id, 8);
	assert_int_equal(tally_n_addresses(is->tally), 2);
	assert_true(address[0].address == 16 && address[0].image == 1 && address[0].flags == 2);
	assert_true(address[1].address == 8 && address[1].image == 0 && address[1].flags == 0);
	assert_int_equal(names_address(is->names, 0).n, 2);
	assert_text(frame.name, "f");
	assert_text(frame.linkage_name, "/a");
	assert_text(frame.module, "f");
	assert_text(frame.file, "/a");
	assert_true(frame.offset == 5 && frame.line == 6 && frame.object == 0 && frame.flags == 2);
	frame = names_frame(is->names, 1);
	assert_null(frame.name);
	assert_int_equal(frame.object, NAMES_NONE);
	assert_int_equal(tally_n_stacks(is->tally), 1);
	assert_int_equal(tally_stacks(is->tally)->flags, 1);
	assert_int_equal(tally_stacks(is->tally)->n_frames, 2);
	assert_int_equal(tally_frames(is->tally, tally_stacks(is->tally))[1], 1);
	assert_int_equal(tally_n_entries(is->tally), 1);
	assert_true(entry->count == 3 && entry->cgroup == 7 && entry->tgid == 8);
	assert_true(entry->tid == 9 && entry->kernel == TALLY_STACK_MISSED && entry->user == 0);
	assert_string_equal(entry->comm, "x");
	assert_int_equal(tally_total(is->tally), 3);
	assert_true(losses->events == 41 && losses->lost_ring == 42 && losses->lost_counts == 43);
	assert_true(losses->lost_nested == 44 && losses->throttled == 45);
	assert_true(losses->unseen == 46 && losses->counts_full);
}

static void each_byte_means_something(void **state)
{
	struct recording *recording;

	(void)state;
	write_with(NULL);
	recording = loaded();
	assert_is_whole(recording);
	recording_free(recording);
}

static void short_and_interrupted_reads_are_gone_on_with(void **state)
{
	struct recording *recording;

	(void)state;
	write_with(NULL);
	for (most_at_once = 1; most_at_once < 8; most_at_once++) {
		calls = 0;
		interrupted_each = 3;
		recording = loaded();
		assert_true(calls > file_size / most_at_once);
		assert_is_whole(recording);
		recording_free(recording);
	}
	most_at_once = SIZE_MAX;
	interrupted_each = 0;
}

static void failing_reads_are_told_with_their_reason(void **state)
{
	struct recording *recording = NULL;
	struct error err = { 0 };

	(void)state;
	write_with(NULL);
	read_error = EIO;
	assert_int_equal(load(&recording, &err), -EIO);
	read_error = 0;
	assert_null(recording);
	assert_string_equal(err.text, "x: Input/output error at offset 0");
}

/* A piece that is refused; the error is `after` bytes into its payload. */
struct refusal {
	struct piece piece;
	const char *what;
	size_t after;
};

static void every_number_has_its_bound(void **state)
{
	const struct refusal refusals[] = {
		{ { "STRS", BYTES(0x81, 0x80, 0x40, 'x') }, "string too long", 3 },
		{ { "STRS", BYTES(3, 'a', 'b') }, "section ends within a string", 1 },
		{ { "STRS", BYTES(2, 'a', 0) }, "string with a NUL", 3 },
		{ { "META", BYTES(3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
		  "no such string",
		  1 },
		{ { "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0) },
		  "unknown flag",
		  14 },
		{ { "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0) },
		  "no such string",
		  14 },
		{ { "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
		  "section is longer than it should be",
		  15 },
		{ { "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
		  "section ends within a number",
		  14 },
		{ { "UNWD", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0x80) },
		  "section ends within a number",
		  9 },
		{ { "OBJS", BYTES(0, 0, 0, 0, 0, 0, 0) }, "object without a path", 7 },
		{ { "OBJS", BYTES(1, 0, 0, 0, 0, 0, 21, 0) }, "build-id too long", 7 },
		{ { "OBJS", BYTES(1, 0, 0, 0, 0, 0, 2, 0) }, "section ends within a string", 7 },
		{ { "CGRP", BYTES(7, 0) }, "cgroups without a path or out of order", 2 },
		{ { "CGRP", BYTES(7, 1, 7, 1) }, "cgroups without a path or out of order", 4 },
		{ { "ADDR", BYTES(0, 0x80, 0x80, 0x80, 0x80, 0x10) }, "image too large", 6 },
		{ { "ADDR", BYTES(0, 0, 4) }, "unknown flag", 3 },
		{ { "ADDR", BYTES(0, 0, 0, 0) }, "address without a frame", 4 },
		{ { "ADDR", BYTES(0, 0, 0, 0x81, 2) }, "too many frames", 5 },
		{ { "ADDR", BYTES(0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10) },
		  "line number too large",
		  14 },
		{ { "ADDR", BYTES(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2) }, "no such object", 11 },
		{ { "ADDR", BYTES(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 64) }, "unknown flag", 12 },
		{ { "ADDR", BYTES(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x40) },
		  "unknown language",
		  14 },
		{ { "STKS", BYTES(0x81, 8, 0) }, "stack too deep", 2 },
		{ { "STKS", BYTES(1, 0x80, 2 * TALLY_N_ENDS, 0) }, "unknown way to end", 3 },
		{ { "STKS", BYTES(1, 4, 0) }, "unknown flag", 2 },
		{ { "STKS", BYTES(0, 0) }, "stack without a frame", 2 },
		{ { "STKS", BYTES(2, 0, 0) }, "section ends within a stack", 2 },
		{ { "STKS", BYTES(1, 0, 2) }, "no such address", 3 },
		{ { "STKS", BYTES(2, 0, 0, 0x80) }, "section ends within a number", 4 },
		{ { "ENTS", BYTES(1, 0, 0x80, 0x80, 0x80, 0x80, 0x10) },
		  "process id too large",
		  7 },
		{ { "ENTS", BYTES(1, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10) },
		  "thread id too large",
		  8 },
		{ { "ENTS", BYTES(1, 0, 0, 0, 3) }, "no such stack", 5 },
		{ { "ENTS", BYTES(1, 0, 0, 0, 0, 3) }, "no such stack", 6 },
		{ { "ENTS", BYTES(1, 0, 0, 0, 0, 0, 16) }, "comm too long", 7 },
		{ { "ENTS", BYTES(1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				  0xff, 0xff, 1, 0, 0, 0, 0, 0, 0) },
		  "counts too large",
		  23 },
		{ { "ENTS", BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2) },
		  "number too large",
		  9 },
		{ { "LOSS", BYTES(0, 0, 0, 0, 0, 0, 2) }, "unknown flag", 7 },
		{ { "END.", BYTES(3, 2, 1, 1, 3) }, "a section is missing before the end", 1 },
		{ { "END.", BYTES(2, 3, 1, 1, 3) }, "a section is missing before the end", 2 },
		{ { "END.", BYTES(2, 2, 2, 1, 3) }, "a section is missing before the end", 3 },
		{ { "END.", BYTES(2, 2, 1, 2, 3) }, "a section is missing before the end", 4 },
		{ { "END.", BYTES(2, 2, 1, 1, 4) }, "a section is missing before the end", 5 },
		{ { "NONE", BYTES(0) }, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; refusals[i].what; i++) {
		size_t payload = write_with(&refusals[i].piece);

		assert_refused(refusals[i].what, payload + refusals[i].after);
	}
}

/* Numbers just within those bounds. */
static void the_largest_values_are_accepted(void **state)
{
	const struct piece largest[] = {
		{ "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 1, 2, 2) },
		{ "OBJS", BYTES(1, 0, 0, 0, 0, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
				15, 16, 17, 18, 19, 20) },
		{ "ADDR", BYTES(0, 0xff, 0xff, 0xff, 0xff, 0xf, 3, 1, 0, 0, 0, 0, 0, 0xff, 0xff,
				0xff, 0xff, 0xf, 1, 31, /**/ 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0) },
		{ "STKS", BYTES(2, 0x83, 2 * TALLY_N_ENDS - 2, 1, 1) },
		{ "ENTS", BYTES(3, 0, 0xff, 0xff, 0xff, 0xff, 0xf, 0xff, 0xff, 0xff, 0xff, 0xf, 2,
				1, 15, '1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '1', '2',
				'3', '4', '5') },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(largest) / sizeof(*largest); i++) {
		write_with(&largest[i]);
		recording_free(loaded());
	}
}

static void counts_may_have_64_bits(void **state)
{
	const struct piece most[2] = {
		{ "ENTS", BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0,
				0, 0) },
		{ "END.",
		  BYTES(2, 2, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1) },
	};
	struct recording *recording;

	(void)state;
	begin_file();
	for (int i = 0; i < N_PIECES; i++)
		add_piece(i == ENTS ? &most[0] : i == END ? &most[1] : &whole[i]);
	recording = loaded();
	assert_true(tally_total(recording->tally) == UINT64_MAX);
	recording_free(recording);
}

/* Returns the number of bytes. */
static size_t put_number(unsigned char *to, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (unsigned char)(value | 0x80);
	to[n++] = (unsigned char)value;
	return n;
}

/* Numbers of one to four bytes, in the middle of a section and at its end. */
static void frames_of_stacks_take_one_to_four_bytes(void **state)
{
	static const uint32_t ids[] = { 0,	1,	127,	  128,	    129,     0x3fff,
					0x4000, 0x4081, 0x1fffff, 0x200000, 0x200001 };
	static unsigned char bytes[64];
	const uint32_t limit = 0x200002;
	struct reader reader;
	struct error err = { 0 };
	uint32_t read[16];

	(void)state;
	for (size_t first = 0; first < 11; first++) {
		size_t size = 0;

		for (size_t i = first; i < 11; i++)
			size += put_number(bytes + size, ids[i]);
		for (size_t rest = 0; rest < 4; rest++) {
			reader = (struct reader){ .path = "x",
						  .err = &err,
						  .payload = bytes,
						  .at = bytes,
						  .end = bytes + size + rest };
			memset(read, 0xee, sizeof(read));
			reader_ids(&reader, read, (uint32_t)(11 - first), limit, "too large");
			assert_int_equal(reader.failed, 0);
			assert_memory_equal(read, ids + first, (11 - first) * sizeof(*ids));
			assert_ptr_equal(reader.at, bytes + size);
		}
		reader.end = bytes + size;
		reader.at = bytes;
		reader_ids(&reader, read, (uint32_t)(11 - first), limit - 1, "too large");
		assert_int_equal(reader.failed, -EBADMSG);
		assert_int_equal(read[10 - first], 0);
		assert_false(reader_more(&reader));
	}
	assert_int_equal(strncmp(err.text, "x: too large at offset ", 23), 0);
}

static void numbers_of_all_sizes(void **state)
{
	unsigned char bytes[16];
	struct error err = { 0 };
	struct reader reader;

	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		for (int less = 1; less >= 0; less--) {
			uint64_t value = (1ull << bit) - (uint64_t)less;
			size_t size = put_number(bytes, value);

			reader = (struct reader){ .path = "x",
						  .err = &err,
						  .payload = bytes,
						  .at = bytes,
						  .end = bytes + size };
			assert_true(reader_number(&reader) == value);
			assert_int_equal(reader.failed, 0);
			assert_false(reader_more(&reader));
			/* A byte less is too little. */
			reader.at = bytes;
			reader.end = bytes + size - 1;
			assert_true(reader_number(&reader) == 0);
			assert_int_equal(reader.failed, -EBADMSG);
		}
	}
	assert_string_equal(err.text, "x: section ends within a number at offset 9");
	/* 2^64 */
	memcpy(bytes, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10);
	reader = (struct reader){
		.path = "x", .err = &err, .payload = bytes, .at = bytes, .end = bytes + 10
	};
	assert_true(reader_number(&reader) == 0);
	assert_string_equal(err.text, "x: number too large at offset 9");
}

static void after_the_first_error_nothing_is_read(void **state)
{
	unsigned char bytes[] = { 5, 6, 7, 8 };
	struct error err = { 0 };
	struct reader reader = {
		.path = "x", .err = &err, .payload = bytes, .at = bytes, .end = bytes + 4
	};

	(void)state;
	assert_int_equal(reader_up_to(&reader, 5, "no"), 5);
	assert_true(reader_more(&reader));
	assert_int_equal(reader_up_to(&reader, 5, "more than five"), 0);
	assert_false(reader_more(&reader));
	assert_int_equal(reader_number(&reader), 0);
	assert_null(reader_bytes(&reader, 1));
	assert_int_equal(reader_next(&reader), -EBADMSG);
	assert_string_equal(err.text, "x: more than five at offset 2");

	reader = (struct reader){
		.path = "x", .err = &err, .payload = bytes, .at = bytes, .end = bytes + 4
	};
	assert_ptr_equal(reader_bytes(&reader, 3), bytes);
	assert_ptr_equal(reader_bytes(&reader, 1), bytes + 3);
	assert_non_null(reader_bytes(&reader, 0));
	assert_null(reader_bytes(&reader, 1));
	assert_string_equal(err.text, "x: section ends within a string at offset 4");
}

static void sections_are_checked_before_they_are_read(void **state)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	size_t first = RECORDING_HEADER_SIZE, second;

	(void)state;
	write_with(NULL);
	second = first + RECORDING_SECTION_SIZE + whole[STRS].size;
	file[first]++;
	assert_refused("unknown section", first);
	write_with(NULL);
	file[second + 8]++;
	assert_refused("wrong checksum of the section", second);
	write_with(NULL);
	/* One byte more than the limit; then the limit, which is more than the file has. */
	memcpy(file + second + 4, "\x01\x00\x40\x00", 4);
	assert_refused("section too large", second + 4);
	memcpy(file + second + 4, "\x00\x00\x40\x00", 4);
	assert_refused("truncated", file_size);
	begin_file();
	add_piece(&(struct piece){ "META", BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) });
	second = file_size;
	add_piece(&whole[STRS]);
	assert_refused("section out of order", second);
	begin_file();
	add_piece(&whole[STRS]);
	add_piece(&whole[META]);
	add_piece(&whole[META]);
	assert_refused("section occurs twice", file_size - whole[META].size);
	file_size = 5;
	assert_refused("truncated", 5);
	file[4]++;
	assert_int_equal(load(&recording, &err), -EBADMSG);
	assert_string_equal(err.text, "x is not a stacktally recording");
	file_size = 0;
	assert_refused("truncated", 0);
}

static void only_the_section_of_unwinding_is_optional(void **state)
{
	struct recording *recording;

	(void)state;
	for (int without = 0; without < END; without++) {
		struct error err = { 0 };
		int r;

		recording = NULL;
		begin_file();
		for (int i = 0; i < N_PIECES; i++)
			if (i != without)
				add_piece(&whole[i]);
		r = load(&recording, &err);
		assert_int_equal(r, without == UNWD ? 0 : -EBADMSG);
		if (!r)
			assert_int_equal(recording->meta.unwinding.tables, 0);
		recording_free(recording);
	}
	/* Several sections of one kind are one list. */
	begin_file();
	for (int i = 0; i < N_PIECES; i++) {
		if (i == CGRP) {
			add_piece(&(struct piece){ "CGRP", BYTES(7, 1) });
			add_piece(&(struct piece){ "CGRP", BYTES(8, 2) });
		} else {
			add_piece(&whole[i]);
		}
	}
	recording = loaded();
	assert_is_whole(recording);
	recording_free(recording);
}

/* The largest section: the reader stays within its buffer. */
static void the_largest_section_is_read(void **state)
{
	struct piece strings = { .kind = "STRS" };
	unsigned char *bytes = malloc(RECORDING_SECTION_MAX + 1);
	size_t size = 0, n = 0;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'x', RECORDING_SECTION_MAX + 1);
	/* Three strings of the longest kind, then one that fills the section. */
	for (; n < 3; n++)
		size += put_number(bytes + size, RECORDING_STRING_MAX) + RECORDING_STRING_MAX;
	put_number(bytes + size, RECORDING_SECTION_MAX - size - 3);
	strings.bytes = bytes;
	strings.size = RECORDING_SECTION_MAX;
	begin_file();
	add_piece(&strings);
	add_piece(&(struct piece){ "END.", BYTES(4, 0, 0, 0, 0) });
	assert_refused("a section is missing before the end", file_size);
	strings.size++;
	begin_file();
	add_piece(&strings);
	assert_refused("section too large", RECORDING_HEADER_SIZE + 4);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_means_something),
		cmocka_unit_test(short_and_interrupted_reads_are_gone_on_with),
		cmocka_unit_test(failing_reads_are_told_with_their_reason),
		cmocka_unit_test(every_number_has_its_bound),
		cmocka_unit_test(the_largest_values_are_accepted),
		cmocka_unit_test(counts_may_have_64_bits),
		cmocka_unit_test(frames_of_stacks_take_one_to_four_bytes),
		cmocka_unit_test(numbers_of_all_sizes),
		cmocka_unit_test(after_the_first_error_nothing_is_read),
		cmocka_unit_test(sections_are_checked_before_they_are_read),
		cmocka_unit_test(only_the_section_of_unwinding_is_optional),
		cmocka_unit_test(the_largest_section_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
