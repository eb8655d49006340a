// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"

#define MAGIC	    0x4A695444u /* "JiTD"; a file of the other byte order is refused */
#define MAX_BYTES   (1ull << 34)
#define MAX_RECORDS (1u << 24)
#define MAX_MATCHES (1ull << 26) /* bounds the time for records that all span everything */
#define MAX_LOADS   (1u << 20)	 /* that a later JIT_CODE_MOVE can refer to */
#define MAX_CHAIN   64u		 /* loads that are compared for one move */
#define MAX_NAME    16384u
#define WINDOW	    65536u

#define CPU_COUNTER 1u /* in the header's flags: what times are of */

enum record_type { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1 };

struct file_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t type, size; /* of the record, this header included */
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

/* A load, for the moves that refer to it. */
struct loaded {
	uint64_t index;
	uint64_t name_at;   /* in the file */
	uint32_t name_size; /* at most; it is terminated */
};

struct dump {
	int fd;
	const struct jit_window *image;
	bool timed;	    /* by CLOCK_MONOTONIC, not by the CPU's counter */
	enum jit_when when; /* the record was written */
	uint8_t *window;    /* WINDOW bytes: a part of the file */
	uint64_t window_at;
	size_t window_n;
	struct symbol_query *queries;
	size_t n;
	struct pool *pool;
	uint64_t matches;
	struct loaded *loaded;
	uint32_t n_loaded, capacity;
	struct index by_index;
};

static void dump_clear(struct dump *dump)
{
	free(dump->window);
	free(dump->loaded);
	index_free(&dump->by_index);
}

/* Up to `size` (at most WINDOW) bytes of the file; fewer at its end. */
static const uint8_t *read_at(struct dump *dump, uint64_t at, size_t size, size_t *ret_n)
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
	const uint8_t *bytes = read_at(dump, at, size, &n);

	if (n < size)
		return false;
	memcpy(to, bytes, size);
	return true;
}

/* The name at `at`, of at most `size` bytes; NULL: it is empty, or memory is short (*failed). */
static const char *read_name(struct dump *dump, uint64_t at, uint32_t size, bool *failed)
{
	size_t n;
	const char *bytes = (const char *)read_at(dump, at, size < MAX_NAME ? size : MAX_NAME, &n);
	size_t length = strnlen(bytes, n);
	const char *name = NULL;

	if (length > 0) {
		name = pool_string_n(dump->pool, bytes, length);
		*failed = !name;
	}
	return name;
}

/* Gives the queries in [start, start + size) the name in the file. 0, -ENOMEM or -EFBIG. */
static int name_range(struct dump *dump, uint64_t start, uint64_t size, uint64_t name_at,
		      uint32_t name_size)
{
	size_t i = symbol_query_lower_bound(dump->queries, dump->n, start);
	const char *name = NULL;
	bool failed = false;

	for (; i < dump->n && dump->queries[i].address - start < size; i++) {
		if (dump->matches++ > MAX_MATCHES)
			return -EFBIG;
		if (!jit_names_wants(&dump->queries[i], dump->when))
			continue;
		if (!name)
			name = read_name(dump, name_at, name_size, &failed);
		if (!name)
			return failed ? -ENOMEM : 0;
		jit_names_give(&dump->queries[i], dump->when, start, name);
	}
	return 0;
}

static int add_load(struct dump *dump, const struct loaded *loaded)
{
	if (dump->n_loaded == MAX_LOADS)
		return 0;
	if (grow(&dump->loaded, &dump->capacity, dump->n_loaded + 1) < 0 ||
	    index_add(&dump->by_index, hash_u64(loaded->index), dump->n_loaded) < 0)
		return -ENOMEM;
	dump->loaded[dump->n_loaded++] = *loaded;
	return 0;
}

/* The latest load with that code index, or NULL. Runtimes do not use an index twice. */
static const struct loaded *find_load(const struct dump *dump, uint64_t index)
{
	const struct loaded *found = NULL;
	struct index_cursor cursor;
	unsigned int n = 0;

	for (uint32_t at = index_first(&dump->by_index, hash_u64(index), &cursor);
	     at != INDEX_NONE && n < MAX_CHAIN; at = index_next(&dump->by_index, &cursor), n++) {
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
	loaded.name_size = size - (uint32_t)sizeof(load);
	r = name_range(dump, load.address, load.size, loaded.name_at, loaded.name_size);
	return r < 0 ? r : add_load(dump, &loaded);
}

static int read_move(struct dump *dump, uint64_t at, uint32_t size)
{
	const struct loaded *loaded;
	struct move move;

	if (size < sizeof(move) || !read_exactly(dump, at, &move, sizeof(move)))
		return -EPROTO;
	loaded = find_load(dump, move.index);
	if (!loaded)
		return 0;
	return name_range(dump, move.to, move.size, loaded->name_at, loaded->name_size);
}

static int read_records(struct dump *dump, uint64_t at)
{
	struct record record;

	for (uint32_t i = 0; i < MAX_RECORDS && at < MAX_BYTES; i++) {
		uint32_t rest;
		int r = 0;

		if (!read_exactly(dump, at, &record, sizeof(record)) ||
		    record.size < sizeof(record))
			return 0;
		rest = record.size - (uint32_t)sizeof(record);
		dump->when = jit_names_when(dump->image, at, dump->timed ? record.time : 0);
		if (record.type == JIT_CODE_LOAD)
			r = read_load(dump, at + sizeof(record), rest);
		else if (record.type == JIT_CODE_MOVE)
			r = read_move(dump, at + sizeof(record), rest);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		at += record.size;
	}
	return 0;
}

int jitdump_find(int fd, const struct jit_window *window, struct symbol_query *queries, size_t n,
		 struct pool *pool)
{
	own(dump_clear) struct dump dump = {
		.fd = fd,
		.image = window,
		.window = malloc(WINDOW),
		.queries = queries,
		.n = n,
		.pool = pool,
	};
	struct file_header header;
	int r;

	if (!dump.window)
		return -ENOMEM;
	if (!read_exactly(&dump, 0, &header, sizeof(header)) || header.magic != MAGIC ||
	    header.size < sizeof(header))
		return 0;
	dump.timed = !(header.flags & CPU_COUNTER);
	r = read_records(&dump, header.size);
	return r < 0 ? r : jit_names_end(queries, n, pool);
}
