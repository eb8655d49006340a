// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/renamed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"
#include "run/names_copy.h"
#include "symbolize/debug_directory.h"
#include "symbolize/debug_names.h"
#include "symbolize/debuginfod.h"

DEFINE_OWN(struct names, names_free)

/* A function without a symbol. */
struct function {
	uint64_t start; /* address in its file */
	uint32_t object;
};

struct renaming {
	const struct names *names;
	struct confined *readers;
	struct debug_directory *directory; /* or NULL */
	struct debuginfod *debuginfod;	   /* or NULL */
	struct pool *pool;		   /* of the names that are found */
	struct function *functions;	   /* ascending by object and start */
	struct symbol_query *found;	   /* for each function */
	uint32_t n, capacity;
};

static void renaming_clear(struct renaming *renaming)
{
	debug_directory_close(renaming->directory);
	debuginfod_free(renaming->debuginfod);
	confined_free(renaming->readers);
	pool_free(renaming->pool);
	free(renaming->functions);
	free(renaming->found);
}

/* The START of [FILE+0xSTART]. */
static bool function_of(const struct names_frame *frame, struct function *ret_function)
{
	const char *at = frame->flags & NAMES_FRAME_IDENTITY && frame->name
				 ? strrchr(frame->name, '+')
				 : NULL;
	char *end;

	if (!at || strncmp(at, "+0x", 3) != 0 || frame->object == NAMES_NONE)
		return false;
	ret_function->object = frame->object;
	ret_function->start = strtoull(at + 1, &end, 16);
	return strcmp(end, "]") == 0;
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Lists the functions, each once. */
static int list_functions(struct renaming *renaming)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < names_n_frames(renaming->names); i++) {
		struct names_frame frame = names_frame(renaming->names, i);
		struct function function;
		int r;

		if (!function_of(&frame, &function))
			continue;
		r = grow(&renaming->functions, &renaming->capacity, (size_t)renaming->n + 1);
		if (r < 0)
			return r;
		renaming->functions[renaming->n++] = function;
	}
	if (renaming->n)
		qsort(renaming->functions, renaming->n, sizeof(*renaming->functions), compare);
	for (uint32_t i = 0; i < renaming->n; i++)
		if (!n || compare(&renaming->functions[i], &renaming->functions[n - 1]) != 0)
			renaming->functions[n++] = renaming->functions[i];
	renaming->n = n;
	renaming->found = calloc((size_t)n + 1, sizeof(*renaming->found));
	if (!renaming->found)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		renaming->found[i].address = renaming->functions[i].start;
		renaming->found[i].chain = QUERY_NO_CHAIN;
	}
	return 0;
}

/* Looks the functions [from, to) up in a file. Whether all are named now; or -ENOMEM. */
static int look_up_in(struct renaming *renaming, int fd, uint32_t from, uint32_t to)
{
	const struct names_object *object =
		&names_objects(renaming->names)[renaming->functions[from].object];
	int r = debug_names_find(renaming->readers, fd, object->build_id, object->build_id_size,
				 renaming->pool, &renaming->found[from], to - from);

	if (r == -ENOMEM)
		return r;
	for (uint32_t i = from; i < to; i++)
		if (!renaming->found[i].name)
			return false;
	return true;
}

/* The functions [from, to) of one file. 0 or -ENOMEM. */
static int look_up(struct renaming *renaming, uint32_t from, uint32_t to)
{
	const struct names_object *object =
		&names_objects(renaming->names)[renaming->functions[from].object];
	uint32_t next = 0;
	int done = 0;

	while (renaming->directory && object->build_id_size && !done) {
		own(own_fd) int fd = debug_directory_next(renaming->directory, object->build_id,
							  object->build_id_size, &next);

		if (fd < 0)
			break;
		done = look_up_in(renaming, fd, from, to);
	}
	if (renaming->debuginfod && object->build_id_size && !done) {
		own(own_fd) int fd = debuginfod_open(renaming->debuginfod, object->build_id,
						     object->build_id_size);

		if (fd >= 0)
			done = look_up_in(renaming, fd, from, to);
	}
	return done < 0 ? done : 0;
}

static int look_up_all(struct renaming *renaming)
{
	int r = 0;

	for (uint32_t from = 0, to; r == 0 && from < renaming->n; from = to) {
		for (to = from + 1; to < renaming->n; to++)
			if (renaming->functions[to].object != renaming->functions[from].object)
				break;
		r = look_up(renaming, from, to);
	}
	return r;
}

static const struct symbol_query *found_for(const struct renaming *renaming,
					    const struct names_frame *frame)
{
	struct function function;
	size_t i;

	if (!function_of(frame, &function))
		return NULL;
	i = partition_point(k, renaming->n, compare(&renaming->functions[k], &function) < 0);
	return i < renaming->n && renaming->found[i].name ? &renaming->found[i] : NULL;
}

static struct names_frame copy_frame(const struct renaming *renaming, uint32_t i,
				     struct names *names, bool *failed)
{
	struct names_frame frame = names_frame(renaming->names, i);
	const struct symbol_query *found = found_for(renaming, &frame);

	if (found) {
		frame.name = found->name;
		frame.linkage_name = found->linkage_name;
		frame.offset += found->address - found->start;
		frame.flags &= (uint16_t)~NAMES_FRAME_IDENTITY;
	} else {
		frame.name = names_copy_string(names, frame.name, failed);
		frame.linkage_name = names_copy_string(names, frame.linkage_name, failed);
	}
	frame.module = names_copy_string(names, frame.module, failed);
	frame.file = names_copy_string(names, frame.file, failed);
	return frame;
}

static int copy_names(const struct renaming *renaming, struct names *names)
{
	const struct names *from = renaming->names;
	int r = names_share_strings(names, renaming->pool);

	if (r == 0)
		r = names_copy_objects(from, names);
	for (uint32_t i = 0; r == 0 && i < names_n_addresses(from); i++) {
		struct names_frame frames[NAMES_MAX_INLINED];
		struct names_address address = names_address(from, i);
		bool failed = false;

		for (uint32_t k = 0; k < address.n; k++)
			frames[k] = copy_frame(renaming, address.first + k, names, &failed);
		r = failed ? -ENOMEM : names_add_address(names, frames, address.n);
	}
	return r;
}

static int open_places(struct renaming *renaming, const char *directory, struct error *err)
{
	int r = confined_new(&confined_limits_default, &renaming->readers);

	if (r == 0)
		r = pool_new(&renaming->pool);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (directory) {
		r = debug_directory_open(directory, renaming->readers, &renaming->directory);
		if (r < 0)
			return error_set(err, r, "cannot open %s: %s", directory, strerror(-r));
	}
	r = debuginfod_new(&renaming->debuginfod);
	return r == -ENOMEM ? error_set(err, r, "out of memory") : 0;
}

int renamed_make(const struct names *names, const char *directory, struct names **ret_names,
		 struct error *err)
{
	own(renaming_clear) struct renaming renaming = { .names = names };
	own(own_names_free) struct names *copy = NULL;
	int r = open_places(&renaming, directory, err);

	*ret_names = NULL;
	if (r < 0 || (!renaming.directory && !renaming.debuginfod))
		return r;
	r = list_functions(&renaming);
	if (r == 0)
		r = look_up_all(&renaming);
	if (r == 0)
		r = names_new(&copy);
	if (r == 0)
		r = copy_names(&renaming, copy);
	if (r < 0)
		return error_set(err, r, "cannot look up names: %s", strerror(-r));
	*ret_names = take_ptr(copy);
	return 0;
}
