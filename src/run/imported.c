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

/* The head of a child's answer; the bytes of the recording follow. */
struct head {
	uint64_t size;
	uint8_t imported; /* 0: the file is a recording itself */
	struct error err;
};

/* ---- in the child, whose request is the path ---- */

static bool is_recording(int fd)
{
	char magic[RECORDING_MAGIC_SIZE];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0;
}

static int save(const struct measurement *measurement, char **ret_bytes, struct head *head)
{
	size_t size = 0;
	FILE *out = open_memstream(ret_bytes, &size);
	int r;

	if (!out)
		return error_set(&head->err, -ENOMEM, "out of memory");
	r = recording_save(out, measurement->meta, measurement->tally, measurement->names,
			   &head->err);
	if (fclose(out) != 0 && r == 0)
		r = error_set(&head->err, -ENOMEM, "out of memory");
	head->size = size;
	return r;
}

static int copy_recording(int fd, const char *path, char **ret_bytes, struct head *head)
{
	own(own_recording_free) struct recording *recording = NULL;
	int r = recording_load(fd, path, &recording, &head->err);

	return r < 0 ? r
		     : save(&(struct measurement){ &recording->meta, recording->tally,
						   recording->names },
			    ret_bytes, head);
}

static int import(int fd, const char *path, char **ret_bytes, struct head *head)
{
	own(own_baseline_free) struct baseline *base = NULL;
	int r = baseline_load(fd, path, &base, &head->err);

	head->imported = true;
	return r < 0 ? r
		     : save(&(struct measurement){ &base->meta, base->tally, base->names },
			    ret_bytes, head);
}

static int work(const struct confined_job *job)
{
	own(own_free) char *bytes = NULL;
	struct head head = { 0 };
	int fd = job->fds[0];
	int r = is_recording(fd) ? copy_recording(fd, job->request, &bytes, &head)
				 : import(fd, job->request, &bytes, &head);

	confined_send(job, &head, sizeof(head));
	if (r == 0)
		confined_send(job, bytes, head.size);
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

static int ask(struct confined *confined, int fd, const char *path, int copy, struct head *head)
{
	const struct iovec part = { (void *)path, strlen(path) + 1 };
	const struct confined_call call = { .work = work,
					    .owner = confined_owner(fd),
					    .fds = &fd,
					    .n_fds = 1,
					    .request = &part,
					    .n_parts = 1 };
	struct confined_child *child;
	int r = confined_begin(confined, &call, &child), end;

	if (r < 0)
		return r;
	r = confined_read(child, head, sizeof(*head));
	if (r == 0)
		r = receive(child, copy, head->size);
	end = confined_finish(child);
	return r < 0 ? r : end;
}

int imported_load(int fd, const char *path, struct recording **ret_recording, bool *ret_imported,
		  struct error *err)
{
	own(own_confined_free) struct confined *confined = NULL;
	own(own_fd) int copy = memfd_create("imported", MFD_CLOEXEC);
	struct head head = { 0 };
	int r = copy < 0 ? -errno : confined_new(&limits, &confined);

	if (r == 0)
		r = ask(confined, fd, path, copy, &head);
	if (r < 0) {
		head.err.text[sizeof(head.err.text) - 1] = '\0';
		return head.err.text[0]
			       ? error_set(err, r, "%s", head.err.text)
			       : error_set(err, r, "cannot read %s: %s", path, strerror(-r));
	}
	*ret_imported = head.imported != 0;
	return recording_load(copy, path, ret_recording, err);
}
