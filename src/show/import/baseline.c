// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "import/kind.h"
#include "import/packed.h"
#include "recording/format.h"

DEFINE_OWN(struct baseline, baseline_free)

void baseline_free(struct baseline *base)
{
	if (!base)
		return;
	tally_free(base->tally);
	names_free(base->names);
	timeline_clear(&base->timeline);
	baseline_free(base->before);
	free(base);
}

#define KIND(id) &id##_kind,
static const struct import_kind *const kinds[] = { IMPORT_KINDS(KIND) };
#undef KIND

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

int baseline_new(struct baseline **ret_base, struct error *err)
{
	own(own_baseline_free) struct baseline *base = calloc(1, sizeof(*base));

	if (!base || tally_new(0, 0, &base->tally) < 0 || names_new(&base->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	base->meta.user = base->meta.kernel = true;
	*ret_base = take_ptr(base);
	return 0;
}

/* The first that knows it, unless that finds it to be another one after all. */
static int fill(const struct import_file *file, struct baseline *base, struct error *err)
{
	int r = -ENOEXEC;

	for (size_t i = 0; i < N_KINDS && r == -ENOEXEC; i++) {
		if (!kinds[i]->knows(file->bytes, file->size))
			continue;
		r = kinds[i]->read(file, base, err);
		if (r == 0 && file->value && !kinds[i]->has_values)
			return error_set(err, -EINVAL, "--value %s: it has one value only",
					 file->value);
	}
	return r;
}

static int fill_unpacked(const struct import_file *file, struct baseline *base, struct error *err)
{
	own(own_free) char *unpacked = NULL;
	struct import_file inner = *file;

	if (packed_is_gzip(file->bytes, file->size)) {
		int r = packed_unpack(file->bytes, file->size, BASELINE_UNPACKED_MAX, &unpacked,
				      &inner.size, err);

		if (r < 0)
			return r;
		inner.bytes = unpacked;
		if (inner.size >= RECORDING_MAGIC_SIZE &&
		    memcmp(unpacked, RECORDING_MAGIC, RECORDING_MAGIC_SIZE) == 0)
			return error_set(err, -EINVAL,
					 "a packed recording: pipe `zcat FILE` into --from -");
	}
	return inner.size == 0 ? error_set(err, -ENODATA, "it is empty") : fill(&inner, base, err);
}

int baseline_read(const char *bytes, size_t size, const char *value, struct baseline **ret_base,
		  struct error *err)
{
	own(own_baseline_free) struct baseline *base = NULL;
	int r;

	if (size > BASELINE_FILE_MAX)
		return error_set(err, -E2BIG, "larger than %zu MiB", BASELINE_FILE_MAX >> 20);
	r = baseline_new(&base, err);
	if (r == 0)
		r = fill_unpacked(&(struct import_file){ bytes, size, value }, base, err);
	if (r < 0)
		return r;
	profile_find_details(base->tally, base->names, &base->meta.has);
	if (base->before)
		profile_find_details(base->before->tally, base->before->names,
				     &base->before->meta.has);
	*ret_base = take_ptr(base);
	return 0;
}

static int read_whole(int fd, size_t size, char *bytes)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = pread(fd, bytes + used, size - used, (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG; /* the file was truncated */
		used += (size_t)n;
	}
	return 0;
}

/* It is of no kind that is read. */
static int refuse(const char *path, const struct error *why, struct error *err)
{
	char names[500] = "";
	size_t used = 0;

	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i]->name && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 i + 1 == N_KINDS ? " or " : ", ", kinds[i]->name);
	return error_set(err, -ENOEXEC, "%s is not a stacktally recording%s: %s", path, names,
			 why->text);
}

int baseline_load(int fd, const char *path, const char *value, struct baseline **ret_base,
		  struct error *err)
{
	own(own_free) char *bytes = NULL;
	struct error why = { 0 };
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return error_set(err, -EINVAL, "cannot read %s: not a regular file", path);
	if (status.st_size == 0)
		return error_set(err, -ENODATA, "cannot read %s: it is empty", path);
	if (status.st_size > (off_t)BASELINE_FILE_MAX)
		return error_set(err, -E2BIG, "cannot read %s: larger than %zu MiB", path,
				 BASELINE_FILE_MAX >> 20);
	bytes = malloc((size_t)status.st_size + 1);
	r = bytes ? read_whole(fd, (size_t)status.st_size, bytes) : -ENOMEM;
	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", path, strerror(-r));
	r = baseline_read(bytes, (size_t)status.st_size, value, ret_base, &why);
	if (r == -ENOEXEC)
		return refuse(path, &why, err);
	return r < 0 ? error_set(err, r, "%s: %s", path, why.text) : 0;
}
