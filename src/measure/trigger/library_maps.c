// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/library_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "files/maps.h"
#include "files/path.h"
#include "files/process_view.h"

int library_maps_open(pid_t pid, struct library_maps *ret_maps)
{
	char path[32];

	pid = process_view_thread(pid);
	*ret_maps = (struct library_maps){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	ret_maps->file = fopen(path, "re");
	return ret_maps->file ? 0 : -errno;
}

void library_maps_close(struct library_maps *maps)
{
	if (maps->file)
		fclose(maps->file);
	free(maps->line);
	*maps = (struct library_maps){ 0 };
}

bool library_maps_next(struct library_maps *maps)
{
	ssize_t size;

	while ((size = getline(&maps->line, &maps->size, maps->file)) > 0) {
		const char *at = maps->line;
		struct maps_line mapped;

		if (!maps_next(&at, at + size, &mapped) || mapped.name_size == 0 ||
		    mapped.name[0] != '/' || !(mapped.access & MAPS_EXECUTE) ||
		    (mapped.inode == maps->inode && mapped.device == maps->device))
			continue;
		maps->inode = mapped.inode;
		maps->device = mapped.device;
		snprintf(maps->range, sizeof(maps->range), "%" PRIx64 "-%" PRIx64, mapped.start,
			 mapped.end);
		maps->path = maps->line + (mapped.name - maps->line);
		/* In its place: a name with fewer escapes is no longer. */
		maps_name(&mapped, maps->path, mapped.name_size + 1);
		maps->path[maps_name_undeleted(maps->path, strlen(maps->path))] = '\0';
		return true;
	}
	return false;
}

void library_maps_link(const struct library_maps *maps, char *buffer, size_t size)
{
	snprintf(buffer, size, "/proc/%d/map_files/%s", maps->pid, maps->range);
}

/* On overlayfs and btrfs maps shows another device than stat(): compare the mapped file. */
bool library_maps_is(const struct library_maps *maps, const struct stat *file)
{
	struct stat mapped;
	char link[80];

	if (maps->inode != file->st_ino)
		return false;
	library_maps_link(maps, link, sizeof(link));
	return path_stat_link(link, &mapped) < 0 || mapped.st_dev == file->st_dev;
}
