// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file may first be met through a process that has ended before its records were read, as the
 * short-lived children of a container's shell do. Then it is opened in the root of an ancestor, or
 * later, through a process that runs and has mapped it.
 */
#include <errno.h>

#include "base/clock.h"
#include "process/images_internal.h"

#define HEAL_EVERY_NS (500 * NS_PER_MS)
#define MAX_ANCESTORS 8

uint32_t images_root_of(struct images *images, const struct space *space,
			const struct process_view *view)
{
	pid_t parent = space->parent;
	uint64_t from = space->from;

	if (view->root >= 0)
		return roots_intern(images->context.roots, view);
	for (int i = 0; i < MAX_ANCESTORS && parent > 0; i++) {
		own(process_view_close) struct process_view of_parent = PROCESS_VIEW_NONE;
		const struct space *ancestor = spaces_at(&images->spaces, parent, from);

		if (ancestor && ancestor->root != ROOT_UNKNOWN)
			return ancestor->root;
		if (process_view_open(parent, &of_parent) == 0 && of_parent.root >= 0)
			return roots_intern(images->context.roots, &of_parent);
		parent = ancestor ? ancestor->parent : 0;
		from = ancestor ? ancestor->from : 0;
	}
	return ROOT_UNKNOWN;
}

static bool lacks_file(const struct images *images, const struct space *space)
{
	const struct mapping_list *list = space->newest->mappings;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->at[i].kind == MAPPING_FILE &&
		    !files_is_readable(images->context.files, list->at[i].file))
			return true;
	return false;
}

static bool maps_healed(const struct images *images, const struct space *space)
{
	const struct mapping_list *list = space->newest->mappings;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->at[i].kind == MAPPING_FILE &&
		    files_was_unreadable(images->context.files, list->at[i].file))
			return true;
	return false;
}

void images_notify_healed(struct images *images)
{
	uint64_t healed = files_healed(images->context.files);

	if (healed == images->healed)
		return;
	images->healed = healed;
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		const struct space *space = images->spaces.buckets[i];

		for (; space; space = space->older)
			if (!space->until && space->newest && maps_healed(images, space))
				images_notify_changed(images, space);
	}
}

int images_heal(struct images *images, uint64_t now)
{
	if (now < images->next_heal || !files_unreadable(images->context.files))
		return 0;
	images->next_heal = now + HEAL_EVERY_NS;
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		struct space *space = images->spaces.buckets[i];

		for (; space; space = space->older) {
			int r;

			if (space->until || !space->newest || now < space->next_snapshot ||
			    !lacks_file(images, space))
				continue;
			r = images_read_space(images, space);
			if (r == -ENOMEM)
				return r;
			if (r < 0 || lacks_file(images, space))
				space->next_snapshot = now + SPACE_KEPT_NS;
		}
	}
	images_notify_healed(images);
	return 0;
}
