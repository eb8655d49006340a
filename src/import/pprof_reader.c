// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/pprof_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "base/pool.h"
#include "import/pprof_cursor.h"
#include "report/pprof_wire.h"
#include "view/frame_text.h"
#include "view/stack_list.h"

/* A function, mapping or location of the file. */
struct row {
	uint64_t id, name; /* of locations: the mapping */
	struct pprof_span message;
	enum stack_mark mark; /* that a location stands for, or STACK_N_MARKS */
	bool kernel;
};

struct table {
	struct row *rows;
	uint32_t n, room;
	struct index index;
};

struct pprof_reader {
	struct pprof_span file;
	struct tally *tally;
	struct names *names;
	struct pool *pool;
	struct pprof_span *strings;
	uint32_t n_strings, string_room;
	struct table functions, locations, mappings;
	uint64_t types[64]; /* names of the values of a sample */
	uint32_t n_types, wanted;
	uint32_t user[TALLY_MAX_FRAMES], kernel[TALLY_MAX_FRAMES]; /* leaf first */
	uint32_t n_user, n_kernel;
	bool missed_user, missed_kernel, cut_user, cut_kernel;
	struct names_frame frames[NAMES_MAX_INLINED];
};

/* ---- the first pass: tables ---- */

/* In most files ids count from 1, so that the id is the position. */
static const struct row *find(const struct table *table, uint64_t id)
{
	struct index_cursor cursor;

	if (id == 0)
		return NULL;
	if (id <= table->n && table->rows[id - 1].id == id)
		return &table->rows[id - 1];
	for (uint32_t at = index_first(&table->index, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&table->index, &cursor))
		if (table->rows[at].id == id)
			return &table->rows[at];
	return NULL;
}

static int add_row(struct table *table, const struct row *row)
{
	int r = table->n < PPROF_READ_MAX ? grow(&table->rows, &table->room, table->n + 1) : -EFBIG;

	if (r < 0)
		return r;
	table->rows[table->n] = *row;
	if (row->id != table->n + 1)
		r = index_add(&table->index, hash_u64(row->id), table->n);
	table->n++;
	return r;
}

/* Reads a function, mapping or location. Its id is field 1; `name` is the number of its name's. */
static int read_row(struct table *table, struct pprof_span message, uint32_t name)
{
	struct row row = { .message = message, .mark = STACK_N_MARKS };
	struct pprof_field field;
	int r;

	while ((r = pprof_next(&message, &field)) > 0) {
		if (field.number == 1)
			row.id = field.value;
		else if (field.number == name)
			row.name = field.value;
	}
	return r < 0 ? r : add_row(table, &row);
}

static int read_type(struct pprof_reader *reader, struct pprof_span message)
{
	struct pprof_field field;
	uint64_t type = 0;
	int r;

	while ((r = pprof_next(&message, &field)) > 0)
		if (field.number == PPROF_VALUE_TYPE_TYPE)
			type = field.value;
	if (r < 0 || reader->n_types == sizeof(reader->types) / sizeof(reader->types[0]))
		return -EBADMSG;
	reader->types[reader->n_types++] = type;
	return 0;
}

static int read_string(struct pprof_reader *reader, struct pprof_span string)
{
	int r = reader->n_strings < PPROF_READ_MAX
			? grow(&reader->strings, &reader->string_room, reader->n_strings + 1)
			: -EFBIG;

	if (r == 0)
		reader->strings[reader->n_strings++] = string;
	return r;
}

static int read_tables(struct pprof_reader *reader, struct profile_meta *meta)
{
	struct pprof_span rest = reader->file;
	struct pprof_field field;
	int r, more;

	while ((more = pprof_next(&rest, &field)) > 0) {
		r = 0;
		if (field.number == PPROF_PROFILE_TIME_NANOS)
			meta->start_time_ns = field.value;
		else if (field.number == PPROF_PROFILE_DURATION_NANOS)
			meta->duration_ns = field.value;
		else if (!field.bytes.at)
			continue;
		else if (field.number == PPROF_PROFILE_SAMPLE_TYPE)
			r = read_type(reader, field.bytes);
		else if (field.number == PPROF_PROFILE_STRING_TABLE)
			r = read_string(reader, field.bytes);
		else if (field.number == PPROF_PROFILE_FUNCTION)
			r = read_row(&reader->functions, field.bytes, PPROF_FUNCTION_NAME);
		else if (field.number == PPROF_PROFILE_MAPPING)
			r = read_row(&reader->mappings, field.bytes, PPROF_MAPPING_FILENAME);
		else if (field.number == PPROF_PROFILE_LOCATION)
			r = read_row(&reader->locations, field.bytes, PPROF_LOCATION_MAPPING_ID);
		if (r < 0)
			return r;
	}
	return more;
}

static struct pprof_span string(const struct pprof_reader *reader, uint64_t index)
{
	return index < reader->n_strings ? reader->strings[index] : (struct pprof_span){ 0 };
}

static bool is(struct pprof_span span, const char *text)
{
	return span.at && span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

static void choose_value(struct pprof_reader *reader, struct profile_meta *meta)
{
	reader->wanted = reader->n_types ? reader->n_types - 1 : 0;
	for (uint32_t i = reader->n_types; i-- > 0;) {
		struct pprof_span type = string(reader, reader->types[i]);

		if (is(type, "samples") || is(type, "events"))
			reader->wanted = i;
	}
	/* What our own files of time off the CPU have. */
	meta->timed =
		reader->n_types && is(string(reader, reader->types[reader->wanted]), "offcpu");
}

/* ---- locations: addresses of the tally ---- */

static int name_frame(struct pprof_reader *reader, const struct row *location, uint64_t function,
		      struct names_frame *frame)
{
	const struct row *row = find(&reader->functions, function);
	struct pprof_span name = string(reader, row ? row->name : 0);

	*frame = (struct names_frame){ .object = NAMES_NONE };
	if (location->kernel)
		frame->flags |= NAMES_FRAME_KERNEL;
	if (is(name, "[jit]"))
		frame->flags |= NAMES_FRAME_JIT;
	if (name.size > strlen("[unwind: ") &&
	    memcmp(name.at, "[unwind: ", strlen("[unwind: ")) == 0)
		frame->flags |= NAMES_FRAME_UNWIND;
	if (name.size == 0 || memchr(name.at, '\0', name.size) || is(name, frame_text_name(frame)))
		return 0;
	frame->name = pool_string_n(reader->pool, name.at, name.size);
	return frame->name ? 0 : -ENOMEM;
}

static int read_lines(struct pprof_reader *reader, const struct row *location, uint32_t *ret_n)
{
	struct pprof_span message = location->message, line;
	struct pprof_field field;
	uint32_t n = 0;
	int r = 0, more;

	while (r == 0 && (more = pprof_next(&message, &field)) > 0) {
		uint64_t function = 0;

		if (field.number != PPROF_LOCATION_LINE || !field.bytes.at)
			continue;
		if (n == NAMES_MAX_INLINED)
			return -E2BIG;
		line = field.bytes;
		while ((more = pprof_next(&line, &field)) > 0)
			if (field.number == PPROF_LINE_FUNCTION_ID)
				function = field.value;
		if (more < 0)
			return more;
		r = name_frame(reader, location, function, &reader->frames[n++]);
	}
	if (n == 0)
		r = name_frame(reader, location, 0, &reader->frames[n++]);
	*ret_n = n;
	return r;
}

static int add_location(struct pprof_reader *reader, struct row *location)
{
	const struct row *mapping = find(&reader->mappings, location->name);
	struct pprof_span file = string(reader, mapping ? mapping->name : 0);
	struct tally_address address = { .address = tally_n_addresses(reader->tally) };
	uint32_t n = 0;
	int r;

	location->kernel = file.size >= strlen("[kernel") &&
			   memcmp(file.at, "[kernel", strlen("[kernel")) == 0;
	address.image = !location->kernel;
	r = read_lines(reader, location, &n);
	if (r < 0)
		return r;
	if (n == 1 && reader->frames[0].name)
		location->mark =
			stack_mark_of(reader->frames[0].name, strlen(reader->frames[0].name));
	for (uint32_t i = 0; i + 1 < n; i++)
		reader->frames[i].flags |= NAMES_FRAME_INLINED;
	r = names_add_address(reader->names, reader->frames, n);
	return r < 0 ? r : tally_append_address(reader->tally, &address);
}

/* ---- the second pass: samples ---- */

static int add_frame(struct pprof_reader *reader, uint64_t id)
{
	const struct row *row = find(&reader->locations, id);
	uint32_t *n;

	if (!row)
		return -EBADMSG;
	switch (row->mark) {
	case STACK_MARK_MISSED_USER:
		reader->missed_user = true;
		return 0;
	case STACK_MARK_MISSED_KERNEL:
		reader->missed_kernel = true;
		return 0;
	case STACK_MARK_TRUNCATED:
		/* It follows the frames of its stack, leaf first. */
		*(reader->n_user || !reader->n_kernel ? &reader->cut_user : &reader->cut_kernel) =
			true;
		return 0;
	case STACK_MARK_NONE:
		return 0;
	default:
		break;
	}
	/* Callers of user code are user code, whatever their mapping says. */
	n = row->kernel && !reader->n_user ? &reader->n_kernel : &reader->n_user;
	if (*n == TALLY_MAX_FRAMES) {
		*(n == &reader->n_kernel ? &reader->cut_kernel : &reader->cut_user) = true;
		return 0;
	}
	(n == &reader->n_kernel ? reader->kernel : reader->user)[(*n)++] =
		(uint32_t)(row - reader->locations.rows);
	return 0;
}

static int read_label(struct pprof_reader *reader, struct pprof_span message,
		      struct tally_entry *entry)
{
	struct pprof_span key = { 0 }, text = { 0 };
	struct pprof_field field;
	uint64_t number = 0;
	int r;

	while ((r = pprof_next(&message, &field)) > 0) {
		if (field.number == PPROF_LABEL_KEY)
			key = string(reader, field.value);
		else if (field.number == PPROF_LABEL_STR)
			text = string(reader, field.value);
		else if (field.number == PPROF_LABEL_NUM)
			number = field.value;
	}
	if (is(key, "pid")) {
		entry->tgid = (uint32_t)number;
	} else if (is(key, "tid")) {
		entry->tid = (uint32_t)number;
	} else if (text.size > 0 && (is(key, "comm") || (is(key, "thread") && !entry->comm[0]))) {
		memset(entry->comm, 0, sizeof(entry->comm));
		memcpy(entry->comm, text.at,
		       strnlen(text.at, text.size < sizeof(entry->comm) ? text.size
									: sizeof(entry->comm) - 1));
	}
	return r;
}

/* The next number of a repeated field, packed or not. */
static int next_number(struct pprof_field *field, uint64_t *ret_number)
{
	if (field->bytes.at)
		return pprof_varint(&field->bytes, ret_number);
	if (field->number == 0)
		return 0;
	field->number = 0;
	*ret_number = field->value;
	return 1;
}

static int read_frames(struct pprof_reader *reader, struct pprof_field field)
{
	uint64_t id;
	int r;

	while ((r = next_number(&field, &id)) > 0) {
		r = add_frame(reader, id);
		if (r < 0)
			return r;
	}
	return r;
}

static int stack_of(struct pprof_reader *reader, const uint32_t *frames, uint32_t n, bool cut,
		    bool missed, uint32_t *ret_id)
{
	if (missed && n == 0) {
		*ret_id = TALLY_STACK_MISSED;
		return 0;
	}
	return tally_stack(reader->tally, frames, n, cut ? TALLY_STACK_CUT : 0, ret_id);
}

static int add_sample(struct pprof_reader *reader, struct tally_entry *entry)
{
	int r = stack_of(reader, reader->user, reader->n_user, reader->cut_user,
			 reader->missed_user, &entry->user);

	if (r == 0)
		r = stack_of(reader, reader->kernel, reader->n_kernel, reader->cut_kernel,
			     reader->missed_kernel, &entry->kernel);
	return r < 0 ? r : tally_add(reader->tally, entry);
}

static int read_sample(struct pprof_reader *reader, struct pprof_span message)
{
	struct tally_entry entry = { 0 };
	struct pprof_field field;
	uint32_t n_values = 0;
	uint64_t value;
	int r = 0, more;

	reader->n_user = reader->n_kernel = 0;
	reader->missed_user = reader->missed_kernel = false;
	reader->cut_user = reader->cut_kernel = false;
	while (r >= 0 && (more = pprof_next(&message, &field)) > 0) {
		if (field.number == PPROF_SAMPLE_LOCATION_ID)
			r = read_frames(reader, field);
		else if (field.number == PPROF_SAMPLE_VALUE)
			while ((r = next_number(&field, &value)) > 0)
				if (n_values++ == reader->wanted)
					entry.count = value;
		if (field.number == PPROF_SAMPLE_LABEL && field.bytes.at)
			r = read_label(reader, field.bytes, &entry);
	}
	if (r < 0 || more < 0)
		return r < 0 ? r : more;
	if (entry.count > INT64_MAX)
		return -EDOM;
	return entry.count ? add_sample(reader, &entry) : 0;
}

static int read_samples(struct pprof_reader *reader)
{
	struct pprof_span rest = reader->file;
	struct pprof_field field;
	int r = 0, more;

	while ((more = pprof_next(&rest, &field)) > 0 && r == 0)
		if (field.number == PPROF_PROFILE_SAMPLE && field.bytes.at)
			r = read_sample(reader, field.bytes);
	return r < 0 ? r : more;
}

static int read_all(struct pprof_reader *reader, struct profile_meta *meta)
{
	int r = read_tables(reader, meta);

	if (r < 0)
		return r;
	choose_value(reader, meta);
	for (uint32_t i = 0; r == 0 && i < reader->locations.n; i++)
		r = add_location(reader, &reader->locations.rows[i]);
	return r < 0 ? r : read_samples(reader);
}

static const char *what(int code)
{
	switch (code) {
	case -EDOM:
		return "counts below 0: itself a difference";
	case -EFBIG:
	case -E2BIG:
		return "too large";
	case -ENOMEM:
		return "out of memory";
	default:
		return "not pprof's format";
	}
}

int pprof_read(const char *bytes, size_t size, struct profile_meta *meta, struct tally *tally,
	       struct names *names, struct error *err)
{
	own(own_free) struct pprof_reader *reader = calloc(1, sizeof(*reader));
	own(own_pool_free) struct pool *pool = NULL;
	int r = reader ? pool_new(&pool) : -ENOMEM;

	if (r == 0)
		r = names_share_strings(names, pool);
	if (r < 0)
		return error_set(err, r, "out of memory");
	reader->file = (struct pprof_span){ bytes, size };
	reader->tally = tally;
	reader->names = names;
	reader->pool = pool;
	r = read_all(reader, meta);
	free(reader->strings);
	free(reader->functions.rows);
	free(reader->locations.rows);
	free(reader->mappings.rows);
	index_free(&reader->functions.index);
	index_free(&reader->locations.index);
	index_free(&reader->mappings.index);
	r = r == -EBADMSG ? -ENOEXEC : r;
	return r < 0 ? error_set(err, r, "%s", what(r)) : 0;
}
