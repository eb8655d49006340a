// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads pprof's profile.proto, not gzipped, ours or another program's, with the checks of
 * import/pprof_file.h and the value of import/pprof_values.h. It takes the labels comm (or thread),
 * pid and tid. Locations in a mapping whose name begins with "[kernel" are the kernel's; those
 * without lines are named after their mapping and address.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "import/kind.h"
#include "import/pprof_file.h"
#include "import/pprof_prune.h"
#include "import/pprof_values.h"
#include "report/pprof_wire.h"
#include "view/frame_text.h"
#include "view/stack_list.h"

#define START 512 /* bytes at the beginning that tell that it is no text */

/* What a location is beyond its row. */
struct place {
	enum stack_mark mark; /* that it stands for, or STACK_N_MARKS */
	bool kernel;
	/* Its last or another of its functions is left out, with all that it calls. */
	bool prune, prune_below;
};

struct pprof_reader {
	struct pprof_file file;
	struct pprof_wanted values;
	struct pprof_prune prune;
	struct tally *tally;
	struct names *names;
	struct pool *pool;
	struct place *places; /* of the locations */
	uint32_t *objects;    /* of the mappings, or NAMES_NONE until one is needed */
	struct bytes text;    /* a name that is made */
	uint32_t user[TALLY_MAX_FRAMES], kernel[TALLY_MAX_FRAMES]; /* leaf first */
	uint32_t n_user, n_kernel;
	bool missed_user, missed_kernel, cut_user, cut_kernel;
	struct names_frame frames[NAMES_MAX_INLINED];
	uint64_t total;
};

static struct pprof_span string(const struct pprof_reader *reader, uint64_t index)
{
	return pprof_file_string(&reader->file, index);
}

static bool is(struct pprof_span span, const char *text)
{
	return span.at && span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

static bool begins(struct pprof_span span, const char *text)
{
	return span.at && span.size >= strlen(text) && memcmp(span.at, text, strlen(text)) == 0;
}

static int keep(struct pprof_reader *reader, const char *text, size_t size, const char **ret_copy)
{
	const char *copy = pool_string_n(reader->pool, text, strnlen(text, size));

	if (!copy)
		return -ENOMEM;
	*ret_copy = copy;
	return 0;
}

/* ---- mappings: objects of the names ---- */

struct range {
	uint64_t start, end, offset, build_id;
};

static struct range range_of(const struct pprof_row *mapping)
{
	struct pprof_span message = mapping->message;
	struct pprof_field field;
	struct range range = { 0 };

	while (pprof_next(&message, &field) > 0) {
		if (field.number == PPROF_MAPPING_MEMORY_START)
			range.start = field.value;
		else if (field.number == PPROF_MAPPING_MEMORY_LIMIT)
			range.end = field.value;
		else if (field.number == PPROF_MAPPING_FILE_OFFSET)
			range.offset = field.value;
		else if (field.number == PPROF_MAPPING_BUILD_ID)
			range.build_id = field.value;
	}
	return range;
}

static int hex_digit(char digit)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, digit | 0x20);

	return at && digit ? (int)(at - digits) : -1;
}

/* Some build-ids are no hexadecimal numbers; these are left out. */
static void set_build_id(struct names_object *object, struct pprof_span text)
{
	if (text.size % 2 || text.size / 2 > NAMES_BUILD_ID_SIZE)
		return;
	for (size_t i = 0; i < text.size / 2; i++) {
		int high = hex_digit(text.at[2 * i]), low = hex_digit(text.at[2 * i + 1]);

		if (high < 0 || low < 0)
			return;
		object->build_id[i] = (uint8_t)(high << 4 | low);
	}
	object->build_id_size = (uint32_t)text.size / 2;
}

static int add_object(struct pprof_reader *reader, const struct pprof_row *mapping,
		      uint32_t *ret_index)
{
	struct pprof_span path = string(reader, mapping->name);
	struct range range = range_of(mapping);
	struct names_object object = { .start = range.start,
				       .end = range.end,
				       .offset = range.offset };
	int r = keep(reader, path.at, path.size, &object.path);

	set_build_id(&object, string(reader, range.build_id));
	return r < 0 ? r : names_add_object(reader->names, &object, ret_index);
}

/* The name of a file without its directories, and without the brackets of the kernel's. */
static struct pprof_span base_name(struct pprof_span path)
{
	const char *slash = path.size ? memrchr(path.at, '/', path.size) : NULL;

	if (slash && slash + 1 < path.at + path.size)
		path = (struct pprof_span){ slash + 1, path.size - (size_t)(slash + 1 - path.at) };
	if (path.size > 2 && path.at[0] == '[' && path.at[path.size - 1] == ']')
		path = (struct pprof_span){ path.at + 1, path.size - 2 };
	return path;
}

/* ---- locations: addresses of the tally ---- */

static uint64_t address_of(const struct pprof_row *location)
{
	struct pprof_span message = location->message;
	struct pprof_field field;
	uint64_t address = 0;

	while (pprof_next(&message, &field) > 0)
		if (field.number == PPROF_LOCATION_ADDRESS)
			address = field.value;
	return address;
}

static int object_of(struct pprof_reader *reader, const struct pprof_row *mapping,
		     uint32_t *ret_object)
{
	uint32_t *object = &reader->objects[mapping - reader->file.mappings.list];
	int r = *object == NAMES_NONE ? add_object(reader, mapping, object) : 0;

	if (r == 0)
		*ret_object = *object;
	return r;
}

/*
 * Code without a function is `[FILE+0xOFFSET]`, or `[0xADDRESS]` if it is in no file. It keeps both
 * for formats that show them.
 */
static int name_code(struct pprof_reader *reader, const struct pprof_row *location,
		     struct names_frame *frame)
{
	const struct pprof_row *mapping = pprof_file_find(&reader->file.mappings, location->name);
	struct pprof_span file =
		mapping ? base_name(string(reader, mapping->name)) : (struct pprof_span){ 0 };
	uint64_t address = address_of(location);
	struct range range = { 0 };
	int r = 0;

	if (!address && !file.size)
		return 0;
	reader->text.used = 0;
	bytes_char(&reader->text, '[');
	if (file.size) {
		range = range_of(mapping);
		r = object_of(reader, mapping, &frame->object);
		if (r == 0)
			r = keep(reader, file.at, file.size, &frame->module);
		bytes_put(&reader->text, frame->module, r == 0 ? strlen(frame->module) : 0);
	}
	if (address) {
		bool inside = file.size && address >= range.start && address < range.end &&
			      !(frame->flags & NAMES_FRAME_KERNEL);

		bytes_string(&reader->text, file.size ? "+0x" : "0x");
		bytes_hex(&reader->text, inside ? address - range.start + range.offset : address, 0,
			  false);
	}
	bytes_char(&reader->text, ']');
	if (r < 0 || reader->text.failed)
		return -ENOMEM;
	frame->flags |= NAMES_FRAME_IDENTITY;
	return keep(reader, reader->text.start, reader->text.used, &frame->name);
}

static int name_frame(struct pprof_reader *reader, const struct place *place, uint64_t function,
		      struct names_frame *frame)
{
	const struct pprof_row *row = pprof_file_find(&reader->file.functions, function);
	struct pprof_span name = string(reader, row ? row->name : 0);

	*frame = (struct names_frame){ .object = NAMES_NONE };
	if (place->kernel)
		frame->flags |= NAMES_FRAME_KERNEL;
	if (is(name, "[jit]"))
		frame->flags |= NAMES_FRAME_JIT;
	if (begins(name, "[unwind: ") && name.size > strlen("[unwind: "))
		frame->flags |= NAMES_FRAME_UNWIND;
	if (name.size == 0 || name.at[0] == '\0' || is(name, frame_text_name(frame)))
		return 0;
	return keep(reader, name.at, name.size, &frame->name);
}

static int read_lines(struct pprof_reader *reader, const struct pprof_row *location,
		      const struct place *place, uint32_t *ret_n)
{
	const struct pprof_row *mapping = pprof_file_find(&reader->file.mappings, location->name);
	struct pprof_span message = location->message, line;
	struct pprof_field field;
	uint32_t n = 0;
	int r = 0;

	while (r == 0 && pprof_next(&message, &field) > 0) {
		uint64_t function = 0;

		if (field.number != PPROF_LOCATION_LINE)
			continue;
		if (n == NAMES_MAX_INLINED)
			return -E2BIG;
		line = field.bytes;
		while (pprof_next(&line, &field) > 0)
			if (field.number == PPROF_LINE_FUNCTION_ID)
				function = field.value;
		r = name_frame(reader, place, function, &reader->frames[n++]);
	}
	if (r == 0 && n == 0) {
		r = name_frame(reader, place, 0, &reader->frames[n++]);
		if (r == 0)
			r = name_code(reader, location, &reader->frames[0]);
	}
	for (uint32_t i = 0; r == 0 && i < n && mapping && string(reader, mapping->name).size; i++)
		r = object_of(reader, mapping, &reader->frames[i].object);
	*ret_n = n;
	return r;
}

/* Leaves out the innermost functions of a location, as pprof does. */
static uint32_t prune_lines(struct pprof_reader *reader, struct place *place, uint32_t n)
{
	uint32_t kept = n;

	while (kept > 0 && !pprof_prune_matches(&reader->prune, reader->frames[kept - 1].name))
		kept--;
	if (kept == 0)
		return n;
	place->prune = kept == n;
	place->prune_below = !place->prune;
	if (place->prune)
		return n;
	memmove(reader->frames, reader->frames + kept, (n - kept) * sizeof(reader->frames[0]));
	return n - kept;
}

static int add_location(struct pprof_reader *reader, uint32_t i)
{
	const struct pprof_row *location = &reader->file.locations.list[i];
	const struct pprof_row *mapping = pprof_file_find(&reader->file.mappings, location->name);
	struct place *place = &reader->places[i];
	struct tally_address address = { .address = address_of(location) };
	uint32_t n = 0;
	int r;

	place->kernel = mapping && begins(string(reader, mapping->name), "[kernel");
	place->mark = STACK_N_MARKS;
	address.image = !place->kernel;
	if (!address.address)
		address.address = i;
	r = read_lines(reader, location, place, &n);
	if (r < 0)
		return r;
	if (reader->prune.drops)
		n = prune_lines(reader, place, n);
	if (n == 1 && reader->frames[0].name)
		place->mark = stack_mark_of(reader->frames[0].name, strlen(reader->frames[0].name));
	for (uint32_t k = 0; k + 1 < n; k++)
		reader->frames[k].flags |= NAMES_FRAME_INLINED;
	r = names_add_address(reader->names, reader->frames, n);
	return r < 0 ? r : tally_append_address(reader->tally, &address);
}

/* ---- samples ---- */

static void add_frame(struct pprof_reader *reader, uint64_t id)
{
	const struct pprof_row *row = pprof_file_find(&reader->file.locations, id);
	uint32_t at = row ? (uint32_t)(row - reader->file.locations.list) : 0;
	const struct place *place = &reader->places[at];
	bool kernel = place->kernel && !reader->n_user;
	uint32_t *n = kernel ? &reader->n_kernel : &reader->n_user;

	switch (row ? place->mark : STACK_MARK_NONE) {
	case STACK_MARK_MISSED_USER:
		reader->missed_user = true;
		return;
	case STACK_MARK_MISSED_KERNEL:
		reader->missed_kernel = true;
		return;
	case STACK_MARK_TRUNCATED:
		/* It follows the frames of its stack, leaf first. */
		*(reader->n_user || !reader->n_kernel ? &reader->cut_user : &reader->cut_kernel) =
			true;
		return;
	case STACK_MARK_NONE:
		return;
	default:
		break;
	}
	/* Callers of user code are user code, whatever their mapping says. */
	if (*n == TALLY_MAX_FRAMES)
		*(kernel ? &reader->cut_kernel : &reader->cut_user) = true;
	else
		(kernel ? reader->kernel : reader->user)[(*n)++] = at;
}

static void read_label(const struct pprof_reader *reader, struct pprof_span message,
		       struct tally_entry *entry)
{
	struct pprof_span key = { 0 }, text = { 0 };
	struct pprof_field field;
	uint64_t number = 0;

	while (pprof_next(&message, &field) > 0) {
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
}

/*
 * How many locations of a sample, leaf first, are left out: up to the one nearest to the root that
 * wants it, if one that does not is nearer to the root; so that no stack is empty.
 */
static uint64_t count_pruned(const struct pprof_reader *reader, struct pprof_span sample)
{
	uint64_t at = 0, pruned = 0, would_be = 0, id;
	struct pprof_field field;

	while (reader->prune.drops && pprof_next(&sample, &field) > 0) {
		if (field.number != PPROF_SAMPLE_LOCATION_ID)
			continue;
		for (; pprof_file_number(&field, &id) > 0; at++) {
			const struct pprof_row *row = pprof_file_find(&reader->file.locations, id);
			const struct place *place =
				row ? &reader->places[row - reader->file.locations.list] : NULL;

			if (place && (place->prune || place->prune_below))
				would_be = at + place->prune;
			else
				pruned = would_be;
		}
	}
	return pruned;
}

/* Adds the frames of a field behind the first `*skip` of the sample. */
static void read_frames(struct pprof_reader *reader, struct pprof_field field, uint64_t *skip)
{
	uint64_t id;

	while (pprof_file_number(&field, &id) > 0)
		if (*skip > 0)
			--*skip;
		else
			add_frame(reader, id);
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
	struct pprof_span rest = message;
	struct tally_entry entry = { 0 };
	struct pprof_field field;
	uint64_t count = pprof_values_value(&reader->values, message);
	uint64_t skip = count_pruned(reader, message);

	reader->n_user = reader->n_kernel = 0;
	reader->missed_user = reader->missed_kernel = false;
	reader->cut_user = reader->cut_kernel = false;
	while (pprof_next(&rest, &field) > 0) {
		if (field.number == PPROF_SAMPLE_LOCATION_ID)
			read_frames(reader, field, &skip);
		else if (field.number == PPROF_SAMPLE_LABEL)
			read_label(reader, field.bytes, &entry);
	}
	if (count > INT64_MAX)
		return -EDOM;
	if (__builtin_add_overflow(reader->total, count, &reader->total) ||
	    reader->total > INT64_MAX)
		return -ERANGE;
	entry.count = count;
	return count ? add_sample(reader, &entry) : 0;
}

static int read_samples(struct pprof_reader *reader)
{
	struct pprof_span rest = reader->file.bytes;
	struct pprof_field field;
	int r = 0;

	while (r == 0 && pprof_next(&rest, &field) > 0)
		if (field.number == PPROF_PROFILE_SAMPLE)
			r = read_sample(reader, field.bytes);
	return r;
}

static int read_all(struct pprof_reader *reader)
{
	const struct pprof_file *file = &reader->file;
	int r = 0;

	reader->places = calloc((size_t)file->locations.n + 1, sizeof(*reader->places));
	reader->objects = calloc((size_t)file->mappings.n + 1, sizeof(*reader->objects));
	if (!reader->places || !reader->objects)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->mappings.n; i++)
		reader->objects[i] = NAMES_NONE;
	for (uint32_t i = 0; r == 0 && i < file->locations.n; i++)
		r = add_location(reader, i);
	return r < 0 ? r : read_samples(reader);
}

static int explain(int code, struct error *err)
{
	switch (code) {
	case -EDOM:
		return error_set(err, code, "counts below 0: itself a difference");
	case -ERANGE:
		return error_set(err, code, "the sum of the counts is too large");
	case -ENOMEM:
		return error_set(err, code, "out of memory");
	default:
		return error_set(err, code, "too large");
	}
}

static void reader_free(struct pprof_reader *reader)
{
	if (!reader)
		return;
	pprof_file_clear(&reader->file);
	pprof_prune_clear(&reader->prune);
	free(reader->places);
	free(reader->objects);
	bytes_clear(&reader->text);
	free(reader);
}

DEFINE_OWN(struct pprof_reader, reader_free)

static int refuse_value(const struct pprof_reader *reader, const char *value, struct error *err)
{
	char values[500];

	pprof_values_list(&reader->file, values, sizeof(values));
	return error_set(err, -EINVAL, "it has no value %s, but: %s", value, values);
}

/* A message has control characters in its first bytes; text has only tabs and line ends. */
static bool is_no_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < START; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r')
			return true;
	}
	return false;
}

static int read_pprof(const struct import_file *file, struct baseline *base, struct error *err)
{
	own(own_reader_free) struct pprof_reader *reader = calloc(1, sizeof(*reader));
	own(own_pool_free) struct pool *pool = NULL;
	int r = reader ? pool_new(&pool) : -ENOMEM;

	if (r == 0)
		r = names_share_strings(base->names, pool);
	if (r < 0)
		return explain(r, err);
	reader->tally = base->tally;
	reader->names = base->names;
	reader->pool = pool;
	bytes_start(&reader->text, NULL);
	r = pprof_file_read(&reader->file, file->bytes, file->size, err);
	if (r < 0)
		return r;
	r = pprof_prune_start(&reader->prune, &reader->file, err);
	if (r < 0)
		return r;
	r = pprof_values_choose(&reader->file, file->value, pool, &base->meta, &reader->values);
	if (r == -ENOENT)
		return refuse_value(reader, file->value, err);
	if (r == 0)
		r = read_all(reader);
	base->has_addresses = r == 0;
	return r < 0 ? explain(r, err) : 0;
}

const struct import_kind pprof_kind = {
	.name = "a pprof file",
	.has_values = true,
	.knows = is_no_text,
	.read = read_pprof,
};
