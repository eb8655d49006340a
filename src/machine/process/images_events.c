// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/images_events.h"

#include <errno.h>

#include "base/own.h"
#include "base/partition.h"
#include "process/images_internal.h"
#include "process/moved_text.h"

#define EXEC_DELAY_NS 100000000u

/* Anonymous code may be that of a file whose code is, or was, beside it. */
static void relate_to_neighbours(const struct images *images, const struct space *space,
				 struct mapping *mapping)
{
	const struct mapping_list *list = space->newest->mappings;
	uint32_t at;

	if (mapping->kind != MAPPING_ANONYMOUS || space->until)
		return;
	at = (uint32_t)partition_point(i, list->n, list->at[i].end <= mapping->start);
	for (uint32_t i = at ? at - 1 : 0; i < list->n && i < at + 2; i++) {
		if (moved_text_find(&images->context, space->tgid, &list->at[i], mapping))
			return;
	}
}

int images_mmap(struct images *images, const struct mapping_record *record)
{
	struct space *space = spaces_at(&images->spaces, record->tgid, record->time);
	own(process_view_close) struct process_view view = PROCESS_VIEW_NONE;
	struct kernel_mapping mapped = {
		.reference = {
			.start = record->start,
			.end = record->end,
			.device = record->device,
			.inode = record->inode,
			.generation = record->generation,
		},
		.offset = record->offset,
		.name = record->name,
		.name_size = record->name_size,
	};
	struct mapping mapping;
	int r;

	/*
	 * Nothing is known of a process that began before the records until it is sampled: it is
	 * then read from /proc, this mapping included.
	 */
	if (!space || !space->newest || record->time < space->snapshot)
		return 0;
	if (space->root == ROOT_UNKNOWN) {
		if (!space->until)
			process_view_open(record->tgid, &view);
		space->root = images_root_of(images, space, &view);
	}
	mapped.reference.root = space->root;
	r = snapshot_mapping(&images->context, &mapped, space->until ? 0 : record->tgid, &view,
			     &mapping);
	if (r < 0)
		return r;
	relate_to_neighbours(images, space, &mapping);
	r = space_map(space, record->time, &mapping);
	if (r < 0)
		return r;
	if (r > 0)
		images->losses.mappings_cut++;
	else
		images_notify_changed(images, space);
	return 0;
}

int images_exec(struct images *images, pid_t tgid, uint64_t time)
{
	struct space *old = spaces_at(&images->spaces, tgid, time);
	struct space *space = spaces_add(&images->spaces, tgid, time);
	struct mapping_list *empty = space ? mappings_new(NULL, 0) : NULL;

	if (!empty || !space_begin(space, time, empty))
		return -ENOMEM;
	/* Records of its mappings follow, so there is no need to read /proc soon. */
	space->next_snapshot = time + EXEC_DELAY_NS;
	if (old) {
		space->parent = old->parent;
		space->root = old->root;
		space->identity = old->identity;
		space->identity_known = old->identity_known;
		images_retire(images, old, time);
	}
	images_notify_changed(images, space);
	return 0;
}

int images_fork(struct images *images, pid_t tgid, pid_t parent, uint64_t time)
{
	struct space *from = spaces_at(&images->spaces, parent, time);
	struct space *old = spaces_at(&images->spaces, tgid, UINT64_MAX);
	struct space *space;
	struct image *image;

	if (old && !old->until && old->snapshot >= time)
		return 0; /* the child was read from /proc since: this fork is known */
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
		images_notify_changed(images, space);
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

void images_set_drained(struct images *images, uint64_t time)
{
	images->drained = time;
	images->losses.files_unreadable = files_unreadable(images->context.files);
	images_notify_healed(images);
	spaces_expire(&images->spaces, time);
}

void images_set_drain(struct images *images, int (*drain)(void *context), void *context)
{
	images->drain = drain;
	images->drain_context = context;
	images->drained = 0;
}
