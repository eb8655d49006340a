// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/index.h"
#include "base/own.h"

#define MAGIC	    0x4A695444u /* in the byte order of who wrote it: other orders are refused */
#define MAX_BYTES   (1ull << 34)
#define MAX_RECORDS (1u << 24)
#define MAX_ANSWERS (1ull << 26)
#define MAX_MOVABLE (1u << 20) /* loads that a later move can find */
#define MAX_NAME    16384u
#define WINDOW	    65536u

enum record_type { RECORD_LOAD = 0, RECORD_MOVE = 1 };

struct file_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t type, size; /* with this */
	uint64_t time;
};

struct load {
	uint32_t pid, tid;
	uint64_t address_of_section, address, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t address_of_section, from, to, size, index;
};

/* A load, as a move asks for it. */
struct loaded {
	uint64_t index;
	uint64_t name_at; /* in the file */
	uint32_t name_room;
};

struct dump {
	int fd;
	uint8_t *window;
	uint64_t window_at; /* in the file */
	size_t window_n;
	struct symbol_query *queries;
	size_t n;
	struct pool *pool;
	uint64_t answers;
	struct loaded *loaded;
	uint32_t n_loaded, room;
	struct index by_index;
};

static void dump_clear(struct dump *dump)
{
	free(dump->window);
	free(dump->loaded);
	index_free(&dump->by_index);
}

/* Up to `size` (at most WINDOW) bytes of the file; fewer at its end. */
static const uint8_t *look(struct dump *dump, uint64_t at, size_t size, size_t *ret_n)
{
	uint64_t end = dump->window_at + dump->window_n;

	if (at < dump->window_at || at + size > end) {
		ssize_t n;

		do {
			n = pread(dump->fd, dump->window, WINDOW, (off_t)at);
		} while (n < 0 && errno == EINTR);
		dump->window_at = at;
		dump->window_n = n > 0 ? (size_t)n : 0;
		end = at + dump->window_n;
	}
	*ret_n = end - at < size ? (size_t)(end - at) : size;
	return dump->window + (at - dump->window_at);
}

static bool read_exactly(struct dump *dump, uint64_t at, void *to, size_t size)
{
	size_t n;
	const uint8_t *bytes = look(dump, at, size, &n);

	if (n < size)
		return false;
	memcpy(to, bytes, size);
	return true;
}

/* The name that begins at `at`, of at most `room` bytes; NULL: none, or no memory (`failed`). */
static const char *read_name(struct dump *dump, uint64_t at, uint32_t room, bool *failed)
{
	size_t n;
	const char *bytes = (const char *)look(dump, at, room < MAX_NAME ? room : MAX_NAME, &n);
	size_t length = strnlen(bytes, n);
	const char *name = NULL;

	if (length > 0) {
		name = pool_string_n(dump->pool, bytes, length);
		*failed = !name;
	}
	return name;
}

/* Names what lies at [start, start + size) after the name in the file. 0, -ENOMEM or -EFBIG. */
static int name_range(struct dump *dump, uint64_t start, uint64_t size, uint64_t name_at,
		      uint32_t name_room)
{
	size_t i = symbol_query_lower_bound(dump->queries, dump->n, start);
	const char *name = NULL;
	bool failed = false;

	for (; i < dump->n && dump->queries[i].address - start < size; i++) {
		if (dump->answers++ > MAX_ANSWERS)
			return -EFBIG;
		if (!name)
			name = read_name(dump, name_at, name_room, &failed);
		if (!name)
			return failed ? -ENOMEM : 0;
		dump->queries[i].start = start;
		dump->queries[i].name = name;
	}
	return 0;
}

static int remember(struct dump *dump, const struct loaded *loaded)
{
	if (dump->n_loaded == MAX_MOVABLE)
		return 0;
	if (dump->n_loaded == dump->room) {
		uint32_t room = dump->room ? dump->room * 2 : 1024;
		struct loaded *grown = reallocarray(dump->loaded, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		dump->loaded = grown;
		dump->room = room;
	}
	if (index_add(&dump->by_index, hash_u64(loaded->index), dump->n_loaded) < 0)
		return -ENOMEM;
	dump->loaded[dump->n_loaded++] = *loaded;
	return 0;
}

/* The latest of that index; runtimes count up, so there is one. */
static const struct loaded *recall(const struct dump *dump, uint64_t index)
{
	const struct loaded *found = NULL;
	struct index_cursor cursor;
	unsigned int seen = 0;

	/* A file that gives all its code one index is none to search through for each move. */
	for (uint32_t at = index_first(&dump->by_index, hash_u64(index), &cursor);
	     at != INDEX_NONE && seen < 64; at = index_next(&dump->by_index, &cursor), seen++) {
		if (dump->loaded[at].index == index && (!found || &dump->loaded[at] > found))
			found = &dump->loaded[at];
	}
	return found;
}

static int read_load(struct dump *dump, uint64_t at, uint32_t size)
{
	struct loaded loaded;
	struct load load;
	int r;

	if (size <= sizeof(load) || !read_exactly(dump, at, &load, sizeof(load)))
		return -EPROTO;
	loaded.index = load.index;
	loaded.name_at = at + sizeof(load);
	loaded.name_room = size - (uint32_t)sizeof(load);
	r = name_range(dump, load.address, load.size, loaded.name_at, loaded.name_room);
	return r ? r : remember(dump, &loaded);
}

static int read_move(struct dump *dump, uint64_t at, uint32_t size)
{
	const struct loaded *loaded;
	struct move move;

	if (size < sizeof(move) || !read_exactly(dump, at, &move, sizeof(move)))
		return -EPROTO;
	loaded = recall(dump, move.index);
	if (!loaded)
		return 0;
	return name_range(dump, move.to, move.size, loaded->name_at, loaded->name_room);
}

static int read_records(struct dump *dump, uint64_t at)
{
	struct record record;
	int r = 0;

	for (uint32_t i = 0; !r && i < MAX_RECORDS && at < MAX_BYTES; i++) {
		uint32_t rest;

		if (!read_exactly(dump, at, &record, sizeof(record)) ||
		    record.size < sizeof(record))
			return 0;
		rest = record.size - (uint32_t)sizeof(record);
		if (record.type == RECORD_LOAD)
			r = read_load(dump, at + sizeof(record), rest);
		else if (record.type == RECORD_MOVE)
			r = read_move(dump, at + sizeof(record), rest);
		at += record.size;
	}
	return r == -ENOMEM ? r : 0;
}

int jitdump_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool)
{
	own(dump_clear) struct dump dump = {
		.fd = fd,
		.window = malloc(WINDOW),
		.queries = queries,
		.n = n,
		.pool = pool,
	};
	struct file_header header;

	if (!dump.window)
		return -ENOMEM;
	if (!read_exactly(&dump, 0, &header, sizeof(header)) || header.magic != MAGIC ||
	    header.size < sizeof(header))
		return 0;
	return read_records(&dump, header.size);
}
