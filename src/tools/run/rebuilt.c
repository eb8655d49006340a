// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/rebuilt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "run/names_copy.h"

#define NAME_SIZE 512

static void own_names(struct names **names)
{
	names_free(*names);
}

static const char *file_name(const struct names_object *object)
{
	const char *slash = strrchr(object->path, '/');

	return slash && slash[1] ? slash + 1 : object->path;
}

static bool same_build(const struct names_object *a, const struct names_object *b)
{
	return a->build_id_size && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* Whether there is a file of that name now, and none of them is the same build. */
static bool is_rebuilt(const struct names *now, const struct names_object *object)
{
	bool met = false;

	for (uint32_t i = 0; i < names_n_objects(now); i++) {
		const struct names_object *other = &names_objects(now)[i];

		if (strcmp(file_name(other), file_name(object)) != 0)
			continue;
		if (same_build(other, object))
			return false;
		met = true;
	}
	return met;
}

/* A function that only its address tells: "[FILE+0xSTART]". */
static bool is_by_address(const struct names_frame *frame)
{
	return frame->flags & NAMES_FRAME_IDENTITY && frame->object != NAMES_NONE && frame->name &&
	       strstr(frame->name, "+0x");
}

/* Which objects of the base have such functions and were rebuilt; false: none. */
static bool find_rebuilt(const struct names *now, const struct names *base, bool *rebuilt)
{
	bool any = false;

	for (uint32_t i = 0; i < names_n_frames(base); i++) {
		struct names_frame frame = names_frame(base, i);

		if (is_by_address(&frame))
			rebuilt[frame.object] = true;
	}
	/* There are fewer objects than frames, and each takes a pass over the others. */
	for (uint32_t i = 0; i < names_n_objects(base); i++) {
		rebuilt[i] = rebuilt[i] && is_rebuilt(now, &names_objects(base)[i]);
		any = any || rebuilt[i];
	}
	return any;
}

static struct names_frame copy_frame(const struct names *from, uint32_t i, const bool *rebuilt,
				     struct names *names, bool *failed)
{
	struct names_frame frame = names_frame(from, i);
	char text[NAME_SIZE];

	if (is_by_address(&frame) && rebuilt[frame.object]) {
		snprintf(text, sizeof(text), "%.*s of another build]", (int)strlen(frame.name) - 1,
			 frame.name);
		frame.name = text;
	}
	frame.name = names_copy_string(names, frame.name, failed);
	frame.linkage_name = names_copy_string(names, frame.linkage_name, failed);
	frame.module = names_copy_string(names, frame.module, failed);
	frame.file = names_copy_string(names, frame.file, failed);
	return frame;
}

static int copy_names(const struct names *from, const bool *rebuilt, struct names *names)
{
	int r = names_copy_objects(from, names);

	for (uint32_t i = 0; r == 0 && i < names_n_addresses(from); i++) {
		struct names_frame frames[NAMES_MAX_INLINED];
		struct names_address address = names_address(from, i);
		bool failed = false;

		for (uint32_t k = 0; k < address.n; k++)
			frames[k] = copy_frame(from, address.first + k, rebuilt, names, &failed);
		r = failed ? -ENOMEM : names_add_address(names, frames, address.n);
	}
	return r;
}

static void list_files(const struct names *base, const bool *rebuilt, char files[REBUILT_LINE])
{
	size_t used = 0;

	files[0] = '\0';
	for (uint32_t i = 0; i < names_n_objects(base); i++) {
		const char *name = file_name(&names_objects(base)[i]);

		if (!rebuilt[i])
			continue;
		if (strlen(name) + 8 > REBUILT_LINE - used) {
			snprintf(files + used, REBUILT_LINE - used, ", ...");
			return;
		}
		used += (size_t)snprintf(files + used, REBUILT_LINE - used, "%s%s",
					 used ? ", " : "", name);
	}
}

int rebuilt_make(const struct names *now, const struct names *base, char files[REBUILT_LINE],
		 struct names **ret_names)
{
	own(own_free) bool *rebuilt = calloc(names_n_objects(base) + 1ull, sizeof(*rebuilt));
	own(own_names) struct names *copy = NULL;
	int r;

	*ret_names = NULL;
	if (!rebuilt)
		return -ENOMEM;
	if (!find_rebuilt(now, base, rebuilt))
		return 0;
	list_files(base, rebuilt, files);
	r = names_new(&copy);
	if (r == 0)
		r = copy_names(base, rebuilt, copy);
	if (r < 0)
		return r;
	*ret_names = take_ptr(copy);
	return 0;
}
