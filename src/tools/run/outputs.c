// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "run/file_owner.h"
#include "run/waiting_stream.h"

#define BUFFER_SIZE (64u << 10)
#define MAX_TRIES   100

/* Columns of a terminal: wider tables are hard to read. */
#define WIDEST 160
/* Home, and clear what is behind: the table of the interval before. */
#define REDRAW "\033[H\033[J"

static const char *name_of(const struct output *output)
{
	return output->path ? output->path : "standard output";
}

static int cannot_write(const char *name, int code, struct error *err)
{
	return error_set(err, code, "cannot write %s: %s", name, strerror(-code));
}

/* A reader of standard output that closes it, as `head` does, has what it wanted: no message. */
static int cannot_write_to(const struct output *output, int code, struct error *err)
{
	return !output->path && code == -EPIPE ? error_set(err, code, "%s", "")
					       : cannot_write(name_of(output), code, err);
}

/* As perf's files: what runs on a machine, and addresses of its kernel, are for who measured it. */
#define FILE_MODE 0600

/* Opens a file without a name in the directory of `path`. It vanishes with its descriptor. */
static int open_nameless(const char *path)
{
	own(own_free) char *copy = strdup(path);
	int fd;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

/* Opens a nameless file, or a temporary one where the file system has no O_TMPFILE. */
static int open_unnamed(struct output *output)
{
	int fd = open_nameless(output->final_path);

	if (fd != -EOPNOTSUPP && fd != -EISDIR)
		return fd;
	if (asprintf(&output->temporary, "%s.%d.tmp", output->final_path, getpid()) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(take_ptr(output->temporary));
	return fd;
}

/* A file that is there keeps its owner. */
static int open_in_place(const char *path)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	int fd = open(path, flags | O_EXCL, FILE_MODE);

	if (fd >= 0)
		file_owner_give(fd);
	else
		fd = open(path, flags | O_TRUNC, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens the file at `path` itself if it is written in place or is no regular file; else one that
 * gets the name when it is complete.
 */
static int open_path(const char *path, bool in_place, struct output *output)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;
	int fd;

	if (exists && S_ISDIR(status.st_mode))
		return -EISDIR;
	if (exists && access(path, W_OK) < 0)
		return -errno;
	if (!in_place && (!exists || S_ISREG(status.st_mode))) {
		/* Follow symbolic links, or the rename would replace the link. */
		output->final_path = exists ? realpath(path, NULL) : strdup(path);
		fd = output->final_path ? open_unnamed(output) : -errno;
		if (fd >= 0)
			file_owner_give(fd);
		return fd;
	}
	if (exists && S_ISFIFO(status.st_mode))
		return waiting_stream_open_fifo(path, O_WRONLY | O_CLOEXEC);
	return open_in_place(path);
}

static int unknown_extension(const char *path, struct error *err)
{
	char known[400];
	size_t at = 0;

	for (const struct writer *const *writer = writers; *writer; writer++)
		for (const char *const *extension = (*writer)->extensions; *extension; extension++)
			if (at < sizeof(known))
				at += (size_t)snprintf(known + at, sizeof(known) - at, " %s",
						       *extension);
	return error_usage(err, "no format has the extension of '%s': use one of%s, or --format",
			   path, known);
}

static int unknown_format(const char *name, struct error *err)
{
	char known[200];
	size_t at = 0;

	for (const struct writer *const *writer = writers; *writer; writer++)
		if (at < sizeof(known))
			at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s",
					       writer == writers ? "" : ", ", (*writer)->name);
	return error_usage(err, "unknown format '%s': use one of %s", name, known);
}

static int choose_writer(const struct plan_output *wanted, struct output *output, struct error *err)
{
	if (wanted->format)
		output->writer = writer_by_name(wanted->format);
	else
		output->writer = wanted->path ? writer_by_path(wanted->path) : writers[0];
	if (output->writer)
		return 0;
	return wanted->format ? unknown_format(wanted->format, err)
			      : unknown_extension(wanted->path, err);
}

static bool is_numbered(const char *path)
{
	return path && (strstr(path, "%n") || strstr(path, "%t"));
}

/* The path with %n and %t replaced, allocated; NULL when out of memory. */
static char *expand(const char *path, uint32_t number, time_t since)
{
	char when[32], *expanded = NULL;
	struct tm local;
	size_t size;
	FILE *out = open_memstream(&expanded, &size);

	if (!out)
		return NULL;
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&since, &local));
	for (; *path; path++) {
		if (path[0] == '%' && path[1] == 'n')
			fprintf(out, "%" PRIu32, number);
		else if (path[0] == '%' && path[1] == 't')
			fputs(when, out);
		else
			fputc(*path, out);
		if (path[0] == '%' && (path[1] == 'n' || path[1] == 't'))
			path++;
	}
	if (fclose(out) == 0)
		return expanded;
	free(expanded);
	return NULL;
}

static int check_output(const struct plan_output *wanted, const struct plan *plan, bool intervals,
			const struct output *output, struct error *err)
{
	const struct writer *writer = output->writer;

	if (writer->whole && intervals && !output->each)
		return error_usage(err,
				   "%s: a file of this format holds one report: put %%n or %%t in "
				   "the name for a file per interval",
				   name_of(output));
	if (intervals && output->each && plan->interval < 1 && !strstr(wanted->path, "%n"))
		return error_usage(err, "%s: intervals shorter than a second need %%n in the name",
				   output->path);
	if (plan->diff && !writer->diffs)
		return error_usage(err, "%s: this format cannot show differences", name_of(output));
	if (writer->binary && !output->path && isatty(STDOUT_FILENO))
		return error_usage(err, "this format is binary, not for a terminal: use -o FILE");
	return 0;
}

static int open_stream(struct output *output, bool in_place, struct error *err)
{
	const char *path = output->each ? output->expanded : output->path;
	int fd =
		path ? open_path(path, in_place, output) : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return cannot_write(path ? path : name_of(output), path ? fd : -errno, err);
	output->stream = waiting_stream_is_needed(fd)
				 ? waiting_stream_open(fd, path ? path : name_of(output))
				 : fdopen(fd, "w");
	if (!output->buffer)
		output->buffer = malloc(BUFFER_SIZE);
	if (!output->stream || !output->buffer) {
		if (!output->stream)
			close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	setvbuf(output->stream, output->buffer, _IOFBF, BUFFER_SIZE);
	return 0;
}

static int open_next(struct output *output, struct error *err)
{
	free(output->expanded);
	output->expanded = expand(output->path, output->number + 1, output->since);
	if (!output->expanded)
		return error_set(err, -ENOMEM, "out of memory");
	return open_stream(output, false, err);
}

static bool has_cursor(void)
{
	const char *type = getenv("TERM");

	return type && *type && strcmp(type, "dumb") != 0;
}

struct report_screen output_screen(const struct output *output)
{
	const char *no_color = getenv("NO_COLOR");
	struct report_screen screen = { 0 };
	struct winsize size = { 0 };

	if (output->path || !isatty(STDOUT_FILENO))
		return screen;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	screen.width = size.ws_col < WIDEST ? size.ws_col : WIDEST;
	screen.height = output->redraws ? size.ws_row : 0;
	screen.colours = has_cursor() && !(no_color && *no_color);
	return screen;
}

static int open_output(const struct plan_output *wanted, const struct plan *plan, bool intervals,
		       struct output *output, struct error *err)
{
	int r = choose_writer(wanted, output, err);

	if (r < 0)
		return r;
	output->path = wanted->path;
	output->redraws = intervals && !wanted->path && output->writer == &top_writer &&
			  has_cursor() && isatty(STDOUT_FILENO);
	output->each = is_numbered(wanted->path);
	r = check_output(wanted, plan, intervals, output, err);
	if (r < 0)
		return r;
	return output->each ? open_next(output, err) : open_stream(output, intervals, err);
}

int outputs_open(const struct plan *plan, bool intervals, time_t since, struct outputs *ret_outputs,
		 struct error *err)
{
	own(outputs_close) struct outputs outputs = { 0 };
	int r;

	outputs.list = calloc(plan->n_outputs, sizeof(*outputs.list));
	if (!outputs.list)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < plan->n_outputs; i++) {
		outputs.n++;
		outputs.list[i].since = since ? since : time(NULL);
		r = open_output(&plan->outputs[i], plan, intervals, &outputs.list[i], err);
		if (r < 0)
			return r;
	}
	*ret_outputs = outputs;
	outputs = (struct outputs){ 0 };
	return 0;
}

int output_begin(struct output *output, struct error *err)
{
	int r = output->stream ? 0 : open_next(output, err);

	if (r < 0)
		return r;
	output->number++;
	if (output->redraws)
		fputs(REDRAW, output->stream);
	return 0;
}

static int flush(struct output *output, struct error *err)
{
	if (fflush(output->stream) == 0 && !ferror(output->stream))
		return 0;
	return cannot_write_to(output, errno ? -errno : -EIO, err);
}

static int rename_temporary(struct output *output)
{
	if (rename(output->temporary, output->final_path) < 0)
		return -errno;
	free(take_ptr(output->temporary));
	return 0;
}

static void remove_temporary(struct output *output)
{
	if (output->temporary)
		unlink(output->temporary);
	free(take_ptr(output->temporary));
}

/* Whether the file was made by a run of the same user, and not put there to be taken for one. */
static bool is_of_a_run(const char *path)
{
	struct stat is;

	return lstat(path, &is) == 0 && S_ISREG(is.st_mode) && is.st_uid == file_owner();
}

/*
 * Puts the open file `self` in the place of another, which takes two steps. In between it has a
 * name that is the same for all runs. If we are killed then, the next run takes the second step for
 * us; so does one that runs at the same time.
 */
static int replace(const char *path, const char *self)
{
	own(own_free) char *between = NULL;

	if (asprintf(&between, "%s.stacktally-new", path) < 0) {
		between = NULL;
		return -ENOMEM;
	}
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		bool linked = linkat(AT_FDCWD, self, AT_FDCWD, between, AT_SYMLINK_FOLLOW) == 0;

		if (!linked && errno != EEXIST)
			return -errno;
		if (!linked && !is_of_a_run(between)) {
			if (unlink(between) < 0 && errno != ENOENT)
				return -errno;
			continue;
		}
		/* ENOENT: another run took the step. */
		if (rename(between, path) < 0 && errno != ENOENT) {
			int code = -errno;

			unlink(between);
			return code;
		}
		if (linked)
			return 0;
	}
	return -EBUSY;
}

/* Gives the complete file its final name, replacing a file that has it now. */
static int give_name(struct output *output)
{
	char self[64];

	if (output->temporary)
		return rename_temporary(output);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(output->stream));
	if (linkat(AT_FDCWD, self, AT_FDCWD, output->final_path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	return replace(output->final_path, self);
}

static int complete(struct output *output, struct error *err)
{
	int r = flush(output, err);

	if (r < 0)
		return r;
	r = output->final_path ? give_name(output) : 0;
	if (fclose(output->stream) != 0 && r == 0)
		r = -errno;
	output->stream = NULL;
	free(take_ptr(output->final_path));
	output->since = time(NULL);
	return r < 0 ? cannot_write_to(output, r, err) : 0;
}

int output_flush(struct output *output, struct error *err)
{
	return output->each ? complete(output, err) : flush(output, err);
}

int output_finish(struct output *output, struct error *err)
{
	return output->each ? 0 : complete(output, err);
}

void outputs_close(struct outputs *outputs)
{
	for (uint32_t i = 0; i < outputs->n; i++) {
		if (outputs->list[i].stream)
			fclose(outputs->list[i].stream);
		remove_temporary(&outputs->list[i]);
		free(outputs->list[i].buffer);
		free(outputs->list[i].final_path);
		free(outputs->list[i].expanded);
	}
	free(outputs->list);
	*outputs = (struct outputs){ 0 };
}
