// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/images_events.h"

#include <errno.h>
#include <string.h>

#include "process/images_internal.h"

int images_mmap(struct images *images, const struct mapping_record *record)
{
	struct space *space = spaces_at(&images->spaces, record->tgid, record->time);
	struct process_view view = PROCESS_VIEW_NONE;
	struct file_sighting sighting = {
		.start = record->start,
		.end = record->end,
		.device = record->device,
		.inode = record->inode,
		.generation = record->generation,
		.build_id = record->build_id,
		.build_id_size = record->build_id_size,
	};
	struct mapping mapping;
	int r;

	/*
	 * Of a process that ran before we did, nothing is known until it is sampled; then
	 * /proc tells all of it, this mapping too.
	 */
	if (!space || !space->newest || record->time < space->snapshot)
		return 0;
	sighting.root = space->root;
	r = capture_mapping(&images->capture, &sighting, record->offset, record->name,
			    record->name_size, space->until ? 0 : record->tgid, &view, &mapping);
	if (view.dir >= 0 && space->root == ROOT_UNKNOWN)
		space->root = roots_learn(images->capture.roots, &view);
	view_close(&view);
	if (r == 0)
		r = space_map(space, record->time, &mapping);
	if (r == 0)
		images_tell_changed(images, space);
	images->losses.mappings_cut += r > 0;
	return r < 0 ? r : 0;
}

int images_exec(struct images *images, pid_t tgid, uint64_t time)
{
	struct space *old = spaces_at(&images->spaces, tgid, time);
	struct space *space = spaces_add(&images->spaces, tgid, time);
	struct mapping_list *empty = space ? mappings_new(NULL, 0) : NULL;

	if (!empty || !space_begin(space, time, empty))
		return -ENOMEM;
	/* Its records tell all of it, so there is no need to look soon. */
	space->next_look = time + 100000000u;
	if (old) {
		space->parent = old->parent;
		space->root = old->root;
		space->identity = old->identity;
		space->identity_known = old->identity_known;
		images_retire(images, old, time);
	}
	images_tell_changed(images, space);
	return 0;
}

int images_fork(struct images *images, pid_t tgid, pid_t parent, uint64_t time)
{
	struct space *from = spaces_at(&images->spaces, parent, time);
	struct space *old = spaces_at(&images->spaces, tgid, UINT64_MAX);
	struct space *space;
	struct image *image;

	if (old && !old->until && old->snapshot >= time)
		return 0; /* it was looked at meanwhile: that is what this record tells of */
	if (old)
		images_retire(images, old, time);
	space = spaces_add(&images->spaces, tgid, time);
	if (!space)
		return -ENOMEM;
	space->parent = parent;
	if (!from)
		return 0;
	space->root = from->root;
	space->identity.uid = from->identity.uid;
	space->identity_known = from->identity_known;
	image = space_image_at(from, time);
	if (!image)
		return 0;
	if (!space_begin(space, time, mappings_share(image->mappings)))
		return -ENOMEM;
	if (image == from->newest && !from->until && images->watch.forked)
		images->watch.forked(images->watch.context, tgid, parent);
	else
		images_tell_changed(images, space);
	return 0;
}

void images_exit(struct images *images, pid_t tgid, uint64_t time)
{
	struct space *space = spaces_at(&images->spaces, tgid, time);

	if (space)
		images_retire(images, space, time);
}

void images_lost(struct images *images, uint64_t n)
{
	images->losses.side_band_lost += n;
}

void images_settle(struct images *images, uint64_t time)
{
	images->settled = time;
	images->losses.files_unreadable = files_unreadable(images->capture.files);
	spaces_forget(&images->spaces, time);
}

void images_follow(struct images *images, int (*catch_up)(void *context), void *context)
{
	images->catch_up = catch_up;
	images->catch_up_context = context;
	images->settled = 0;
}
