// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "import/firefox_reader.h"
#include "import/folded_reader.h"
#include "import/others.h"
#include "import/packed.h"
#include "import/perf_reader.h"
#include "import/pprof_reader.h"
#include "import/speedscope_reader.h"
#include "recording/format.h"

DEFINE_OWN(struct baseline, baseline_free)

void baseline_free(struct baseline *base)
{
	if (!base)
		return;
	tally_free(base->tally);
	names_free(base->names);
	baseline_free(base->before);
	free(base);
}

#define START 512 /* bytes at the beginning that tell what a file is */

/* A message has control characters in its first bytes; text has only tabs and line ends. */
static bool is_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < START; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r')
			return false;
	}
	return true;
}

static int baseline_new(struct baseline **ret_base, struct error *err)
{
	own(own_baseline_free) struct baseline *base = calloc(1, sizeof(*base));

	if (!base || tally_new(0, 0, &base->tally) < 0 || names_new(&base->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	base->meta.user = base->meta.kernel = true;
	*ret_base = take_ptr(base);
	return 0;
}

static int fill_folded(const char *bytes, size_t size, struct baseline *base, struct error *err)
{
	struct folded_form form;
	int r = folded_form_of(bytes, size, &form, err);

	if (r == 0)
		r = folded_read(bytes, size, &form, FOLDED_COUNT, base->tally, base->names, err);
	if (r < 0 || !form.difference)
		return r;
	r = baseline_new(&base->before, err);
	return r < 0 ? r
		     : folded_read(bytes, size, &form, FOLDED_BASE, base->before->tally,
				   base->before->names, err);
}

/* What is no text is pprof's format, or text with names of control characters. */
static int fill(const char *bytes, size_t size, const char *value, struct baseline *base,
		struct error *err)
{
	int r = is_text(bytes, size) ? -ENOEXEC
				     : pprof_read(bytes, size, value, &base->meta, base->tally,
						  base->names, err);

	base->has_addresses = base->has_values = r == 0;
	if (r != -ENOEXEC || memchr(bytes, '\0', size < START ? size : START))
		return r;
	base->has_values = perf_reader_knows(bytes, size);
	if (base->has_values)
		return perf_read(bytes, size, value, &base->meta, base->tally, base->names, err);
	return fill_folded(bytes, size, base, err);
}

static int fill_unpacked(const char *bytes, size_t size, const char *value, struct baseline *base,
			 struct error *err)
{
	own(own_free) char *unpacked = NULL;
	const char *advice;
	int r;

	if (packed_is_gzip(bytes, size)) {
		r = packed_unpack(bytes, size, BASELINE_UNPACKED_MAX, &unpacked, &size, err);
		if (r < 0)
			return r;
		bytes = unpacked;
		if (size >= RECORDING_MAGIC_SIZE &&
		    memcmp(bytes, RECORDING_MAGIC, RECORDING_MAGIC_SIZE) == 0)
			return error_set(err, -EINVAL,
					 "a packed recording: pipe `zcat FILE` into --from -");
	}
	if (size == 0)
		return error_set(err, -ENODATA, "it is empty");
	if (bytes[0] == '{' && speedscope_reader_knows(bytes, size))
		return speedscope_read(bytes, size, &base->meta, base->tally, base->names, err);
	if (bytes[0] == '{' && firefox_reader_knows(bytes, size))
		return firefox_read(bytes, size, &base->meta, base->tally, base->names, err);
	advice = others_advice(bytes, size);
	return advice ? error_set(err, -EINVAL, "%s", advice) : fill(bytes, size, value, base, err);
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
		r = fill_unpacked(bytes, size, value, base, err);
	if (r == 0 && value && !base->has_values)
		r = error_set(err, -EINVAL,
			      "--value %s: it is no pprof file, nor text of perf script", value);
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
		return error_set(err, r,
				 "%s is not a stacktally recording, folded stacks, a pprof file, "
				 "speedscope's or Firefox's JSON or the text of perf script: %s",
				 path, why.text);
	return r < 0 ? error_set(err, r, "%s: %s", path, why.text) : 0;
}
