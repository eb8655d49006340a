// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/worlds_events.h"

#include <errno.h>
#include <string.h>

#include "process/worlds_internal.h"

int worlds_mmap(struct worlds *worlds, const struct mapping_record *record)
{
	struct space *space = spaces_at(&worlds->spaces, record->tgid, record->time);
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
	r = capture_mapping(&worlds->capture, &sighting, record->offset, record->name,
			    record->name_size, space->until ? 0 : record->tgid, &view, &mapping);
	if (view.dir >= 0 && space->root == ROOT_UNKNOWN)
		space->root = roots_learn(worlds->capture.roots, &view);
	view_close(&view);
	if (r == 0)
		r = space_map(space, record->time, &mapping);
	if (r == 0)
		worlds_tell_changed(worlds, space);
	worlds->losses.mappings_cut += r > 0;
	return r < 0 ? r : 0;
}

int worlds_exec(struct worlds *worlds, pid_t tgid, uint64_t time)
{
	struct space *old = spaces_at(&worlds->spaces, tgid, time);
	struct space *space = spaces_add(&worlds->spaces, tgid, time);
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
		worlds_retire(worlds, old, time);
	}
	worlds_tell_changed(worlds, space);
	return 0;
}

int worlds_fork(struct worlds *worlds, pid_t tgid, pid_t parent, uint64_t time)
{
	struct space *from = spaces_at(&worlds->spaces, parent, time);
	struct space *old = spaces_at(&worlds->spaces, tgid, UINT64_MAX);
	struct space *space;
	struct world *world;

	if (old && !old->until && old->snapshot >= time)
		return 0; /* it was looked at meanwhile: that is what this record tells of */
	if (old)
		worlds_retire(worlds, old, time);
	space = spaces_add(&worlds->spaces, tgid, time);
	if (!space)
		return -ENOMEM;
	space->parent = parent;
	if (!from)
		return 0;
	space->root = from->root;
	space->identity.uid = from->identity.uid;
	space->identity_known = from->identity_known;
	world = space_world_at(from, time);
	if (!world)
		return 0;
	if (!space_begin(space, time, mappings_share(world->mappings)))
		return -ENOMEM;
	if (world == from->newest && !from->until && worlds->watch.forked)
		worlds->watch.forked(worlds->watch.context, tgid, parent);
	else
		worlds_tell_changed(worlds, space);
	return 0;
}

void worlds_exit(struct worlds *worlds, pid_t tgid, uint64_t time)
{
	struct space *space = spaces_at(&worlds->spaces, tgid, time);

	if (space)
		worlds_retire(worlds, space, time);
}

void worlds_lost(struct worlds *worlds, uint64_t n)
{
	worlds->losses.side_band_lost += n;
}

void worlds_settle(struct worlds *worlds, uint64_t time)
{
	worlds->settled = time;
	worlds->losses.files_unreadable = files_unreadable(worlds->capture.files);
	spaces_forget(&worlds->spaces, time);
}

void worlds_follow(struct worlds *worlds, int (*catch_up)(void *context), void *context)
{
	worlds->catch_up = catch_up;
	worlds->catch_up_context = context;
	worlds->settled = 0;
}
