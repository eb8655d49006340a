// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/containers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"
#include "containers/container_files.h"
#include "containers/container_lists.h"
#include "containers/pod_logs.h"
#include "containers/users.h"
#include "tally/cgroup_path.h"

#define MAX_CONTAINERS 65536u
#define AGAIN_MS       30000u /* until files that did not respond are asked again */

/* What is known of a container, or of a pod where there is no container. */
struct container {
	const char *key;  /* the id, the user and the pod's UID */
	uint64_t look_ms; /* when to look for its names; 0: never again */
	struct names_label labels[CONTAINER_N_TEXTS];
	uint32_t n_labels;
};

struct containers {
	struct container_access access;
	struct container_lists lists;
	uint32_t first_root; /* that of process 1; ROOT_OWN: it is ours; ROOT_UNKNOWN */
	struct pool *pool;
	struct container **at;
	uint32_t n, capacity;
	struct index by_key;
};

static const char *const keys[CONTAINER_N_TEXTS] = {
	[CONTAINER_NAME] = LABEL_CONTAINER_NAME,
	[CONTAINER_IMAGE] = LABEL_IMAGE,
	[CONTAINER_POD] = LABEL_POD,
	[CONTAINER_NAMESPACE] = LABEL_NAMESPACE,
	[CONTAINER_POD_UID] = LABEL_POD_UID,
	[CONTAINER_POD_CONTAINER] = LABEL_POD_CONTAINER,
};

/*
 * Where runtimes keep a file of each container: its id stands between `before` and `after`. What is
 * found first counts.
 */
struct own_place {
	const char *before, *after;
};

#define OCI_CONFIG "/userdata/config.json"
#define TASKS	   "io.containerd.runtime.v2.task/"
#define STORAGE	   "/containers/storage/overlay-containers/"

static const struct own_place own_places[] = {
	{ "/run/containerd/" TASKS "k8s.io/", "/config.json" },
	{ "/var/lib/docker/containers/", "/config.v2.json" },
	{ "/run" STORAGE, OCI_CONFIG },
	{ "/run/k3s/containerd/" TASKS "k8s.io/", "/config.json" },
	{ "/run/containerd/" TASKS "default/", "/config.json" },
};

/* The lists of containers/storage, for root or a user: the second where there is no overlayfs. */
static const char *const drivers[] = { STORAGE, "/containers/storage/vfs-containers/" };
static const char *const lists[] = { "containers.json", "volatile-containers.json" };

int containers_new(struct roots *roots, struct file_opener *opener, struct confined *readers,
		   struct containers **ret_containers)
{
	struct containers *containers = calloc(1, sizeof(*containers));

	if (!containers)
		return -ENOMEM;
	if (pool_new(&containers->pool) < 0) {
		free(containers);
		return -ENOMEM;
	}
	containers->access = (struct container_access){ roots, opener, readers };
	containers->first_root = ROOT_UNKNOWN;
	*ret_containers = containers;
	return 0;
}

void containers_free(struct containers *containers)
{
	if (!containers)
		return;
	for (uint32_t i = 0; i < containers->n; i++)
		free(containers->at[i]);
	free(containers->at);
	index_free(&containers->by_key);
	container_lists_clear(&containers->lists);
	pool_free(containers->pool);
	free(containers);
}

/* ---- the places ---- */

/* What is looked for, and what was found. */
struct search {
	const struct cgroup_path *path;
	uint32_t root;
	bool late; /* a file did not respond */
	struct container_texts texts;
};

static bool is_found(const struct search *search)
{
	return *search->texts.of[CONTAINER_NAME] || *search->texts.of[CONTAINER_POD_CONTAINER];
}

static void look_for_own(const struct containers *containers, struct search *search)
{
	for (size_t i = 0; i < sizeof(own_places) / sizeof(own_places[0]) && !is_found(search);
	     i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s%s%s", own_places[i].before,
			 search->path->container, own_places[i].after);
		search->late |=
			container_files_read(&containers->access,
					     &(struct container_place){ search->root, path, 0 },
					     CONTAINER_OWN_FILE, &search->texts) < 0;
	}
}

static void copy_text(struct container_texts *texts, enum container_text which, const char *from)
{
	if (!*texts->of[which])
		snprintf(texts->of[which], CONTAINER_TEXT_SIZE, "%s", from);
}

/* A directory of containers/storage, and whose it is. */
struct storage {
	char path[PATH_MAX / 2];
	uid_t owner;
};

/* By its id, or by its name. Valid until the next call. */
static const struct container_listed *find_listed(struct containers *containers,
						  struct search *search,
						  const struct storage *storage, const char *id,
						  const char *name)
{
	const struct container_listed *listed = NULL;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !listed; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s%s", storage->path, lists[i]);
		search->late |= container_lists_find(&containers->lists, &containers->access,
						     &(struct container_place){ search->root, path,
										storage->owner },
						     id, name, &listed) < 0;
	}
	return listed;
}

/* The container that holds a pod of Podman has the id of the pod in its name. */
static void look_for_pod(struct containers *containers, struct search *search,
			 const struct storage *storage)
{
	char name[CGROUP_CONTAINER_ID + 8], path[PATH_MAX];
	const struct container_listed *listed;

	snprintf(name, sizeof(name), "%.12s-infra", search->path->pod);
	listed = find_listed(containers, search, storage, NULL, name);
	if (!listed)
		return;
	snprintf(path, sizeof(path), "%s%s%s", storage->path, listed->id, OCI_CONFIG);
	search->late |= container_files_read(&containers->access,
					     &(struct container_place){ search->root, path,
									storage->owner },
					     CONTAINER_SANDBOX, &search->texts) < 0;
}

/* `data` is where root, or a user, has data of programs. */
static void look_in_storage(struct containers *containers, struct search *search, const char *data,
			    uid_t owner, const char *driver)
{
	struct storage storage = { .owner = owner };
	const struct container_listed *listed;

	snprintf(storage.path, sizeof(storage.path), "%s%s", data, driver);
	listed = find_listed(containers, search, &storage, search->path->container, NULL);
	if (!listed)
		return;
	copy_text(&search->texts, CONTAINER_NAME, listed->name);
	copy_text(&search->texts, CONTAINER_IMAGE, listed->image);
	if (*search->path->pod)
		look_for_pod(containers, search, &storage);
}

static void look_for_container(struct containers *containers, struct search *search)
{
	uid_t owner = search->path->user > 0 ? (uid_t)search->path->user : 0;
	char home[PATH_MAX / 4], data[PATH_MAX / 4 + 32] = "/var/lib";

	if (owner == 0) {
		look_for_own(containers, search);
	} else {
		if (users_home(owner, home, sizeof(home)) < 0)
			return;
		snprintf(data, sizeof(data), "%s/.local/share", home);
	}
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]) && !is_found(search); i++)
		look_in_storage(containers, search, data, owner, drivers[i]);
}

static void look_in_root(struct containers *containers, struct search *search)
{
	if (*search->path->container)
		look_for_container(containers, search);
	if (*search->path->pod_uid && !*search->texts.of[CONTAINER_POD])
		search->late |=
			pod_logs_find(containers->access.opener,
				      roots_way(containers->access.roots, search->root, POD_LOGS),
				      search->path->pod_uid, search->texts.of[CONTAINER_NAMESPACE],
				      search->texts.of[CONTAINER_POD]) < 0;
}

/* The root of process 1, once. */
static uint32_t first_root(struct containers *containers)
{
	own(process_view_close) struct process_view first = PROCESS_VIEW_NONE;

	if (containers->first_root == ROOT_UNKNOWN) {
		containers->first_root = ROOT_OWN;
		if (process_view_open(1, &first) == 0)
			containers->first_root = roots_intern(containers->access.roots, &first);
		if (containers->first_root == ROOT_UNKNOWN)
			containers->first_root = ROOT_OWN;
	}
	return containers->first_root;
}

/* Returns whether to look again later. */
static bool look(struct containers *containers, const struct cgroup_path *path,
		 struct container_texts *ret_texts)
{
	struct search search = { .path = path, .root = ROOT_OWN };

	copy_text(&search.texts, CONTAINER_POD_UID, path->pod_uid);
	look_in_root(containers, &search);
	if (!is_found(&search) && !*search.texts.of[CONTAINER_POD] &&
	    first_root(containers) != ROOT_OWN) {
		search.root = first_root(containers);
		look_in_root(containers, &search);
	}
	copy_text(&search.texts, CONTAINER_NAME, search.texts.of[CONTAINER_POD_CONTAINER]);
	copy_text(&search.texts, CONTAINER_NAME, path->machine);
	*ret_texts = search.texts;
	return search.late && !is_found(&search);
}

/* ---- what is known ---- */

static struct container *find(const struct containers *containers, const char *key)
{
	struct index_cursor cursor;
	uint64_t hash = hash_bytes(key, strlen(key));

	for (uint32_t at = index_first(&containers->by_key, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&containers->by_key, &cursor)) {
		if (strcmp(containers->at[at]->key, key) == 0)
			return containers->at[at];
	}
	return NULL;
}

static int fill(struct containers *containers, struct container *container,
		const struct container_texts *texts)
{
	container->n_labels = 0;
	for (int i = 0; i < CONTAINER_N_TEXTS; i++) {
		struct names_label *label = &container->labels[container->n_labels];

		if (!*texts->of[i])
			continue;
		*label = (struct names_label){ keys[i],
					       pool_string(containers->pool, texts->of[i]) };
		if (!label->value)
			return -ENOMEM;
		container->n_labels++;
	}
	return 0;
}

/* One of which nothing is known yet. */
static int add(struct containers *containers, const char *key, struct container **ret_container)
{
	own(own_free) struct container *container = calloc(1, sizeof(*container));
	int r;

	if (!container || grow(&containers->at, &containers->capacity, containers->n + 1) < 0)
		return -ENOMEM;
	container->key = pool_string(containers->pool, key);
	if (!container->key)
		return -ENOMEM;
	r = index_add(&containers->by_key, hash_bytes(key, strlen(key)), containers->n);
	if (r < 0)
		return r;
	container->look_ms = 1;
	*ret_container = containers->at[containers->n++] = take_ptr(container);
	return 0;
}

static uint32_t n_known(const struct container_texts *texts)
{
	uint32_t n = 0;

	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		n += *texts->of[i] != '\0';
	return n;
}

/* Looks for its names if that is due. What is known stays if less is found now. 0 or -ENOMEM. */
static int update(struct containers *containers, const struct cgroup_path *path,
		  struct container *container)
{
	struct container_texts texts;

	if (!container->look_ms || monotonic_ms() < container->look_ms)
		return 0;
	container->look_ms = look(containers, path, &texts) ? monotonic_ms() + AGAIN_MS : 0;
	return n_known(&texts) > container->n_labels ? fill(containers, container, &texts) : 0;
}

int containers_learn(struct containers *containers, struct names_cgroup *cgroup)
{
	char key[2 * CGROUP_NAME_SIZE + CGROUP_CONTAINER_ID];
	struct container *container;
	struct cgroup_path path;
	int r = 0;

	cgroup_path_read(cgroup->path, &path);
	if (!*path.container && !*path.pod_uid && !*path.machine)
		return 0;
	snprintf(key, sizeof(key), "%s %s %s %lld", path.container, path.machine, path.pod_uid,
		 (long long)path.user);
	container = find(containers, key);
	if (!container && containers->n >= MAX_CONTAINERS)
		return 0;
	if (!container)
		r = add(containers, key, &container);
	if (r == 0)
		r = update(containers, &path, container);
	if (r < 0)
		return r;
	cgroup->labels = container->labels;
	cgroup->n_labels = container->n_labels;
	return container->look_ms != 0;
}

uint32_t containers_n_late(const struct containers *containers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < containers->n; i++)
		n += containers->at[i]->look_ms != 0;
	return n;
}
