// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/container_search.h"

#include <stdio.h>
#include <string.h>

#include "containers/pod_logs.h"
#include "containers/users.h"

/*
 * Where runtimes keep a file of each container, whose id stands between `before` and `after`; or
 * lists of all, in the directory `before`. The places of the runtime that the cgroup names come
 * first; what is found first counts.
 */
struct place {
	const char *runtime; /* as in struct cgroup_path */
	const char *before, *after;
	bool in_data; /* below the data of root or of a user; others are root's */
	enum container_file kind;
};

#define CONTAINERD "cri-containerd"
#define PODMAN	   "libpod"
#define OCI_CONFIG "/userdata/config.json"
#define TASKS	   "io.containerd.runtime.v2.task/"
#define STORAGE	   "/containers/storage/overlay-containers/"
#define VFS	   "/containers/storage/vfs-containers/" /* where there is no overlayfs */

static const struct place places[] = {
	{ CONTAINERD, "/run/containerd/" TASKS "k8s.io/", "/config.json", false, CONTAINER_OCI },
	{ "docker", "/docker/containers/", "/config.v2.json", true, CONTAINER_DOCKER },
	{ "crio", "/run" STORAGE, OCI_CONFIG, false, CONTAINER_OCI },
	{ CONTAINERD, "/run/k3s/containerd/" TASKS "k8s.io/", "/config.json", false,
	  CONTAINER_OCI },
	{ "nerdctl", "/run/containerd/" TASKS "default/", "/config.json", false, CONTAINER_OCI },
	{ PODMAN, STORAGE, NULL, true, CONTAINER_SANDBOX },
	{ PODMAN, VFS, NULL, true, CONTAINER_SANDBOX },
};
#define N_PLACES ((uint32_t)(sizeof(places) / sizeof(places[0])))
#define N_STEPS	 (2 * N_PLACES) /* the places of the runtime, and the others */

static const char *const lists[] = { "containers.json", "volatile-containers.json" };

void container_search_begin(const struct cgroup_path *path, uid_t owner,
			    struct container_search *ret_search)
{
	*ret_search = (struct container_search){ .path = *path, .owner = owner };
	/* Pods are root's. */
	if (owner == 0)
		memcpy(ret_search->texts.of[CONTAINER_POD_UID], path->pod_uid,
		       sizeof(path->pod_uid));
}

bool container_search_found(const struct container_search *search)
{
	return *search->texts.of[CONTAINER_NAME] || *search->texts.of[CONTAINER_POD_CONTAINER];
}

/* ---- where files are ---- */

/* Where programs of an owner keep their data; NULL: not known. Valid until the next call. */
static const char *data_of(struct container_sources *sources, uid_t owner)
{
	static const char below[] = "/.local/share";
	char *data = sources->data;

	if (owner == 0)
		return "/var/lib";
	if (owner != sources->home_owner) {
		sources->home_owner = 0;
		if (users_home(owner, data, sizeof(sources->data) - sizeof(below)) < 0)
			return NULL;
		memcpy(data + strlen(data), below, sizeof(below));
		sources->home_owner = owner;
	}
	return data;
}

/* The path of what a place has of a container; of the directory, without its id. False: none. */
static bool path_of(struct container_sources *sources, const struct place *place, uid_t owner,
		    const char *id, char ret_path[PATH_MAX])
{
	const char *data = place->in_data ? data_of(sources, owner) : owner == 0 ? "" : NULL;

	if (!data)
		return false;
	snprintf(ret_path, PATH_MAX, "%s%s%s%s", data, place->before, place->after ? id : "",
		 place->after ? place->after : "");
	return true;
}

/* The root of process 1, once. */
static uint32_t first_root(struct container_sources *sources)
{
	own(process_view_close) struct process_view first = PROCESS_VIEW_NONE;

	if (sources->first_root == ROOT_UNKNOWN) {
		sources->first_root = ROOT_OWN;
		if (process_view_open(1, &first) == 0)
			sources->first_root = roots_intern(sources->access.roots, &first);
		if (sources->first_root == ROOT_UNKNOWN)
			sources->first_root = ROOT_OWN;
	}
	return sources->first_root;
}

/* ---- lists ---- */

/* A directory of lists, in a root, and whose it is. */
struct storage {
	char path[PATH_MAX];
	uint32_t root;
	uid_t owner;
};

/*
 * By its id, or by its name. 0 or -EAGAIN; *ret_listed is valid until the next call, and NULL if
 * there is none.
 */
static int find_listed(struct container_sources *sources, const struct storage *storage,
		       const char *id, const char *name, const struct container_listed **ret_listed)
{
	int r, all = 0;

	*ret_listed = NULL;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !*ret_listed; i++) {
		char path[PATH_MAX + 32];

		snprintf(path, sizeof(path), "%s%s", storage->path, lists[i]);
		r = container_lists_find(&sources->lists, &sources->access,
					 &(struct container_place){ storage->root, path,
								    storage->owner },
					 id, name, ret_listed);
		all = r < 0 ? r : all;
	}
	return all;
}

static void copy_text(struct container_texts *texts, enum container_text which, const char *from)
{
	if (!*texts->of[which])
		snprintf(texts->of[which], CONTAINER_TEXT_SIZE, "%s", from);
}

/*
 * The container that holds a pod of Podman has the id of the pod in its name, and a file that says
 * the pod's. 1: it is open; else 0.
 */
static int open_sandbox(struct container_sources *sources, struct container_search *search,
			const struct storage *storage, struct container_reading *ret_reading)
{
	char name[CGROUP_CONTAINER_ID + 8], path[2 * PATH_MAX];
	const struct container_listed *listed;
	int r;

	snprintf(name, sizeof(name), "%.12s-infra", search->path.pod);
	search->late |= find_listed(sources, storage, NULL, name, &listed) < 0;
	if (!listed)
		return 0;
	snprintf(path, sizeof(path), "%s%s%s", storage->path, listed->id, OCI_CONFIG);
	r = container_files_open(&sources->access,
				 &(struct container_place){ storage->root, path, storage->owner },
				 CONTAINER_SANDBOX, ret_reading);
	search->late |= r == -EAGAIN;
	return r == 0;
}

static int look_in_lists(struct container_sources *sources, struct container_search *search,
			 const struct place *place, uint32_t root,
			 struct container_reading *ret_reading)
{
	struct storage storage = { .root = root, .owner = search->owner };
	const struct container_listed *listed;

	if (!path_of(sources, place, search->owner, NULL, storage.path))
		return 0;
	search->late |= find_listed(sources, &storage, search->path.container, NULL, &listed) < 0;
	if (!listed)
		return 0;
	copy_text(&search->texts, CONTAINER_NAME, listed->name);
	copy_text(&search->texts, CONTAINER_IMAGE, listed->image);
	return *search->path.pod ? open_sandbox(sources, search, &storage, ret_reading) : 0;
}

/* ---- the search ---- */

static int open_own(struct container_sources *sources, struct container_search *search,
		    const struct place *place, uint32_t root, struct container_reading *ret_reading)
{
	char path[PATH_MAX];
	int r;

	if (!path_of(sources, place, search->owner, search->path.container, path))
		return 0;
	r = container_files_open(&sources->access,
				 &(struct container_place){ root, path, search->owner },
				 place->kind, ret_reading);
	search->late |= r == -EAGAIN;
	return r == 0;
}

/* The next place of this root that has a file of the container. 1: it is open; 0: there is none. */
static int next_in_root(struct container_sources *sources, struct container_search *search,
			uint32_t root, struct container_reading *ret_reading)
{
	int r = 0;

	while (r == 0 && search->step < N_STEPS && *search->path.container &&
	       !container_search_found(search)) {
		const struct place *place = &places[search->step % N_PLACES];
		bool first = search->step++ < N_PLACES;

		if ((strcmp(place->runtime, search->path.runtime) == 0) == first)
			r = (place->after ? open_own : look_in_lists)(sources, search, place, root,
								      ret_reading);
	}
	return r;
}

static void look_in_logs(const struct container_sources *sources, struct container_search *search,
			 uint32_t root)
{
	struct container_texts *texts = &search->texts;

	if (*texts->of[CONTAINER_POD_UID] && !*texts->of[CONTAINER_POD])
		search->late |=
			pod_logs_find(sources->access.opener,
				      roots_way(sources->access.roots, root, POD_LOGS),
				      texts->of[CONTAINER_POD_UID], texts->of[CONTAINER_NAMESPACE],
				      texts->of[CONTAINER_POD]) < 0;
}

int container_search_next(struct container_sources *sources, struct container_search *search,
			  struct container_reading *ret_reading)
{
	while (search->n_roots < 2) {
		uint32_t root = search->n_roots == 0 ? ROOT_OWN : first_root(sources);

		if (search->n_roots == 1 && root == ROOT_OWN)
			break;
		if (next_in_root(sources, search, root, ret_reading) == 1)
			return 1;
		look_in_logs(sources, search, root);
		if (container_search_found(search) || *search->texts.of[CONTAINER_POD])
			break;
		search->n_roots++;
		search->step = 0;
	}
	search->n_roots = 2;
	return 0;
}

/* ---- whose it is ---- */

static bool is_of_root(struct container_sources *sources, const char *id, uint32_t root)
{
	struct storage storage = { .root = root };
	const struct container_listed *listed = NULL;
	struct stat status;
	int r = -ENOENT;

	for (uint32_t i = 0; i < N_PLACES && r == -ENOENT && !listed; i++) {
		path_of(sources, &places[i], 0, id, storage.path);
		if (places[i].after)
			r = container_files_look(&sources->access,
						 &(struct container_place){ root, storage.path, 0 },
						 &status);
		else
			r = find_listed(sources, &storage, id, NULL, &listed) < 0 ? -EAGAIN
										  : -ENOENT;
	}
	return listed || r != -ENOENT;
}

bool container_search_owns_id(struct container_sources *sources,
			      const struct container_search *search)
{
	const char *id = search->path.container;

	return *id && (search->owner == 0 || !(is_of_root(sources, id, ROOT_OWN) ||
					       (first_root(sources) != ROOT_OWN &&
						is_of_root(sources, id, first_root(sources)))));
}
