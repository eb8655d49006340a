// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/imported.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "confined/confined.h"
#include "import/baseline.h"
#include "recording/format.h"
#include "report/report.h"

/* root asked for this file: it may take its time. */
static const struct confined_limits limits = {
	.call_ns = 300 * NS_PER_SECOND,
	.owner_ns = 300 * NS_PER_SECOND,
	.others_ns = 300 * NS_PER_SECOND,
	.renew_ns = UINT64_MAX,
	.answers = 8ull << 30,
	.bytes = 8ull << 30,
};

DEFINE_OWN(struct baseline, baseline_free)
DEFINE_OWN(struct recording, recording_free)

/* The head of a child's answer; the bytes of one or two recordings follow. */
struct head {
	uint64_t size;
	uint64_t before_size; /* of the second; 0: there is none */
	uint8_t imported;     /* 0: the file is a recording itself */
	uint8_t no_addresses; /* it has no addresses */
	char notes[sizeof(((struct baseline *)0)->notes)];
	char losses[sizeof(((struct baseline *)0)->losses)];
	struct error err;
};

/* ---- in the child, whose request is the path, and the value that is wanted, or "" ---- */

static bool is_recording(int fd)
{
	char magic[RECORDING_MAGIC_SIZE];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0;
}

struct saved {
	char *bytes;
	size_t size;
};

static void saved_clear(struct saved *saved)
{
	free(saved->bytes);
}

static int save(const struct measurement *measurement, struct saved *ret_saved, struct head *head)
{
	FILE *out = open_memstream(&ret_saved->bytes, &ret_saved->size);
	int r;

	if (!out)
		return error_set(&head->err, -ENOMEM, "out of memory");
	r = recording_save(out, measurement->meta, measurement->tally, measurement->names,
			   measurement->timeline, &head->err);
	if (fclose(out) != 0 && r == 0)
		r = error_set(&head->err, -ENOMEM, "out of memory");
	return r;
}

static int copy_recording(int fd, const char *path, struct saved *ret_saved, struct head *head)
{
	own(own_recording_free) struct recording *recording = NULL;
	int r = recording_load(fd, path, &recording, &head->err);

	return r < 0 ? r
		     : save(&(struct measurement){ &recording->meta, recording->tally,
						   recording->names, &recording->timeline },
			    ret_saved, head);
}

static int save_baseline(const struct baseline *base, struct saved *ret_saved, struct head *head)
{
	return save(&(struct measurement){ &base->meta, base->tally, base->names, &base->timeline },
		    ret_saved, head);
}

static int import(int fd, const char *path, const char *value, struct saved ret_saved[2],
		  struct head *head)
{
	own(own_baseline_free) struct baseline *base = NULL;
	int r = baseline_load(fd, path, *value ? value : NULL, &base, &head->err);

	head->imported = true;
	head->no_addresses = r == 0 && !base->has_addresses;
	if (r < 0)
		return r;
	memcpy(head->notes, base->notes, sizeof(head->notes));
	memcpy(head->losses, base->losses, sizeof(head->losses));
	r = save_baseline(base, &ret_saved[0], head);
	if (r == 0 && base->before)
		r = save_baseline(base->before, &ret_saved[1], head);
	return r;
}

static int work(const struct confined_job *job)
{
	own(saved_clear) struct saved now = { 0 };
	own(saved_clear) struct saved before = { 0 };
	struct saved saved[2] = { 0 };
	struct head head = { 0 };
	const char *path = job->request, *value = path + strlen(path) + 1;
	int fd = job->fds[0], r;

	if (!is_recording(fd))
		r = import(fd, path, value, saved, &head);
	else if (*value)
		r = error_set(&head.err, -EINVAL, "%s: --value %s: it has one value only", path,
			      value);
	else
		r = copy_recording(fd, path, &saved[0], &head);

	now = saved[0];
	before = saved[1];
	head.size = now.size;
	head.before_size = before.size;
	confined_send(job, &head, sizeof(head));
	if (r == 0)
		confined_send(job, now.bytes, now.size);
	if (r == 0 && before.size > 0)
		confined_send(job, before.bytes, before.size);
	return r;
}

/* ---- in our process ---- */

/* Copies the answer to a file in memory. */
static int receive(struct confined_child *child, int fd, uint64_t size)
{
	char bytes[16384];
	uint64_t done = 0;

	while (done < size) {
		size_t n = size - done < sizeof(bytes) ? (size_t)(size - done) : sizeof(bytes);
		int r = confined_read(child, bytes, n);

		if (r < 0)
			return r;
		if (write(fd, bytes, n) != (ssize_t)n)
			return errno ? -errno : -EIO;
		done += n;
	}
	return 0;
}

static int ask(struct confined *confined, const struct imported_file *file, const int copies[2],
	       struct head *head)
{
	const char *value = file->value ? file->value : "";
	const struct iovec parts[] = { { (void *)file->path, strlen(file->path) + 1 },
				       { (void *)value, strlen(value) + 1 } };
	const struct confined_call call = { .work = work,
					    .owner = confined_owner(file->fd),
					    .fds = &file->fd,
					    .n_fds = 1,
					    .request = parts,
					    .n_parts = 2 };
	struct confined_child *child;
	int r = confined_begin(confined, &call, &child), end;

	if (r < 0)
		return r;
	r = confined_read(child, head, sizeof(*head));
	if (r == 0)
		r = receive(child, copies[0], head->size);
	if (r == 0)
		r = receive(child, copies[1], head->before_size);
	end = confined_finish(child);
	return r < 0 ? r : end;
}

int imported_load(const struct imported_file *file, struct imported *imported, struct error *err)
{
	own(own_confined_free) struct confined *confined = NULL;
	own(own_fd) int copy = memfd_create("imported", MFD_CLOEXEC);
	own(own_fd) int before = memfd_create("imported", MFD_CLOEXEC);
	struct head head = { 0 };
	int r = copy < 0 || before < 0 ? -errno : confined_new(&limits, &confined);

	if (r == 0)
		r = ask(confined, file, (int[]){ copy, before }, &head);
	if (r < 0) {
		head.err.text[sizeof(head.err.text) - 1] = '\0';
		return head.err.text[0]
			       ? error_set(err, r, "%s", head.err.text)
			       : error_set(err, r, "cannot read %s: %s", file->path, strerror(-r));
	}
	memcpy(imported->notes, head.notes, sizeof(imported->notes) - 1);
	memcpy(imported->losses, head.losses, sizeof(imported->losses) - 1);
	imported->of_others = head.imported != 0;
	imported->no_addresses = head.no_addresses != 0;
	r = recording_load(copy, file->path, &imported->recording, err);
	if (r == 0 && head.before_size > 0)
		r = recording_load(before, file->path, &imported->before, err);
	return r;
}

void imported_clear(struct imported *imported)
{
	recording_free(imported->recording);
	recording_free(imported->before);
	*imported = (struct imported){ 0 };
}
