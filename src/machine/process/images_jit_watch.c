// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generated code over time: the files in which processes name it are looked at while they are
 * sampled, and a process whose file has grown gets a new image.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "process/images_internal.h"

#define LOOK_NS	       (100 * NS_PER_MS)
#define LOOK_ABSENT_NS (2 * NS_PER_SECOND) /* for a file that a process has not made so far */
#define LOOK_ANEW_NS   (10 * NS_PER_SECOND)
#define SMALL_PART     4u
#define MAX_LOOKS      32u /* in one call */

/* Each image costs a child that reads the file, when names are looked up. */
#define FIRST_IMAGES 4u
#define MORE_NS	     (4 * NS_PER_SECOND) /* until one more may begin */
#define MAX_IMAGES   16u		 /* of a process, and 8 times that of all, in one report */
#define MAX_BYTES    (4ull << 20) /* the sizes of the files that they make necessary to read */

struct jit_watch {
	struct {
		uint64_t inode, size; /* 0, 0: there is none */
	} files[2];		      /* by enum jit_file */
	uint64_t began, next;	      /* `next`: nothing is done before */
	uint64_t bytes;
	uint32_t n_images; /* that were begun, since the last report */
};

/* Most processes have no generated code. .NET has it in memory that has a name. */
static bool has_generated(const struct image *image)
{
	for (uint32_t i = 0; i < image->mappings->n; i++) {
		const struct mapping *mapping = &image->mappings->at[i];

		if (mapping->kind == MAPPING_ANONYMOUS ||
		    (mapping->kind == MAPPING_FILE && strstr(mapping->name, "memfd:")))
			return true;
	}
	return false;
}

/* A file that was written anew says nothing of the order in which its names were right. */
static void forget_windows(struct space *space, enum jit_file kind)
{
	for (struct image *image = space->newest; image; image = image->older)
		image->jit_from[kind] = image->jit_until[kind] = UINT64_MAX;
}

/* Reads how large the file is now. True: it is another one, or was written anew. */
static bool look_at_file(struct images *images, struct space *space, enum jit_file kind)
{
	uint64_t inode = space->jit->files[kind].inode, size = space->jit->files[kind].size;
	struct stat status;
	bool anew;

	if (images_stat_jit_of(images, space->newest, kind, &status) < 0)
		return false;
	anew = inode && (inode != status.st_ino || size > (uint64_t)status.st_size);
	if (anew)
		forget_windows(space, kind);
	space->jit->files[kind].inode = status.st_ino;
	space->jit->files[kind].size = (uint64_t)status.st_size;
	return anew;
}

/* The state of the files when it begins, or was begun and not sampled yet. */
static void set_beginning(struct image *image, const struct jit_watch *watch, uint64_t now)
{
	for (uint32_t i = 0; i < 2; i++)
		image->jit_from[i] = image->jit_until[i] = watch->files[i].size;
	image->jit_from_ns = image->jit_until_ns = now;
}

/* What the files have by now was named while the image was the newest one. */
static void look_again(struct image *image, const struct jit_watch *watch, uint64_t now)
{
	for (uint32_t i = 0; i < 2; i++)
		image->jit_until[i] = watch->files[i].size;
	image->jit_until_ns = now;
}

/*
 * The samples of the time since the last look may be of either code. They get the name of before,
 * unless that time was a large part of the image's.
 */
static bool is_short(const struct image *image, uint64_t now)
{
	return (now - image->jit_until_ns) * SMALL_PART > now - image->jit_from_ns;
}

static bool may_begin(const struct images *images, const struct jit_watch *watch, uint64_t now)
{
	uint64_t bytes = watch->bytes + watch->files[0].size + watch->files[1].size;

	return bytes <= MAX_BYTES && watch->n_images < MAX_IMAGES &&
	       images->n_jit_images < 8 * MAX_IMAGES &&
	       watch->n_images < FIRST_IMAGES + (now - watch->began) / MORE_NS;
}

static int look_at_space(struct images *images, struct space *space, uint64_t now, uint32_t *ret_n)
{
	struct jit_watch *watch = space->jit;
	struct image *image = space->newest;
	bool anew = look_at_file(images, space, JIT_FILE_PERF_MAP);
	uint64_t age = now - watch->began;

	anew |= look_at_file(images, space, JIT_FILE_JITDUMP);
	watch->next = now + LOOK_NS;
	if (anew)
		watch->next = now + LOOK_ANEW_NS;
	else if (!watch->files[0].inode && !watch->files[1].inode && age > LOOK_NS)
		watch->next = now + (age < LOOK_ABSENT_NS ? LOOK_NS : LOOK_ABSENT_NS);
	if (!image->jit_until_ns || image->id == IMAGE_NONE || anew) {
		set_beginning(image, watch, now);
		return 0;
	}
	if ((watch->files[0].size > image->jit_from[0] ||
	     watch->files[1].size > image->jit_from[1]) &&
	    may_begin(images, watch, now)) {
		if (is_short(image, now))
			look_again(image, watch, now);
		image = space_begin(space, now, mappings_share(image->mappings));
		if (!image)
			return -ENOMEM;
		set_beginning(image, watch, now);
		watch->bytes += watch->files[0].size + watch->files[1].size;
		watch->n_images++;
		images->n_jit_images++;
		(*ret_n)++;
		return 0;
	}
	look_again(image, watch, now);
	return 0;
}

/* Whether the space's files are to be looked at now. 1, 0 or -ENOMEM. */
static int is_due(struct space *space, uint64_t now)
{
	if (space->until || !space->newest || !space->n_ids)
		return 0;
	if (space->jit && space->jit->next > now)
		return 0;
	if (!has_generated(space->newest))
		return 0;
	if (!space->jit) {
		space->jit = calloc(1, sizeof(*space->jit));
		if (!space->jit)
			return -ENOMEM;
		space->jit->began = now;
	}
	return 1;
}

int images_watch_jit(struct images *images, uint64_t now, uint32_t *ret_n)
{
	uint32_t looks = 0, n = 0;

	*ret_n = 0;
	if (now < images->next_jit)
		return 0;
	images->next_jit = now + LOOK_NS;
	/* By the ids that were given: most processes of a machine are not sampled. */
	for (uint32_t i = 1; i < images->n_ids && looks < MAX_LOOKS; i++) {
		struct space *space;
		int r;

		/* The next call goes on behind the last one that was looked at. */
		images->jit_id = images->jit_id + 1 < images->n_ids ? images->jit_id + 1 : 1;
		space = images->ids[images->jit_id]->space;
		r = is_due(space, now);
		looks += r > 0;
		if (r > 0)
			r = look_at_space(images, space, now, &n);
		if (r < 0)
			return r;
	}
	*ret_n = n;
	return 0;
}

void images_reported_jit(struct images *images)
{
	images->n_jit_images = 0;
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		for (struct space *space = images->spaces.buckets[i]; space; space = space->older) {
			struct image *image = space->newest;

			if (!space->jit || !image)
				continue;
			space->jit->n_images = 0;
			space->jit->bytes = 0;
			memcpy(image->jit_from, image->jit_until, sizeof(image->jit_from));
			image->jit_from_ns = image->jit_until_ns;
		}
	}
}

bool images_jit_is_over(const struct images *images, uint32_t id)
{
	const struct image *image = images_by_id(images, id);

	return image && image != image->space->newest;
}

void images_jit_window(const struct images *images, uint32_t id, enum jit_file kind, int fd,
		       struct jit_window *ret_window)
{
	const struct image *image = images_by_id(images, id);
	const struct jit_watch *watch = image ? image->space->jit : NULL;
	struct stat status;

	*ret_window = (struct jit_window){ .from = UINT64_MAX, .until = UINT64_MAX };
	if (!watch || !image->jit_until_ns || image->jit_until[kind] == UINT64_MAX || fd < 0 ||
	    fstat(fd, &status) < 0)
		return;
	/* Of a file that has just been made, all is later; of another one, nothing is known. */
	if (watch->files[kind].inode && (watch->files[kind].inode != status.st_ino ||
					 (uint64_t)status.st_size < watch->files[kind].size))
		return;
	*ret_window = (struct jit_window){ .from = image->jit_from[kind],
					   .until = image->jit_until[kind],
					   .from_ns = image->jit_from_ns,
					   .until_ns = image->jit_until_ns };
	if (image == image->space->newest &&
	    image->jit_until_ns - image->jit_from_ns < SMALL_PART * LOOK_NS)
		ret_window->until = UINT64_MAX; /* as is_short() */
}
