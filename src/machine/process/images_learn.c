// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads processes from /proc: at their first sight, and again when a mapping is missing. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/own.h"
#include "process/images_internal.h"

#define FIRST_DELAY_NS 50000000ull
#define MAX_DELAY_NS   10000000000ull
/* The rings of side-band records hold about a second of a machine that forks thousands a second. */
#define DRAIN_EVERY_NS 50000000ull

/* Adds what was read to the newest image of the space, or begins its first one. */
static int add_snapshot(struct images *images, struct space *space, const struct snapshot *snapshot,
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

static void own_snapshot(struct snapshot *snapshot)
{
	free(snapshot->mappings);
}

int images_read_space(struct images *images, struct space *space)
{
	own(own_snapshot) struct snapshot snapshot = { 0 };
	uint64_t now = monotonic_ns();
	int r;

	space->next_snapshot =
		now + (space->snapshot_delay ? space->snapshot_delay : FIRST_DELAY_NS);
	r = snapshot_read(&images->context, space->tgid, &snapshot);
	if (r < 0)
		return r;
	if (space->identity_known && space->identity.start_time &&
	    snapshot.identity.start_time != space->identity.start_time)
		return -ESRCH; /* another process has the id now */
	space->identity = snapshot.identity;
	space->identity_known = true;
	space->root = snapshot.root;
	images->losses.mappings_cut += snapshot.cut;
	r = add_snapshot(images, space, &snapshot, now);
	if (r < 0)
		return r;
	space->snapshot = now;
	images_notify_changed(images, space);
	return 0;
}

/* A child that ended before it was read had what its parent had at the fork. */
static int copy_from_parent(struct images *images, struct space *space)
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
		r = parent->until || parent->gone ? -ESRCH : images_read_space(images, parent);
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

/*
 * Makes sure that the space has an image: read from /proc, else the one its parent had. 0, -ESRCH,
 * -ENOMEM or another negative errno.
 */
static int read_space(struct images *images, struct space *space)
{
	int r = -ESRCH;

	if (space->newest)
		return 0;
	/* /proc has the latest space of a process only, and only while that lasts. */
	if (!space->until && spaces_at(&images->spaces, space->tgid, UINT64_MAX) == space)
		r = images_read_space(images, space);
	return r == -ESRCH ? copy_from_parent(images, space) : r;
}

/* Reads the user and root directory of a process that is known from records only. */
static void identify(struct images *images, struct space *space)
{
	own(process_view_close) struct process_view view = PROCESS_VIEW_NONE;
	struct process_identity identity;

	if (space->until || (space->identity_known && space->identity.start_time))
		return;
	if (process_view_open(space->tgid, &view) < 0 ||
	    process_view_identity(&view, &identity) < 0)
		return;
	space->identity = identity;
	space->identity_known = true;
	space->root = roots_intern(images->context.roots, &view);
}

/*
 * True if the cookie means a later state of the same address space whose change the records have
 * reported: all of them, if they are followed and none was lost, but for the page that the kernel
 * maps for user probes.
 */
static bool is_reported(const struct images *images, const struct space *space, uint64_t cookie)
{
	return images->drain && !images->losses.side_band_lost &&
	       space->cookie >> 32 == cookie >> 32;
}

/* The space of a process by time and cookie; a new one if there is none. NULL: no memory. */
static struct space *find_space(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time)
{
	struct space *space = spaces_at(&images->spaces, tgid, time);
	struct space *same, *newest;

	if (space && (!cookie || !space->cookie || space->cookie == cookie)) {
		space->cookie = cookie ? cookie : space->cookie;
		return space;
	}
	if (space && is_reported(images, space, cookie))
		return space;
	same = cookie ? spaces_with_cookie(&images->spaces, tgid, cookie) : NULL;
	if (same)
		return same;
	/*
	 * No record reported this space. If it is the latest it can be read from /proc, and ends
	 * the one before; else it lies between two that are known, and its mappings are lost.
	 */
	newest = spaces_at(&images->spaces, tgid, UINT64_MAX);
	if (newest && newest == space)
		images_retire(images, space, time);
	space = spaces_add(&images->spaces, tgid, newest ? time : 0);
	if (space)
		space->cookie = cookie;
	return space;
}

/* Reads /proc again if mappings lack an address and it is time. Returns the image that fits best.
 */
static struct image *refresh(struct images *images, struct space *space, struct image *image,
			     const uint64_t *addresses, uint32_t n)
{
	uint32_t covered = mappings_cover(image->mappings, addresses, n), better;
	uint64_t now;

	if (covered == n)
		return image;
	now = monotonic_ns();
	if (!space->until && now >= space->next_snapshot) {
		uint32_t before = mappings_cover(space->newest->mappings, addresses, n);

		space->snapshot_delay =
			space->snapshot_delay ? space->snapshot_delay : FIRST_DELAY_NS;
		if (images_read_space(images, space) < 0)
			space->snapshot_delay = MAX_DELAY_NS;
		better = mappings_cover(space->newest->mappings, addresses, n);
		/* An address that stays unmapped is no code: a bad frame pointer, for instance. */
		if (better > before)
			space->snapshot_delay = FIRST_DELAY_NS;
		else if (space->snapshot_delay < MAX_DELAY_NS)
			space->snapshot_delay *= 2;
	}
	better = mappings_cover(space->newest->mappings, addresses, n);
	return better > covered && space->newest->snapshot ? space->newest : image;
}

static int give_id(struct images *images, struct image *image)
{
	if (image->id != IMAGE_NONE)
		return 0;
	if (grow(&images->ids, &images->ids_capacity, images->n_ids + 1) < 0)
		return -ENOMEM;
	image->id = images->n_ids++;
	images->ids[image->id] = image;
	image->space->n_ids++;
	images->bytes += sizeof(*image) + sizeof(*image->space);
	return 0;
}

static void count_mappings(struct images *images, struct image *image)
{
	uint32_t n = image->mappings ? image->mappings->n / image->mappings->references : 0;

	images->bytes += (uint64_t)n * sizeof(struct mapping);
	images->bytes -= (uint64_t)image->n * sizeof(struct mapping);
	image->n = n;
}

int images_learn(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
		 const uint64_t *addresses, uint32_t n, uint32_t *ret_image)
{
	struct space *space;
	struct image *image;
	int r;

	if (images->drain && time > images->drained) {
		r = images->drain(images->drain_context);
		if (r == -ENOMEM)
			return r;
	}
	space = find_space(images, tgid, cookie, time);
	if (!space)
		return -ENOMEM;
	r = space->gone ? -ESRCH : read_space(images, space);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		images->losses.processes_gone += !space->gone;
		space->gone = true;
		images_retire(images, space, monotonic_ns());
		*ret_image = IMAGE_NONE;
		return 0;
	}
	image = refresh(images, space, space_image_at(space, time), addresses, n);
	identify(images, space);
	if (images->full && image->id == IMAGE_NONE) {
		*ret_image = IMAGE_NONE;
		return 0;
	}
	r = give_id(images, image);
	if (r < 0)
		return r;
	count_mappings(images, image);
	images_notify_healed(images);
	images->losses.files_unreadable = files_unreadable(images->context.files);
	*ret_image = image->id;
	return 0;
}

int images_at(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
	      uint32_t *ret_image)
{
	return images_learn(images, tgid, cookie, time, NULL, 0, ret_image);
}

bool images_has_ended(const struct images *images, pid_t tgid, uint64_t time)
{
	const struct space *space = spaces_at(&images->spaces, tgid, time);

	return space ? space->until != 0 : kill(tgid, 0) < 0 && errno == ESRCH;
}

int images_learn_file(struct images *images, int fd, uint32_t *ret_file)
{
	return snapshot_file(&images->context, fd, ret_file);
}

int images_drain(struct images *images)
{
	int r = images->drain ? images->drain(images->drain_context) : 0;

	if (r != -ENOMEM)
		r = images_heal(images, monotonic_ns());
	return r == -ENOMEM ? r : 0;
}

/* The process id that an entry of /proc is named after, or 0. */
static pid_t tgid_of(const struct dirent *entry)
{
	char *rest;
	long tgid;

	if (!isdigit((unsigned char)entry->d_name[0]))
		return 0;
	tgid = strtol(entry->d_name, &rest, 10);
	return *rest || tgid <= 0 || tgid > INT32_MAX ? 0 : (pid_t)tgid;
}

static int learn_one(struct images *images, pid_t tgid)
{
	struct space *space = spaces_add(&images->spaces, tgid, 0);
	int r = space ? images_read_space(images, space) : -ENOMEM;

	if (r == -ENOMEM)
		return r;
	if (r < 0) /* it has ended, or is a kernel thread */
		spaces_discard(&images->spaces, space);
	return 0;
}

int images_learn_running(struct images *images, uint64_t budget_ns)
{
	own(own_directory) DIR *directory = opendir("/proc");
	uint64_t now = monotonic_ns(), end = now + budget_ns, drained = now;
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		pid_t tgid = tgid_of(entry);
		int r;

		if (!tgid || spaces_at(&images->spaces, tgid, UINT64_MAX))
			continue;
		now = monotonic_ns();
		if (now > end)
			break;
		if (now - drained > DRAIN_EVERY_NS) {
			drained = now;
			r = images_drain(images);
			if (r < 0)
				return r;
		}
		r = learn_one(images, tgid);
		if (r < 0)
			return r;
	}
	return 0;
}
