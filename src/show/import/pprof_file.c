// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/pprof_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/pprof_wire.h"

/* ---- the first pass: tables ---- */

/* In most files ids count from 1, so that the id is the position. */
const struct pprof_row *pprof_file_find(const struct pprof_rows *rows, uint64_t id)
{
	struct index_cursor cursor;

	if (id == 0)
		return NULL;
	if (id <= rows->n && rows->list[id - 1].id == id)
		return &rows->list[id - 1];
	for (uint32_t at = index_first(&rows->index, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&rows->index, &cursor))
		if (rows->list[at].id == id)
			return &rows->list[at];
	return NULL;
}

static int too_large(struct error *err)
{
	return error_set(err, -EFBIG, "too large");
}

static int out_of_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int damaged(struct error *err)
{
	return error_set(err, -EBADMSG, "damaged or cut: not pprof's format");
}

static int add_row(struct pprof_rows *rows, const struct pprof_row *row, const char *what,
		   struct error *err)
{
	if (row->id == 0)
		return error_set(err, -EBADMSG, "damaged pprof file: a %s has no id", what);
	if (pprof_file_find(rows, row->id))
		return error_set(err, -EBADMSG,
				 "damaged pprof file: two %ss have the id %" PRIu64
				 ": were two files appended?",
				 what, row->id);
	if (rows->n == PPROF_FILE_MAX)
		return too_large(err);
	if (grow(&rows->list, &rows->capacity, (size_t)rows->n + 1) < 0 ||
	    (row->id != (uint64_t)rows->n + 1 &&
	     index_add(&rows->index, hash_u64(row->id), rows->n) < 0))
		return out_of_memory(err);
	rows->list[rows->n++] = *row;
	return 0;
}

/*
 * Reads a function, mapping or location. Its id is field 1; `name` is the number of its name's, and
 * `other` of what is its name if that is empty; or 0.
 */
static int read_row(struct pprof_rows *rows, struct pprof_span message, uint32_t name,
		    uint32_t other, const char *what, struct error *err)
{
	struct pprof_row row = { .message = message };
	struct pprof_field field;
	uint64_t other_name = 0;
	int r;

	while ((r = pprof_next(&message, &field)) > 0) {
		if (field.number == 1)
			row.id = field.value;
		else if (field.number == name)
			row.name = field.value;
		else if (other && field.number == other)
			other_name = field.value;
	}
	if (!row.name)
		row.name = other_name;
	return r < 0 ? damaged(err) : add_row(rows, &row, what, err);
}

static int read_type(struct pprof_span message, struct pprof_type *ret_type, struct error *err)
{
	struct pprof_type type = { 0 };
	struct pprof_field field;
	int r;

	while ((r = pprof_next(&message, &field)) > 0) {
		if (field.number == PPROF_VALUE_TYPE_TYPE)
			type.type = field.value;
		else if (field.number == PPROF_VALUE_TYPE_UNIT)
			type.unit = field.value;
	}
	if (r < 0)
		return damaged(err);
	*ret_type = type;
	return 0;
}

static int add_type(struct pprof_file *file, struct pprof_span message, struct error *err)
{
	if (file->n_types == PPROF_FILE_MAX_TYPES)
		return too_large(err);
	return read_type(message, &file->types[file->n_types++], err);
}

static int add_string(struct pprof_file *file, struct pprof_span string, struct error *err)
{
	if (file->n_strings == PPROF_FILE_MAX)
		return too_large(err);
	if (file->n_strings == 0 && string.size > 0)
		return error_set(err, -EBADMSG,
				 "damaged pprof file: its first string is not empty");
	if (grow(&file->strings, &file->string_capacity, (size_t)file->n_strings + 1) < 0)
		return out_of_memory(err);
	file->strings[file->n_strings++] = string;
	return 0;
}

static int read_field(struct pprof_file *file, const struct pprof_field *field, struct error *err)
{
	switch (field->number) {
	case PPROF_PROFILE_SAMPLE_TYPE:
		return add_type(file, field->bytes, err);
	case PPROF_PROFILE_STRING_TABLE:
		return add_string(file, field->bytes, err);
	case PPROF_PROFILE_FUNCTION:
		return read_row(&file->functions, field->bytes, PPROF_FUNCTION_NAME,
				PPROF_FUNCTION_SYSTEM_NAME, "function", err);
	case PPROF_PROFILE_MAPPING:
		return read_row(&file->mappings, field->bytes, PPROF_MAPPING_FILENAME, 0, "mapping",
				err);
	case PPROF_PROFILE_LOCATION:
		return read_row(&file->locations, field->bytes, PPROF_LOCATION_MAPPING_ID, 0,
				"location", err);
	case PPROF_PROFILE_PERIOD_TYPE:
		return read_type(field->bytes, &file->period_type, err);
	case PPROF_PROFILE_TIME_NANOS:
		if (file->time_ns)
			return error_set(err, -EBADMSG,
					 "two pprof files, one behind the other: use "
					 "go tool pprof -proto A B");
		file->time_ns = field->value;
		return 0;
	case PPROF_PROFILE_DURATION_NANOS:
		file->duration_ns = field->value;
		return 0;
	case PPROF_PROFILE_PERIOD:
		file->period = field->value;
		return 0;
	case PPROF_PROFILE_DROP_FRAMES:
		file->drop_frames = field->value;
		return 0;
	case PPROF_PROFILE_KEEP_FRAMES:
		file->keep_frames = field->value;
		return 0;
	case PPROF_PROFILE_DEFAULT_SAMPLE_TYPE:
		file->default_type = field->value;
		return 0;
	default:
		return 0;
	}
}

/* What fails before there was any type of values is no such file. */
static int read_tables(struct pprof_file *file, struct error *err)
{
	struct pprof_span rest = file->bytes;
	struct pprof_field field;
	int r = 0, more;

	while (r == 0 && (more = pprof_next(&rest, &field)) > 0)
		r = read_field(file, &field, err);
	if (r == 0 && more < 0)
		r = damaged(err);
	return r == -EBADMSG && file->n_types == 0 ? -ENOEXEC : r;
}

/* ---- the second pass: every field ---- */

enum message {
	PROFILE,
	VALUE_TYPE,
	SAMPLE,
	LABEL,
	MAPPING,
	LOCATION,
	LINE,
	FUNCTION,
	N_MESSAGES,
};

/*
 * The fields of each message by their number: a digit is a message of that kind, `n` a number, `s`
 * the index of a string, `r` and `R` repeated numbers and indices, `b` bytes, `-` unknown.
 */
static const char *const fields_of[N_MESSAGES] = {
	[PROFILE] = "-12457bssnn1nRss",
	[VALUE_TYPE] = "-ss",
	[SAMPLE] = "-rr3",
	[LABEL] = "-ssns",
	[MAPPING] = "-nnnnssnnnn",
	[LOCATION] = "-nnn6n",
	[LINE] = "-nnn",
	[FUNCTION] = "-nsssn",
};

int pprof_file_number(struct pprof_field *field, uint64_t *ret_number)
{
	if (field->bytes.at)
		return pprof_varint(&field->bytes, ret_number);
	if (field->number == 0)
		return 0;
	field->number = 0;
	*ret_number = field->value;
	return 1;
}

static int check_string(const struct pprof_file *file, uint64_t index, struct error *err)
{
	if (index < file->n_strings)
		return 0;
	return error_set(err, -EBADMSG,
			 "damaged or cut pprof file: string %" PRIu64 " of %" PRIu32
			 " is referred to",
			 index, file->n_strings);
}

static int check_repeated(const struct pprof_file *file, struct pprof_field field, bool strings,
			  struct error *err)
{
	uint64_t number;
	int r = 0, more;

	while (r == 0 && (more = pprof_file_number(&field, &number)) > 0)
		if (strings)
			r = check_string(file, number, err);
	return r == 0 && more < 0 ? damaged(err) : r;
}

static int check_scalar(const struct pprof_file *file, const struct pprof_field *field, char kind,
			struct error *err)
{
	switch (kind) {
	case 'n':
	case 's':
		if (field->type != PPROF_WIRE_VARINT)
			return damaged(err);
		return kind == 's' ? check_string(file, field->value, err) : 0;
	case 'r':
	case 'R':
		if (field->type != PPROF_WIRE_VARINT && field->type != PPROF_WIRE_BYTES)
			return damaged(err);
		return check_repeated(file, *field, kind == 'R', err);
	case 'b':
		return field->type == PPROF_WIRE_BYTES ? 0 : damaged(err);
	default:
		return 0;
	}
}

/* Goes at most three messages deep: profile, location, line. */
static int check_message(const struct pprof_file *file, struct pprof_span bytes,
			 enum message message, struct error *err)
{
	const char *kinds = fields_of[message];
	struct pprof_field field;
	int r = 0, more;

	while (r == 0 && (more = pprof_next(&bytes, &field)) > 0) {
		char kind = field.number < strlen(kinds) ? kinds[field.number] : '-';

		if (kind < '0' || kind > '9')
			r = check_scalar(file, &field, kind, err);
		else if (field.type != PPROF_WIRE_BYTES)
			r = damaged(err);
		else
			r = check_message(file, field.bytes, (enum message)(kind - '0'), err);
	}
	return r == 0 && more < 0 ? damaged(err) : r;
}

/* ---- the third pass: references between messages ---- */

static int check_lines(const struct pprof_file *file, const struct pprof_row *location,
		       struct error *err)
{
	struct pprof_span message = location->message, line;
	struct pprof_field field;

	while (pprof_next(&message, &field) > 0) {
		uint64_t function = 0;

		if (field.number != PPROF_LOCATION_LINE)
			continue;
		line = field.bytes;
		while (pprof_next(&line, &field) > 0)
			if (field.number == PPROF_LINE_FUNCTION_ID)
				function = field.value;
		if (!pprof_file_find(&file->functions, function))
			return error_set(err, -EBADMSG,
					 "damaged pprof file: location %" PRIu64
					 " has a line without a function",
					 location->id);
	}
	return 0;
}

static int check_sample(const struct pprof_file *file, struct pprof_span message, struct error *err)
{
	struct pprof_field field;
	uint64_t number, n_values = 0;

	while (pprof_next(&message, &field) > 0) {
		if (field.number == PPROF_SAMPLE_LOCATION_ID) {
			while (pprof_file_number(&field, &number) > 0)
				if (!pprof_file_find(&file->locations, number))
					return error_set(err, -EBADMSG,
							 "damaged or cut pprof file: location "
							 "%" PRIu64 " is missing",
							 number);
		} else if (field.number == PPROF_SAMPLE_VALUE) {
			while (pprof_file_number(&field, &number) > 0)
				n_values++;
		}
	}
	if (n_values == file->n_types)
		return 0;
	return error_set(err, -EBADMSG,
			 "damaged pprof file: a sample has %" PRIu64 " values of %" PRIu32 " types",
			 n_values, file->n_types);
}

/* Ours holds the command line. */
static bool is_our_comment(const struct pprof_file *file, struct pprof_field field)
{
	static const char ours[] = "command line: ";
	uint64_t number;

	while (pprof_file_number(&field, &number) > 0) {
		struct pprof_span text = pprof_file_string(file, number);

		if (text.size > strlen(ours) && memcmp(text.at, ours, strlen(ours)) == 0)
			return true;
	}
	return false;
}

static int check_references(struct pprof_file *file, struct error *err)
{
	struct pprof_span rest = file->bytes;
	struct pprof_field field;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < file->locations.n; i++)
		r = check_lines(file, &file->locations.list[i], err);
	while (r == 0 && pprof_next(&rest, &field) > 0) {
		if (field.number == PPROF_PROFILE_SAMPLE)
			r = check_sample(file, field.bytes, err);
		else if (field.number == PPROF_PROFILE_COMMENT)
			file->ours |= is_our_comment(file, field);
	}
	return r;
}

int pprof_file_read(struct pprof_file *file, const char *bytes, size_t size, struct error *err)
{
	int r;

	*file = (struct pprof_file){ .bytes = { bytes, size } };
	r = read_tables(file, err);
	/* Other bytes may make a message as well, but hardly one with these. */
	if (r == 0 && file->n_types == 0)
		r = file->n_strings > 0 && file->functions.n + file->locations.n > 0
			    ? error_set(err, -EBADMSG,
					"damaged pprof file: without sample_type, nothing tells "
					"what its values are")
			    : error_set(err, -ENOEXEC, "not pprof's format");
	if (r == 0)
		r = check_message(file, file->bytes, PROFILE, err);
	if (r == 0 && file->n_strings == 0)
		r = damaged(err);
	return r < 0 ? r : check_references(file, err);
}

void pprof_file_clear(struct pprof_file *file)
{
	free(file->strings);
	free(file->functions.list);
	free(file->locations.list);
	free(file->mappings.list);
	index_free(&file->functions.index);
	index_free(&file->locations.index);
	index_free(&file->mappings.index);
	*file = (struct pprof_file){ 0 };
}

struct pprof_span pprof_file_string(const struct pprof_file *file, uint64_t index)
{
	return index < file->n_strings ? file->strings[index] : (struct pprof_span){ 0 };
}

bool pprof_file_is(const struct pprof_file *file, uint64_t index, const char *text)
{
	struct pprof_span string = pprof_file_string(file, index);

	return string.at && string.size == strlen(text) &&
	       memcmp(string.at, text, string.size) == 0;
}
