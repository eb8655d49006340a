// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/containers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/pool.h"
#include "containers/container_config.h"
#include "containers/pod_logs.h"
#include "containers/users.h"
#include "tally/cgroup_path.h"

#define MAX_CONTAINERS 65536u

/* What is known of a container, or of a pod where there is no container. */
struct container {
	const char *key; /* the id, the user and the pod's UID */
	struct names_label labels[CONTAINER_N_TEXTS];
	uint32_t n_labels;
};

struct containers {
	struct roots *roots;
	struct file_opener *opener;
	struct confined *readers;
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
 * Where runtimes keep files: the id stands between `before` and `after`, if there is an `after`.
 * What an earlier file says counts.
 */
struct place {
	const char *before, *after;
	enum container_file kind;
};

#define OCI_CONFIG "/userdata/config.json"
#define TASKS	   "io.containerd.runtime.v2.task/"
#define STORAGE	   "/containers/storage/overlay-containers/"

static const struct place of_root[] = {
	{ "/run/containerd/" TASKS "k8s.io/", "/config.json", CONTAINER_OWN_FILE },
	{ "/run/k3s/containerd/" TASKS "k8s.io/", "/config.json", CONTAINER_OWN_FILE },
	{ "/run/containerd/" TASKS "default/", "/config.json", CONTAINER_OWN_FILE },
	{ "/var/lib/docker/containers/", "/config.v2.json", CONTAINER_OWN_FILE },
	{ "/run" STORAGE, OCI_CONFIG, CONTAINER_OWN_FILE },
	{ "/var/lib" STORAGE "containers.json", NULL, CONTAINER_LIST },
	{ "/var/lib" STORAGE "volatile-containers.json", NULL, CONTAINER_LIST },
};

/* Below a user's home. */
static const struct place of_user[] = {
	{ "/.local/share" STORAGE "containers.json", NULL, CONTAINER_LIST },
	{ "/.local/share" STORAGE "volatile-containers.json", NULL, CONTAINER_LIST },
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
	containers->roots = roots;
	containers->opener = opener;
	containers->readers = readers;
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
	pool_free(containers->pool);
	free(containers);
}

/* ---- reading one file ---- */

/* The request to a child. */
struct question {
	struct container_texts texts; /* known by now */
	enum container_file kind;
	char id[CGROUP_CONTAINER_ID + 1];
};

/* All of a file; NULL: it is too large, or could not be read. */
static char *read_all(int fd, size_t *ret_size)
{
	own(own_free) char *text = malloc(CONTAINER_CONFIG_MAX);
	size_t size = 0;
	ssize_t n = 1;

	while (text && n > 0 && size < CONTAINER_CONFIG_MAX) {
		n = pread(fd, text + size, CONTAINER_CONFIG_MAX - size, (off_t)size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (n != 0)
		return NULL;
	*ret_size = size;
	return take_ptr(text);
}

/* Runs in the child. */
static int answer(const struct confined_job *job)
{
	own(own_free) char *text = NULL;
	struct question question;
	size_t size;

	if (job->size != sizeof(question))
		return -EPROTO;
	memcpy(&question, job->request, sizeof(question));
	text = read_all(job->fds[0], &size);
	if (text)
		container_config_read(question.kind, question.id, text, size, &question.texts);
	confined_send(job, &question.texts, sizeof(question.texts));
	return 0;
}

static bool is_printable(const char text[CONTAINER_TEXT_SIZE])
{
	const char *end = memchr(text, '\0', CONTAINER_TEXT_SIZE);

	for (const char *at = text; end && at < end; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			return false;
	return end;
}

static void ask(struct containers *containers, int fd, struct question *question)
{
	const struct iovec request = { question, sizeof(*question) };
	struct container_texts texts;

	if (confined_ask(containers->readers, answer, fd, &request, &texts, sizeof(texts)) < 0)
		return;
	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		if (!is_printable(texts.of[i]))
			return;
	question->texts = texts;
}

/* ---- the places ---- */

static void look_at(struct containers *containers, uint32_t root, const char *path, uid_t owner,
		    struct question *question)
{
	struct file_way way = roots_way(containers->roots, root, path);
	own(own_fd) int fd = -1;
	struct stat status;

	way.links = LINKS_ANYWHERE;
	fd = file_opener_open(containers->opener, &way, FILE_WHOLE, NULL, &status, NULL);
	if (fd >= 0 && status.st_uid == owner && !(status.st_mode & (S_IWGRP | S_IWOTH)))
		ask(containers, fd, question);
}

static void look_in(struct containers *containers, uint32_t root, const char *home, uid_t owner,
		    const struct place *places, size_t n, struct question *question)
{
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		bool one = places[i].after;

		question->kind = places[i].kind;
		snprintf(path, sizeof(path), "%s%s%s%s", home, places[i].before,
			 one ? question->id : "", one ? places[i].after : "");
		look_at(containers, root, path, owner, question);
	}
}

static void look_in_root(struct containers *containers, uint32_t root,
			 const struct cgroup_path *path, struct question *question)
{
	char home[PATH_MAX / 2];

	if (*path->container && path->user <= 0)
		look_in(containers, root, "", 0, of_root, sizeof(of_root) / sizeof(of_root[0]),
			question);
	else if (*path->container && users_home((uid_t)path->user, home, sizeof(home)) == 0)
		look_in(containers, root, home, (uid_t)path->user, of_user,
			sizeof(of_user) / sizeof(of_user[0]), question);
	if (*path->pod_uid && !*question->texts.of[CONTAINER_POD])
		pod_logs_find(containers->opener, roots_way(containers->roots, root, POD_LOGS),
			      path->pod_uid, question->texts.of[CONTAINER_NAMESPACE],
			      question->texts.of[CONTAINER_POD]);
}

/* The root of process 1, once. */
static uint32_t first_root(struct containers *containers)
{
	own(process_view_close) struct process_view first = PROCESS_VIEW_NONE;

	if (containers->first_root == ROOT_UNKNOWN) {
		containers->first_root = ROOT_OWN;
		if (process_view_open(1, &first) == 0)
			containers->first_root = roots_intern(containers->roots, &first);
		if (containers->first_root == ROOT_UNKNOWN)
			containers->first_root = ROOT_OWN;
	}
	return containers->first_root;
}

static void look(struct containers *containers, const struct cgroup_path *path,
		 struct container_texts *ret_texts)
{
	struct question question = { 0 };
	char *name = question.texts.of[CONTAINER_NAME];

	memcpy(question.id, path->container, sizeof(question.id));
	memcpy(question.texts.of[CONTAINER_POD_UID], path->pod_uid, sizeof(path->pod_uid));
	look_in_root(containers, ROOT_OWN, path, &question);
	if (!*name && !*question.texts.of[CONTAINER_POD] && first_root(containers) != ROOT_OWN)
		look_in_root(containers, first_root(containers), path, &question);
	if (!*name)
		memcpy(name, question.texts.of[CONTAINER_POD_CONTAINER], CONTAINER_TEXT_SIZE);
	if (!*name)
		memcpy(name, path->machine, sizeof(path->machine));
	*ret_texts = question.texts;
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

static int fill(struct containers *containers, struct container *container, const char *key,
		const struct container_texts *texts)
{
	container->key = pool_string(containers->pool, key);
	for (int i = 0; container->key && i < CONTAINER_N_TEXTS; i++) {
		struct names_label *label = &container->labels[container->n_labels];

		if (!*texts->of[i])
			continue;
		*label = (struct names_label){ keys[i],
					       pool_string(containers->pool, texts->of[i]) };
		container->n_labels++;
		if (!label->value)
			return -ENOMEM;
	}
	return container->key ? 0 : -ENOMEM;
}

static int add(struct containers *containers, const char *key, const struct container_texts *texts,
	       struct container **ret_container)
{
	own(own_free) struct container *container = calloc(1, sizeof(*container));
	int r;

	if (!container || grow(&containers->at, &containers->capacity, containers->n + 1) < 0)
		return -ENOMEM;
	r = fill(containers, container, key, texts);
	if (r == 0)
		r = index_add(&containers->by_key, hash_bytes(key, strlen(key)), containers->n);
	if (r < 0)
		return r;
	*ret_container = containers->at[containers->n++] = take_ptr(container);
	return 0;
}

int containers_learn(struct containers *containers, struct names_cgroup *cgroup)
{
	char key[2 * CGROUP_NAME_SIZE + CGROUP_CONTAINER_ID];
	struct container *container;
	struct container_texts texts;
	struct cgroup_path path;
	int r;

	cgroup_path_read(cgroup->path, &path);
	if (!*path.container && !*path.pod_uid && !*path.machine)
		return 0;
	snprintf(key, sizeof(key), "%s %s %s %lld", path.container, path.machine, path.pod_uid,
		 (long long)path.user);
	container = find(containers, key);
	if (!container && containers->n >= MAX_CONTAINERS)
		return 0;
	if (!container) {
		look(containers, &path, &texts);
		r = add(containers, key, &texts, &container);
		if (r < 0)
			return r;
	}
	cgroup->labels = container->labels;
	cgroup->n_labels = container->n_labels;
	return 0;
}
