// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/container_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"

/* Of one file: a part of the request to a child. */
struct question {
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

static void read_one(const struct confined_job *job, int fd, const struct question *question)
{
	struct container_texts texts = { 0 };
	own(own_free) char *text = NULL;
	size_t size;

	text = read_all(fd, question->size, &size);
	if (text && question->kind < CONTAINER_N_FILES)
		container_config_read(question->kind, text, size, &texts);
	confined_send(job, &texts, sizeof(texts));
}

static int read_texts(const struct confined_job *job)
{
	const struct question *questions = job->request;
	size_t n = job->size / sizeof(*questions);

	if (n > CONFINED_MAX_FDS || job->size != n * sizeof(*questions))
		return -EPROTO;
	for (size_t i = 0; i < n; i++)
		read_one(job, job->fds[i], &questions[i]);
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

int container_files_open(const struct container_access *access, const struct container_place *place,
			 enum container_file kind, struct container_reading *ret_reading)
{
	size_t size;
	int fd = open_place(access, place, &size);

	if (fd < 0)
		return later(fd) < 0 ? -EAGAIN : fd;
	*ret_reading = (struct container_reading){ fd, size, kind };
	return 0;
}

/* What is known by now stays. */
static void add_texts(const struct container_texts *answer, struct container_texts *texts)
{
	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		if (!is_text(answer->of[i]))
			return;
	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		if (!*texts->of[i])
			memcpy(texts->of[i], answer->of[i], sizeof(texts->of[i]));
}

/* One call for all of them. 0, or a negative errno: none was read. */
static int ask(const struct container_access *access, const struct container_reading *readings,
	       uint32_t n, uid_t owner, struct container_texts *const *texts)
{
	struct question questions[CONTAINER_READINGS] = { 0 };
	const struct iovec request = { questions, n * sizeof(questions[0]) };
	own(own_free) struct container_texts *answers = calloc(n, sizeof(*answers));
	struct confined_child *child;
	int fds[CONTAINER_READINGS], r, finished;

	for (uint32_t i = 0; i < n; i++) {
		questions[i] = (struct question){ readings[i].kind, readings[i].size };
		fds[i] = readings[i].fd;
	}
	if (!answers)
		return -ENOMEM;
	r = confined_begin(access->readers,
			   &(struct confined_call){ .work = read_texts,
						    .owner = owner,
						    .fds = fds,
						    .n_fds = n,
						    .request = &request,
						    .n_parts = 1 },
			   &child);
	if (r < 0)
		return r;
	r = confined_read(child, answers, n * sizeof(*answers));
	finished = confined_finish(child);
	if (r < 0 || finished < 0)
		return r < 0 ? r : finished;
	for (uint32_t i = 0; i < n; i++)
		add_texts(&answers[i], texts[i]);
	return 0;
}

int container_files_read(const struct container_access *access,
			 const struct container_reading *readings, uint32_t n, uid_t owner,
			 struct container_texts *const *texts)
{
	int r = ask(access, readings, n, owner, texts), all = 0;

	if (r == 0 || n == 1)
		return later(r);
	for (uint32_t i = 0; i < n; i++) {
		r = later(ask(access, &readings[i], 1, owner, &texts[i]));
		all = r < 0 ? r : all;
	}
	return all;
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
