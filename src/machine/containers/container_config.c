// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/container_config.h"

#include <string.h>

#include "base/json_reader.h"

#define KEY_SIZE      128 /* more than any key that is looked for has */
#define METADATA_SIZE 4096

/* Annotations of containerd, CRI-O and nerdctl; labels of Docker under an old kubelet. */
static const struct {
	const char *key;
	enum container_text text;
} annotations[] = {
	{ "io.kubernetes.cri.container-name", CONTAINER_POD_CONTAINER },
	{ "io.kubernetes.cri.sandbox-name", CONTAINER_POD },
	{ "io.kubernetes.cri.sandbox-namespace", CONTAINER_NAMESPACE },
	{ "io.kubernetes.cri.sandbox-uid", CONTAINER_POD_UID },
	{ "io.kubernetes.cri.image-name", CONTAINER_IMAGE },
	{ "io.kubernetes.container.name", CONTAINER_POD_CONTAINER },
	{ "io.kubernetes.pod.name", CONTAINER_POD },
	{ "io.kubernetes.pod.namespace", CONTAINER_NAMESPACE },
	{ "io.kubernetes.pod.uid", CONTAINER_POD_UID },
	{ "io.kubernetes.cri-o.ImageName", CONTAINER_IMAGE },
	{ "nerdctl/name", CONTAINER_NAME },
};

static void read_text(struct json_reader *json, char text[CONTAINER_TEXT_SIZE])
{
	if (*text) {
		json_skip(json);
		return;
	}
	json_text(json, text, CONTAINER_TEXT_SIZE);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
}

static void read_annotations(struct json_reader *json, struct container_texts *texts)
{
	char key[KEY_SIZE];

	if (!json_enter(json, '{')) {
		json_skip(json);
		return;
	}
	while (json_member(json, key, sizeof(key))) {
		size_t i = 0, n = sizeof(annotations) / sizeof(annotations[0]);

		while (i < n && strcmp(key, annotations[i].key) != 0)
			i++;
		if (i < n)
			read_text(json, texts->of[annotations[i].text]);
		else
			json_skip(json);
	}
}

/* Docker's object Config. */
static void read_docker(struct json_reader *json, struct container_texts *texts)
{
	char key[KEY_SIZE];

	if (!json_enter(json, '{')) {
		json_skip(json);
		return;
	}
	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, "Image") == 0)
			read_text(json, texts->of[CONTAINER_IMAGE]);
		else if (strcmp(key, "Labels") == 0)
			read_annotations(json, texts);
		else
			json_skip(json);
	}
}

/* Docker's names are paths. */
static void read_name(struct json_reader *json, struct container_texts *texts)
{
	char *name = texts->of[CONTAINER_NAME];

	read_text(json, name);
	if (*name == '/')
		memmove(name, name + 1, strlen(name));
}

static void read_hostname(struct json_reader *json, struct container_texts *texts)
{
	read_text(json, texts->of[CONTAINER_POD]);
}

/* The members of a file that say something. */
struct member {
	const char *key;
	void (*read)(struct json_reader *json, struct container_texts *texts);
};

#define MEMBERS 2

static const struct member members[CONTAINER_N_FILES][MEMBERS] = {
	[CONTAINER_OCI] = { { "annotations", read_annotations } },
	[CONTAINER_DOCKER] = { { "Config", read_docker }, { "Name", read_name } },
	[CONTAINER_SANDBOX] = { { "hostname", read_hostname } },
};

/* The member with this key; NULL: it says nothing. */
static const struct member *find_member(const struct member *of, const char *key)
{
	for (size_t i = 0; i < MEMBERS && of[i].key; i++)
		if (strcmp(of[i].key, key) == 0)
			return &of[i];
	return NULL;
}

void container_config_read(enum container_file kind, const char *text, size_t size,
			   struct container_texts *texts)
{
	struct json_reader json = { .at = text, .end = text + size };
	const struct member *of = members[kind], *member;
	uint32_t left = of[1].key ? 2 : 1;
	char key[KEY_SIZE];

	if (!json_enter(&json, '{'))
		return;
	while (left > 0 && json_member(&json, key, sizeof(key))) {
		member = find_member(of, key);
		if (!member) {
			json_skip(&json);
			continue;
		}
		member->read(&json, texts);
		left--;
	}
}

/* ---- the list ---- */

/* A string that is JSON itself. */
static void read_metadata(struct json_reader *json, struct container_listed *listed)
{
	char text[METADATA_SIZE], key[KEY_SIZE];
	struct json_reader inner = { .at = text };

	if (!json_text(json, text, sizeof(text)))
		return;
	inner.end = text + strlen(text);
	if (!json_enter(&inner, '{'))
		return;
	while (json_member(&inner, key, sizeof(key))) {
		if (strcmp(key, "image-name") == 0)
			read_text(&inner, listed->image);
		else
			json_skip(&inner);
	}
}

/* The first of its names. */
static void read_names(struct json_reader *json, struct container_listed *listed)
{
	if (!json_enter(json, '[')) {
		json_skip(json);
		return;
	}
	while (json_element(json))
		read_text(json, listed->name);
}

/* Its id stays "" unless it is that of a container. */
static void read_element(struct json_reader *json, struct container_listed *listed)
{
	char key[KEY_SIZE], id[KEY_SIZE] = "";

	if (!json_enter(json, '{')) {
		json_skip(json);
		return;
	}
	while (json_member(json, key, sizeof(key))) {
		if (strcmp(key, "id") == 0)
			json_text(json, id, sizeof(id));
		else if (strcmp(key, "names") == 0)
			read_names(json, listed);
		else if (strcmp(key, "metadata") == 0)
			read_metadata(json, listed);
		else
			json_skip(json);
	}
	if (strlen(id) == CGROUP_CONTAINER_ID &&
	    strspn(id, "0123456789abcdef") == CGROUP_CONTAINER_ID)
		memcpy(listed->id, id, sizeof(listed->id));
}

void container_list_read(const char *text, size_t size,
			 void (*visit)(void *context, const struct container_listed *listed),
			 void *context)
{
	struct json_reader json = { .at = text, .end = text + size };
	uint32_t n = 0;

	if (!json_enter(&json, '['))
		return;
	while (n < CONTAINER_LIST_MAX && json_element(&json)) {
		struct container_listed listed = { 0 };

		read_element(&json, &listed);
		if (!*listed.id)
			continue;
		visit(context, &listed);
		n++;
	}
}
