// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/library_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* "START-END PERMS OFFSET DEV INODE   PATH". */
bool library_maps_next(struct library_maps *maps)
{
	while (getline(&maps->line, &maps->size, maps->file) > 0) {
		char permissions[5], *deleted;
		unsigned long long inode;
		int at = -1;

		maps->line[strcspn(maps->line, "\n")] = '\0';
		if (sscanf(maps->line, "%39s %4s %*s %*s %llu %n", maps->range, permissions, &inode,
			   &at) < 3 ||
		    at < 0 || maps->line[at] != '/' || permissions[2] != 'x' ||
		    inode == maps->inode)
			continue;
		maps->inode = inode;
		maps->path = maps->line + at;
		deleted = strstr(maps->path, " (deleted)");
		if (deleted && !deleted[10])
			*deleted = '\0';
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
	return stat(link, &mapped) < 0 || mapped.st_dev == file->st_dev;
}
