// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc tells: processes at their first sight, and again when something is missing. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <time.h>

#include "base/own.h"
#include "process/images_internal.h"

#define FIRST_PATIENCE_NS 50000000ull
#define MAX_PATIENCE_NS	  10000000000ull
/* The kernel's records do not wait: their rings hold a second of a machine that starts thousands.
 */
#define KEEP_UP_NS 50000000ull

static void own_closedir(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

uint64_t images_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Enters what was read into the newest image of the space, or makes that its first. */
static int apply(struct images *images, struct space *space, const struct snapshot *snapshot,
		 uint64_t time)
{
	if (!space->newest) {
		struct mapping_list *list = mappings_new(snapshot->mappings, snapshot->n);

		if (!list || !space_begin(space, space->from, list))
			return -ENOMEM;
		space->newest->snapshot = true;
		return 0;
	}
	for (uint32_t i = 0; i < snapshot->n; i++) {
		const struct image *before = space->newest;
		int r = space_map(space, time, &snapshot->mappings[i]);

		if (r < 0)
			return r;
		images->losses.mappings_cut += r > 0;
		if (space->newest != before)
			space->newest->snapshot = true;
	}
	return 0;
}

static int look_at_proc(struct images *images, struct space *space)
{
	struct snapshot snapshot;
	uint64_t now = images_now();
	int r;

	space->next_look = now + (space->patience ? space->patience : FIRST_PATIENCE_NS);
	r = snapshot_read(&images->capture, space->tgid, &snapshot);
	if (r < 0)
		return r;
	if (space->identity_known && space->identity.start_time &&
	    snapshot.identity.start_time != space->identity.start_time) {
		free(snapshot.mappings);
		return -ESRCH; /* the id belongs to another process by now */
	}
	space->identity = snapshot.identity;
	space->identity_known = true;
	space->root = snapshot.root;
	images->losses.mappings_cut += snapshot.cut;
	r = apply(images, space, &snapshot, now);
	if (r == 0) {
		space->snapshot = now;
		images_tell_changed(images, space);
	}
	free(snapshot.mappings);
	return r;
}

/* A child that ended before it was looked at had what its parent had when it forked. */
static int look_at_parent(struct images *images, struct space *space)
{
	struct space *parent = NULL;
	struct image *image;
	int r;

	if (!space->parent)
		return -ESRCH;
	parent = spaces_at(&images->spaces, space->parent, space->from);
	if (!parent) {
		parent = spaces_add(&images->spaces, space->parent, 0);
		if (!parent)
			return -ENOMEM;
	}
	if (!parent->newest) {
		r = parent->until || parent->gone ? -ESRCH : look_at_proc(images, parent);
		if (r < 0)
			return r;
	}
	image = space_image_at(parent, space->from);
	space->root = parent->root;
	space->identity = parent->identity;
	space->identity.start_time = 0;
	space->identity.innermost = 0;
	space->identity_known = parent->identity_known;
	return space_begin(space, space->from, mappings_share(image->mappings)) ? 0 : -ENOMEM;
}

int space_look(struct images *images, struct space *space)
{
	int r = -ESRCH;

	if (space->newest)
		return 0;
	/* Once a later space of the process began, or it ended, /proc tells of something else. */
	if (!space->until && spaces_at(&images->spaces, space->tgid, UINT64_MAX) == space)
		r = look_at_proc(images, space);
	if (r == -ESRCH)
		r = look_at_parent(images, space);
	return r;
}

/* The user and root of a process that is known by records only. */
static void identify(struct images *images, struct space *space)
{
	struct process_view view = PROCESS_VIEW_NONE;
	struct process_identity identity;

	if (space->until || (space->identity_known && space->identity.start_time))
		return;
	if (view_open(space->tgid, &view) < 0)
		return;
	if (view_identity(&view, &identity) == 0) {
		space->identity = identity;
		space->identity_known = true;
		space->root = roots_learn(images->capture.roots, &view);
	}
	view_close(&view);
}

/*
 * The same address space with other code in it. What that is has been told by records, if they
 * are followed and all came; but for the page that the kernel maps for user probes.
 */
static bool is_told_of(const struct images *images, const struct space *space, uint64_t cookie)
{
	return images->catch_up && !images->losses.side_band_lost &&
	       space->cookie >> 32 == cookie >> 32;
}

/* The space a process was in, by time and by mark; one that nothing is known of if it is new. */
static struct space *find(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time)
{
	struct space *space = spaces_at(&images->spaces, tgid, time);
	struct space *marked, *newest;

	if (space && (!cookie || !space->cookie || space->cookie == cookie)) {
		space->cookie = cookie ? cookie : space->cookie;
		return space;
	}
	if (space && is_told_of(images, space, cookie))
		return space;
	marked = cookie ? spaces_with_cookie(&images->spaces, tgid, cookie) : NULL;
	if (marked)
		return marked;
	/*
	 * Nobody told of it. If it is the latest it can be looked at, and it replaces the one
	 * before; else it lies between two that are known, and is lost.
	 */
	newest = spaces_at(&images->spaces, tgid, UINT64_MAX);
	if (newest && newest == space)
		images_retire(images, space, time);
	space = spaces_add(&images->spaces, tgid, newest ? time : 0);
	if (space)
		space->cookie = cookie;
	return space;
}

/* Looks again if the addresses ask for it and it is not too soon; the image that fits best. */
static struct image *refresh(struct images *images, struct space *space, struct image *image,
			     const uint64_t *addresses, uint32_t n)
{
	uint32_t covered = mappings_cover(image->mappings, addresses, n), better;
	uint64_t now;

	if (covered == n)
		return image;
	now = images_now();
	if (!space->until && now >= space->next_look) {
		uint32_t before = mappings_cover(space->newest->mappings, addresses, n);

		space->patience = space->patience ? space->patience : FIRST_PATIENCE_NS;
		if (look_at_proc(images, space) < 0)
			space->patience = MAX_PATIENCE_NS;
		better = mappings_cover(space->newest->mappings, addresses, n);
		/* What no look explains is no code: frame pointers that are none. */
		if (better > before)
			space->patience = FIRST_PATIENCE_NS;
		else if (space->patience < MAX_PATIENCE_NS)
			space->patience *= 2;
	}
	better = mappings_cover(space->newest->mappings, addresses, n);
	return better > covered && space->newest->snapshot ? space->newest : image;
}

static int give_id(struct images *images, struct image *image)
{
	if (image->id != IMAGE_NONE)
		return 0;
	if (images->n_ids >= images->room_ids) {
		uint32_t room = images->room_ids ? images->room_ids * 2 : 64;
		struct image **grown = reallocarray(images->ids, room, sizeof(struct image *));

		if (!grown)
			return -ENOMEM;
		images->ids = grown;
		images->room_ids = room;
	}
	image->id = images->n_ids++;
	images->ids[image->id] = image;
	image->space->n_asked++;
	return 0;
}

int images_learn(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
		 const uint64_t *addresses, uint32_t n, uint32_t *ret_image)
{
	struct space *space;
	struct image *image;
	int r;

	if (images->catch_up && time > images->settled) {
		r = images->catch_up(images->catch_up_context);
		if (r == -ENOMEM)
			return r;
	}
	space = find(images, tgid, cookie, time);
	if (!space)
		return -ENOMEM;
	r = space->gone ? -ESRCH : space_look(images, space);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		images->losses.processes_gone += !space->gone;
		space->gone = true;
		images_retire(images, space, images_now());
		*ret_image = IMAGE_NONE;
		return 0;
	}
	image = refresh(images, space, space_image_at(space, time), addresses, n);
	identify(images, space);
	r = give_id(images, image);
	if (r < 0)
		return r;
	images->losses.files_unreadable = files_unreadable(images->capture.files);
	*ret_image = image->id;
	return 0;
}

int images_at(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
	      uint32_t *ret_image)
{
	return images_learn(images, tgid, cookie, time, NULL, 0, ret_image);
}

int images_keep_up(struct images *images)
{
	int r = images->catch_up ? images->catch_up(images->catch_up_context) : 0;

	return r == -ENOMEM ? r : 0;
}

int images_learn_running(struct images *images, uint64_t budget_ns)
{
	own(own_closedir) DIR *directory = opendir("/proc");
	uint64_t now = images_now(), end = now + budget_ns, kept_up = now;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		struct space *space;
		char *rest;
		long tgid;
		int r;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		tgid = strtol(entry->d_name, &rest, 10);
		if (*rest || tgid <= 0 || tgid > INT32_MAX ||
		    spaces_at(&images->spaces, (pid_t)tgid, UINT64_MAX))
			continue;
		now = images_now();
		if (now > end)
			break;
		if (now - kept_up > KEEP_UP_NS) {
			kept_up = now;
			r = images_keep_up(images);
			if (r < 0)
				return r;
		}
		space = spaces_add(&images->spaces, (pid_t)tgid, 0);
		r = space ? look_at_proc(images, space) : -ENOMEM;
		if (r == -ENOMEM)
			return r;
		if (r < 0) /* gone, or a kernel thread */
			spaces_discard(&images->spaces, space);
	}
	return 0;
}
