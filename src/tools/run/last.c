// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/last.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "recording/recording.h"
#include "run/imported.h"
#include "run/kept.h"
#include "run/merged.h"

/* The directory that something was kept in last, of those that are asked for. */
struct newest {
	uint64_t ended_ns; /* 0: there is none */
	uint32_t n;	   /* directories with something in them */
	char path[300];
};

static bool is_asked_for(const char *directory, const char *name)
{
	const char *dot = strrchr(directory, '.');

	return !name || strcmp(directory, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

static void look_at(int root, const char *root_path, const char *name, struct newest *newest)
{
	own(own_fd) int directory =
		openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own(kept_files_clear) struct kept_files files = { 0 };

	if (directory < 0 || kept_files_read(directory, &files) < 0 || files.n == 0)
		return;
	newest->n++;
	if (files.list[files.n - 1].ended_ns <= newest->ended_ns)
		return;
	newest->ended_ns = files.list[files.n - 1].ended_ns;
	snprintf(newest->path, sizeof(newest->path), "%s/%s", root_path, name);
}

/* 0, or the errno that kept us from looking. */
static int look_in(const char *root_path, const char *name, struct newest *newest)
{
	own(own_directory) DIR *entries = opendir(root_path);
	const struct dirent *entry;

	if (!entries)
		return errno;
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.' && is_asked_for(entry->d_name, name))
			look_at(dirfd(entries), root_path, entry->d_name, newest);
	return 0;
}

static int find(const char *name, struct newest *newest, struct error *err)
{
	int own_errno = look_in(KEPT_ROOT, name, newest);
	int service_errno = look_in(KEPT_SERVICE, name, newest);

	if (newest->n > 0)
		return 0;
	if (own_errno == EACCES || service_errno == EACCES)
		return error_set(err, -EACCES,
				 "cannot read what was kept in %s: only root and the user who "
				 "measures can",
				 own_errno == EACCES ? KEPT_ROOT : KEPT_SERVICE);
	if (name)
		return error_set(err, -ENOENT, "%s has kept nothing: see %s", name, KEPT_ROOT);
	return error_set(err, -ENOENT,
			 "nothing is kept, and what a measurement kept goes when it is stopped: "
			 "profile --keep 10m keeps the last ten minutes, from now on");
}

static int add_file(int directory, uint64_t ended_ns, struct merged *merged, struct error *err)
{
	own(imported_clear) struct imported imported = { 0 };
	char name[KEPT_NAME_SIZE];
	own(own_fd) int fd = openat(directory, kept_file_name(ended_ns, name),
				    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0; /* it has just become too old */
	if (fd < 0)
		return error_set(err, -errno, "cannot open %s: %s", name, strerror(errno));
	r = imported_load(&(struct imported_file){ fd, name, NULL }, &imported, err);
	if (r < 0)
		return r;
	r = merged_add(merged, &(struct measurement){
				       &imported.recording->meta, imported.recording->tally,
				       imported.recording->names, &imported.recording->timeline });
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int merge(const char *path, uint64_t since_ns, struct merged *merged, struct error *err)
{
	own(own_fd) int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own(kept_files_clear) struct kept_files files = { 0 };
	int r = directory < 0 ? -errno : kept_files_read(directory, &files);

	if (r < 0)
		return error_set(err, r, "cannot read %s: %s", path, strerror(-r));
	for (uint32_t i = 0; r == 0 && i < files.n; i++)
		if (files.list[i].ended_ns > since_ns)
			r = add_file(directory, files.list[i].ended_ns, merged, err);
	return r;
}

static int save(const struct merged *merged, struct last *last, struct error *err)
{
	own(own_fd) int fd = memfd_create("last", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	int r;

	if (!out)
		return error_set(err, -errno, "cannot make a recording: %s", strerror(errno));
	r = recording_save(out, &merged->meta, merged->tally, merged->names, &merged->timeline,
			   err);
	if (fclose(out) != 0 && r == 0)
		r = error_set(err, -errno, "cannot make a recording: %s", strerror(errno));
	if (r == 0)
		last->fd = take_fd(&fd);
	return r;
}

int last_load(uint64_t ns, const char *name, struct last *ret_last, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), since = now > ns ? now - ns : 0;
	own(merged_clear) struct merged merged = { 0 };
	struct newest newest = { 0 };
	struct last last = { .fd = -1 };
	int r = find(name, &newest, err);

	if (r == 0)
		r = merge(newest.path, since, &merged, err);
	if (r < 0)
		return r;
	if (!merged.tally)
		return error_set(err, -ENOENT,
				 "nothing was kept in the last %llu s: %s ended %llu s ago",
				 (unsigned long long)(ns / NS_PER_SECOND), newest.path,
				 (unsigned long long)((now - newest.ended_ns) / NS_PER_SECOND));
	r = save(&merged, &last, err);
	if (r < 0)
		return r;
	last.of_events = merged.meta.command && strcmp(merged.meta.command, "stackcount") == 0;
	last.begin_ns = since > merged.meta.start_time_ns ? since - merged.meta.start_time_ns : 0;
	last.ago_ns = now > newest.ended_ns ? now - newest.ended_ns : 0;
	last.others = newest.n - 1;
	snprintf(last.from, sizeof(last.from), "%s", newest.path);
	*ret_last = last;
	return 0;
}
