// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/container_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"

/* The request to a child. */
struct question {
	struct container_texts texts; /* known by now */
	enum container_file kind;
	size_t size; /* of the file */
};

/* ---- in the child ---- */

/* The file, or what there is of it. NULL: no memory. */
static char *read_all(int fd, size_t size, size_t *ret_size)
{
	char *text = malloc(size + 1);
	size_t used = 0;
	ssize_t n = 1;

	while (text && n > 0 && used < size) {
		n = pread(fd, text + used, size - used, (off_t)used);
		used += n > 0 ? (size_t)n : 0;
	}
	*ret_size = used;
	return text;
}

static int read_texts(const struct confined_job *job)
{
	own(own_free) char *text = NULL;
	struct question question;
	size_t size;

	if (job->size != sizeof(question))
		return -EPROTO;
	memcpy(&question, job->request, sizeof(question));
	text = read_all(job->fds[0], question.size, &size);
	if (text)
		container_config_read(question.kind, text, size, &question.texts);
	confined_send(job, &question.texts, sizeof(question.texts));
	return 0;
}

static void send_listed(void *context, const struct container_listed *listed)
{
	confined_send(context, listed, sizeof(*listed));
}

static int read_list(const struct confined_job *job)
{
	own(own_free) char *text = NULL;
	size_t size;

	if (job->size != sizeof(size))
		return -EPROTO;
	memcpy(&size, job->request, sizeof(size));
	text = read_all(job->fds[0], size, &size);
	if (text)
		container_list_read(text, size, send_listed, (void *)job);
	return 0;
}

/* ---- here ---- */

static struct file_way way_of(const struct container_access *access,
			      const struct container_place *place)
{
	struct file_way way = roots_way(access->roots, place->root, place->path);

	way.links = LINKS_ANYWHERE;
	return way;
}

/* Opens it if it counts: a descriptor and its size, or a negative errno. */
static int open_place(const struct container_access *access, const struct container_place *place,
		      size_t *ret_size)
{
	const struct file_way way = way_of(access, place);
	own(own_fd) int fd = -1;
	struct stat status;

	fd = file_opener_open(access->opener, &way, FILE_WHOLE, NULL, &status, NULL);
	if (fd < 0)
		return fd;
	if (status.st_uid != place->owner || (status.st_mode & (S_IWGRP | S_IWOTH)) ||
	    status.st_size > CONTAINER_CONFIG_MAX)
		return -EPERM;
	*ret_size = (size_t)status.st_size;
	return take_fd(&fd);
}

/* -EAGAIN for what may be otherwise later. */
static int later(int r)
{
	return r == -ETIMEDOUT || r == -EDQUOT ? -EAGAIN : 0;
}

/* What a child sends may be anything. */
static bool is_text(const char text[CONTAINER_TEXT_SIZE])
{
	const char *end = memchr(text, '\0', CONTAINER_TEXT_SIZE);

	for (const char *at = text; end && at < end; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			return false;
	return end;
}

int container_files_read(const struct container_access *access, const struct container_place *place,
			 enum container_file kind, struct container_texts *texts)
{
	struct question question = { .texts = *texts, .kind = kind };
	const struct iovec request = { &question, sizeof(question) };
	own(own_fd) int fd = open_place(access, place, &question.size);
	struct container_texts answer;
	int r = fd;

	if (fd >= 0)
		r = confined_ask(access->readers, read_texts, fd, &request, &answer,
				 sizeof(answer));
	if (r < 0)
		return later(r);
	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		if (!is_text(answer.of[i]))
			return 0;
	*texts = answer;
	return 0;
}

static bool is_listed(const struct container_listed *listed)
{
	return listed->id[CGROUP_CONTAINER_ID] == '\0' &&
	       strspn(listed->id, "0123456789abcdef") == CGROUP_CONTAINER_ID &&
	       is_text(listed->name) && is_text(listed->image);
}

int container_files_list(const struct container_access *access, const struct container_place *place,
			 struct container_listed **ret_elements, uint32_t *ret_n)
{
	own(own_free) struct container_listed *elements = NULL;
	struct confined_child *child;
	struct container_listed next;
	uint32_t n = 0, capacity = 0;
	size_t size;
	own(own_fd) int fd = open_place(access, place, &size);
	const struct iovec request = { &size, sizeof(size) };
	const struct confined_call call = { .work = read_list,
					    .owner = fd < 0 ? 0 : confined_owner(fd),
					    .fds = &fd,
					    .n_fds = 1,
					    .request = &request,
					    .n_parts = 1 };

	int r = fd < 0 ? fd : confined_begin(access->readers, &call, &child);

	*ret_elements = NULL;
	*ret_n = 0;
	if (r < 0)
		return later(r);
	while (n < CONTAINER_LIST_MAX && confined_read(child, &next, sizeof(next)) == 0 &&
	       is_listed(&next) && grow(&elements, &capacity, n + 1) == 0)
		elements[n++] = next;
	r = confined_finish(child);
	if (r < 0)
		return later(r);
	*ret_elements = take_ptr(elements);
	*ret_n = n;
	return 0;
}

int container_files_look(const struct container_access *access, const struct container_place *place,
			 struct stat *ret_status)
{
	const struct file_way way = way_of(access, place);

	return file_opener_look(access->opener, &way, ret_status);
}
