// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/containers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"
#include "containers/container_search.h"

#define MAX_CONTAINERS 65536u
#define AGAIN_MS       30000u /* until files that did not respond are asked again */

#define MAX_LABELS (CONTAINER_N_TEXTS + 1) /* the texts, and the id */

/* What is known of a container, or of a pod where there is no container. */
struct container {
	const char *key;  /* the id, the pod's UID and the owner */
	bool is_open;	  /* its file waits in struct containers */
	uint64_t look_ms; /* when to look for its names; 0: never again */
	struct names_label labels[MAX_LABELS];
	uint32_t n_labels;
};

/* A search that has opened a file, which is to be read. */
struct waiting {
	struct container *container;
	struct container_search search;
	struct container_reading reading;
};

struct containers {
	struct container_sources sources;
	/* Their files are read at once, when they are many, or one of them is asked for. All are of
	 * one owner. */
	struct waiting waiting[CONTAINER_READINGS];
	uint32_t n_waiting;
	struct pool *pool;
	struct container **at;
	uint32_t n, capacity;
	struct index by_key;
	bool failed; /* there was no memory for a name */
};

static const char *const keys[CONTAINER_N_TEXTS] = {
	[CONTAINER_NAME] = LABEL_CONTAINER_NAME,
	[CONTAINER_IMAGE] = LABEL_IMAGE,
	[CONTAINER_POD] = LABEL_POD,
	[CONTAINER_NAMESPACE] = LABEL_NAMESPACE,
	[CONTAINER_POD_UID] = LABEL_POD_UID,
	[CONTAINER_POD_CONTAINER] = LABEL_POD_CONTAINER,
};

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
	containers->sources.access = (struct container_access){ roots, opener, readers };
	containers->sources.first_root = ROOT_UNKNOWN;
	*ret_containers = containers;
	return 0;
}

void containers_free(struct containers *containers)
{
	if (!containers)
		return;
	for (uint32_t i = 0; i < containers->n_waiting; i++)
		own_fd(&containers->waiting[i].reading.fd);
	for (uint32_t i = 0; i < containers->n; i++)
		free(containers->at[i]);
	free(containers->at);
	index_free(&containers->by_key);
	container_lists_clear(&containers->sources.lists);
	pool_free(containers->pool);
	free(containers);
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

static int add_label(struct containers *containers, struct container *container, const char *key,
		     const char *value)
{
	struct names_label *label = &container->labels[container->n_labels];

	if (!*value)
		return 0;
	*label = (struct names_label){ key, pool_string(containers->pool, value) };
	if (!label->value)
		return -ENOMEM;
	container->n_labels++;
	return 0;
}

/* Sets the labels by what a search has found. What is known stays if that is less. */
static int fill(struct containers *containers, struct container *container,
		const struct container_search *search)
{
	bool own_id = container_search_owns_id(&containers->sources, search);
	uint32_t n = own_id;
	int r;

	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		n += *search->texts.of[i] != '\0';
	if (n <= container->n_labels)
		return 0;
	container->n_labels = 0;
	r = add_label(containers, container, LABEL_CONTAINER_ID,
		      own_id ? search->path.container : "");
	for (int i = 0; i < CONTAINER_N_TEXTS && r == 0; i++)
		r = add_label(containers, container, keys[i], search->texts.of[i]);
	return r;
}

/* One of which nothing is known yet. */
static int add(struct containers *containers, const char *key, struct container **ret_container)
{
	own(own_free) struct container *container = calloc(1, sizeof(*container));
	int r;

	if (!container || grow(&containers->at, &containers->capacity, containers->n + 1) < 0)
		return -ENOMEM;
	*container = (struct container){ pool_string(containers->pool, key), .look_ms = 1 };
	if (!container->key)
		return -ENOMEM;
	r = index_add(&containers->by_key, hash_bytes(key, strlen(key)), containers->n);
	if (r < 0)
		return r;
	*ret_container = containers->at[containers->n++] = take_ptr(container);
	return 0;
}

/* ---- searches ---- */

static int finish(struct containers *containers, struct container *container,
		  struct container_search *search)
{
	struct container_texts *texts = &search->texts;

	container->is_open = false;
	container->look_ms =
		search->late && !container_search_found(search) ? monotonic_ms() + AGAIN_MS : 0;
	if (!*texts->of[CONTAINER_NAME])
		snprintf(texts->of[CONTAINER_NAME], CONTAINER_TEXT_SIZE, "%s",
			 *texts->of[CONTAINER_POD_CONTAINER] ? texts->of[CONTAINER_POD_CONTAINER]
							     : search->path.machine);
	return fill(containers, container, search);
}

/* To the next file, which then waits to be read, or to the end. There is room for one more. */
static int go_on(struct containers *containers, struct container *container,
		 struct container_search *search)
{
	struct waiting *waiting = &containers->waiting[containers->n_waiting];
	struct container_reading reading;

	if (container_search_next(&containers->sources, search, &reading) == 0)
		return finish(containers, container, search);
	container->is_open = true;
	waiting->container = container;
	waiting->reading = reading;
	if (&waiting->search != search)
		waiting->search = *search;
	containers->n_waiting++;
	return 0;
}

/* Reads the files that wait, and goes on with each search: to other files, where these name none.
 */
static int read_waiting(struct containers *containers)
{
	struct container_reading readings[CONTAINER_READINGS] = { 0 };
	struct container_texts *texts[CONTAINER_READINGS] = { 0 };
	uint32_t n = containers->n_waiting;
	bool late;
	int r = 0;

	for (uint32_t i = 0; i < n; i++) {
		readings[i] = containers->waiting[i].reading;
		texts[i] = &containers->waiting[i].search.texts;
	}
	late = container_files_read(&containers->sources.access, readings, n,
				    containers->waiting[0].search.owner, texts) < 0;
	containers->n_waiting = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct waiting *waiting = &containers->waiting[i];
		int each;

		own_fd(&readings[i].fd);
		waiting->search.late |= late;
		each = go_on(containers, waiting->container, &waiting->search);
		r = each < 0 ? each : r;
	}
	return r;
}

/* Reads until no more than `n` files wait. */
static int read_down_to(struct containers *containers, uint32_t n)
{
	int r = 0;

	while (r == 0 && containers->n_waiting > n)
		r = read_waiting(containers);
	return r;
}

static int look(struct containers *containers, struct container *container,
		const struct cgroup_path *path, uid_t owner)
{
	bool other = containers->n_waiting > 0 && containers->waiting[0].search.owner != owner;
	struct container_search search;
	int r = read_down_to(containers, other ? 0 : CONTAINER_READINGS - 1);

	if (r < 0)
		return r;
	container->look_ms = 0;
	container_search_begin(path, owner, &search);
	return go_on(containers, container, &search);
}

/* ---- for others ---- */

int containers_learn(struct containers *containers, const struct cgroup_path *path, uid_t owner,
		     struct container **ret_container)
{
	char key[2 * CGROUP_NAME_SIZE + CGROUP_CONTAINER_ID];
	struct container *container;
	int r = containers->failed ? -ENOMEM : 0;

	*ret_container = NULL;
	if (!*path->container && !*path->pod_uid && !*path->machine)
		return 0;
	snprintf(key, sizeof(key), "%s %s %s %u", path->container, path->machine, path->pod_uid,
		 owner);
	container = find(containers, key);
	if (!container && containers->n >= MAX_CONTAINERS)
		return 0;
	if (r == 0 && !container)
		r = add(containers, key, &container);
	if (r == 0 && containers_is_due(container))
		r = look(containers, container, path, owner);
	*ret_container = container;
	return r;
}

bool containers_is_due(const struct container *container)
{
	return container->look_ms && monotonic_ms() >= container->look_ms;
}

const struct names_label *containers_labels(struct containers *containers,
					    const struct container *container, uint32_t *ret_n)
{
	if (container->is_open && read_down_to(containers, 0) < 0)
		containers->failed = true;
	*ret_n = container->n_labels;
	return container->labels;
}

uint32_t containers_n_late(const struct containers *containers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < containers->n; i++)
		n += containers->at[i]->look_ms != 0;
	return n;
}
