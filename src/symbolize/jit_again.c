// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/jit_again.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/own.h"
#include "symbolize/jit_names.h"

void jit_again_free(struct jit_again *again)
{
	free(again->files);
	*again = (struct jit_again){ 0 };
}

static int64_t size_of(const struct images *images, uint32_t image, enum jit_file kind)
{
	struct stat status;
	int r;

	images_lock(images);
	r = images_stat_jit(images, image, kind, &status);
	images_unlock(images);
	return r == 0 ? status.st_size : 0;
}

/* Whether a file of the process has grown since this was asked before. */
static bool has_grown(struct jit_again *again, const struct images *images, uint32_t image)
{
	static const enum jit_file kinds[] = { JIT_FILE_PERF_MAP, JIT_FILE_JITDUMP };
	struct jit_files *files = &again->files[image];

	if (files->round == again->round)
		return files->grown;
	files->round = again->round;
	files->was_over = files->over;
	files->over = images_jit_is_over(images, image);
	files->grown = files->over && !files->was_over;
	for (uint32_t i = 0; i < 2; i++) {
		int64_t size = size_of(images, image, kinds[i]);

		files->grown = files->grown || size > files->sizes[i];
		files->sizes[i] = size;
	}
	return files->grown;
}

/* Generated code, and code of a file without symbols and function starts, which .NET has. */
static bool may_change(const struct names_frame *frame)
{
	return frame->flags & NAMES_FRAME_JIT ||
	       (frame->flags & NAMES_FRAME_IDENTITY && frame->name && !strchr(frame->name, '+'));
}

/* What was there while an image lasted is known once that is over, but for code without a name. */
static bool is_due(struct jit_again *again, const struct images *images, uint32_t image,
		   const struct names_frame *frame)
{
	bool grown = has_grown(again, images, image);
	bool known = again->files[image].was_over && frame->flags & NAMES_FRAME_JIT &&
		     strcmp(frame->name, "[jit]") != 0;

	return !known && (grown || jit_names_is_either(frame->name));
}

static int add_images(struct jit_again *again, uint32_t n)
{
	int r = grow(&again->files, &again->capacity, n);

	if (r == 0 && n > again->n) {
		memset(again->files + again->n, 0, (n - again->n) * sizeof(*again->files));
		again->n = n;
	}
	return r;
}

int jit_again_find(struct jit_again *again, const struct images *images, const struct tally *tally,
		   const struct names *names, uint32_t **ret_ids, uint32_t *ret_n)
{
	const struct tally_address *addresses = tally_addresses(tally);
	own(own_free) uint32_t *ids = NULL;
	uint32_t n = 0, capacity = 0;
	int r = 0;

	again->round++;
	for (uint32_t id = 0; r == 0 && id < names_n_addresses(names); id++) {
		struct names_address address = names_address(names, id);
		struct names_frame frame = names_frame(names, address.first);
		uint32_t image = addresses[id].image;

		if (address.n != 1 || image == IMAGE_NONE || !may_change(&frame))
			continue;
		r = add_images(again, image + 1);
		if (r < 0 || !is_due(again, images, image, &frame))
			continue;
		r = grow(&ids, &capacity, n + 1);
		if (r == 0)
			ids[n++] = id;
	}
	if (r < 0)
		return r;
	*ret_ids = take_ptr(ids);
	*ret_n = n;
	return 0;
}
