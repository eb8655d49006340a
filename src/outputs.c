// SPDX-License-Identifier: GPL-2.0-or-later
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define BUFFER_SIZE (256u << 10)
#define FILE_MODE   0666 /* less the umask */

static int cannot_write(const char *path, int code, struct error *err)
{
	return error_set(err, code, "cannot write %s: %s", path, strerror(-code));
}

/* A file without a name in the directory of `path`; vanishes with its descriptor. */
static int open_nameless(const char *path)
{
	own(own_free) char *copy = strdup(path);
	int fd;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

/* Opens what the path stands for; sets ret_final_path when it has yet to get its name. */
static int open_path(const char *path, bool in_place, char **ret_final_path)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;
	int fd;

	if (exists && S_ISDIR(status.st_mode))
		return -EISDIR;
	if (exists && access(path, W_OK) < 0)
		return -errno;
	if (!in_place && (!exists || S_ISREG(status.st_mode))) {
		/* Through links to the file itself: replacing a link is not what was asked for. */
		char *final_path = exists ? realpath(path, NULL) : strdup(path);

		if (!final_path)
			return -errno;
		fd = open_nameless(final_path);
		if (fd >= 0) {
			*ret_final_path = final_path;
			return fd;
		}
		free(final_path);
		/* Not every file system has files without names. */
		if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -ENOENT)
			return fd;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

static int choose_writer(const struct plan_output *wanted, struct output *output, struct error *err)
{
	if (wanted->format && strcmp(wanted->format, "recording") == 0)
		return 0;
	if (!wanted->format && wanted->path && strlen(wanted->path) > strlen(".stacktally") &&
	    strcmp(wanted->path + strlen(wanted->path) - strlen(".stacktally"), ".stacktally") == 0)
		return 0;
	if (wanted->format)
		output->writer = writer_by_name(wanted->format);
	else
		output->writer = wanted->path ? writer_by_path(wanted->path) : writers[0];
	if (output->writer)
		return 0;
	return wanted->format
		       ? error_usage(err, "unknown format '%s'", wanted->format)
		       : error_usage(err,
				     "no format goes by the extension of '%s': say which with "
				     "--format",
				     wanted->path);
}

static int open_output(const struct plan_output *wanted, bool in_place, bool diff,
		       struct output *output, struct error *err)
{
	bool to_stdout = !wanted->path;
	int fd, r = choose_writer(wanted, output, err);
	bool binary, whole;

	if (r < 0)
		return r;
	binary = !output->writer || output->writer->binary;
	whole = !output->writer || output->writer->whole;
	output->path = to_stdout ? "standard output" : wanted->path;
	if (whole && in_place)
		return error_usage(err, "%s: this format holds one report, not one an interval",
				   output->path);
	if (diff && (!output->writer || !output->writer->diffs))
		return error_usage(err, "%s: this format shows no differences", output->path);
	if (binary && to_stdout && isatty(STDOUT_FILENO))
		return error_usage(err, "this format is not for a terminal: use -o FILE");
	fd = to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
		       : open_path(wanted->path, in_place, &output->final_path);
	if (fd < 0)
		return cannot_write(output->path, to_stdout ? -errno : fd, err);
	output->stream = fdopen(fd, "w");
	output->buffer = malloc(BUFFER_SIZE);
	if (!output->stream || !output->buffer) {
		if (!output->stream)
			close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	setvbuf(output->stream, output->buffer, _IOFBF, BUFFER_SIZE);
	return 0;
}

int outputs_open(const struct plan *plan, bool in_place, struct outputs *ret_outputs,
		 struct error *err)
{
	struct outputs outputs = { .list = calloc(plan->n_outputs, sizeof(*outputs.list)) };
	int r = 0;

	if (!outputs.list)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; r == 0 && i < plan->n_outputs; i++) {
		outputs.n++;
		r = open_output(&plan->outputs[i], in_place, plan->diff != NULL, &outputs.list[i],
				err);
	}
	if (r < 0) {
		outputs_close(&outputs);
		return r;
	}
	*ret_outputs = outputs;
	return 0;
}

int output_flush(struct output *output, struct error *err)
{
	if (fflush(output->stream) == 0 && !ferror(output->stream))
		return 0;
	return cannot_write(output->path, errno ? -errno : -EIO, err);
}

/* Gives the nameless file its name, in the place of what may bear it now. */
static int give_name(struct output *output)
{
	own(own_free) char *temporary = NULL;
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(output->stream));
	if (linkat(AT_FDCWD, self, AT_FDCWD, output->final_path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (asprintf(&temporary, "%s.%d.tmp", output->final_path, getpid()) < 0)
		return -ENOMEM;
	if (linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	if (rename(temporary, output->final_path) < 0) {
		int code = -errno;

		unlink(temporary);
		return code;
	}
	return 0;
}

int output_finish(struct output *output, struct error *err)
{
	int r = output_flush(output, err);

	if (r < 0)
		return r;
	r = output->final_path ? give_name(output) : 0;
	if (fclose(output->stream) != 0 && r == 0)
		r = -errno;
	output->stream = NULL;
	return r < 0 ? cannot_write(output->path, r, err) : 0;
}

void outputs_close(struct outputs *outputs)
{
	for (uint32_t i = 0; i < outputs->n; i++) {
		if (outputs->list[i].stream)
			fclose(outputs->list[i].stream);
		free(outputs->list[i].buffer);
		free(outputs->list[i].final_path);
	}
	free(outputs->list);
	*outputs = (struct outputs){ 0 };
}
