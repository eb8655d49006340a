// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/container_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

struct container_list {
	uint32_t root;
	char *path;
	struct stat status; /* of the file that was read */
	struct container_listed *elements;
	uint32_t n;
};

static void list_free(struct container_list *list)
{
	if (!list)
		return;
	free(list->path);
	free(list->elements);
	free(list);
}

void container_lists_clear(struct container_lists *lists)
{
	for (uint32_t i = 0; i < lists->n; i++)
		list_free(lists->at[i]);
	*lists = (struct container_lists){ 0 };
}

/* The list of a place, which has no elements if it is new; the one that is kept longest makes room.
 */
static struct container_list *list_of(struct container_lists *lists,
				      const struct container_place *place)
{
	struct container_list *list;

	for (uint32_t i = 0; i < lists->n; i++)
		if (lists->at[i]->root == place->root &&
		    strcmp(lists->at[i]->path, place->path) == 0)
			return lists->at[i];
	list = calloc(1, sizeof(*list));
	if (!list || !(list->path = strdup(place->path))) {
		list_free(list);
		return NULL;
	}
	list->root = place->root;
	if (lists->n < CONTAINER_LISTS) {
		lists->at[lists->n++] = list;
	} else {
		list_free(lists->at[lists->oldest]);
		lists->at[lists->oldest] = list;
		lists->oldest = (lists->oldest + 1) % CONTAINER_LISTS;
	}
	return list;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the list unless its file is the one that was read. 0 or -EAGAIN. */
static int update(struct container_list *list, const struct container_access *access,
		  const struct container_place *place)
{
	struct stat status;
	int r = container_files_look(access, place, &status);

	if (r == 0 && list->elements && is_same(&status, &list->status))
		return 0;
	free(list->elements);
	list->elements = NULL;
	list->n = 0;
	if (r == -ENOENT)
		return 0;
	list->status = r == 0 ? status : (struct stat){ 0 };
	return container_files_list(access, place, &list->elements, &list->n);
}

int container_lists_find(struct container_lists *lists, const struct container_access *access,
			 const struct container_place *place, const char *id, const char *name,
			 const struct container_listed **ret_listed)
{
	struct container_list *list = list_of(lists, place);
	int r = list ? update(list, access, place) : 0;

	*ret_listed = NULL;
	for (uint32_t i = 0; list && i < list->n && !*ret_listed; i++)
		if (strcmp(id ? id : name, id ? list->elements[i].id : list->elements[i].name) == 0)
			*ret_listed = &list->elements[i];
	return r;
}
