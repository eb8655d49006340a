// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"
#include "process/maps.h"

struct reading {
	const struct capture *capture;
	struct process_view view;
	struct snapshot snapshot;
	uint32_t room;
};

static bool starts_with(const char *name, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Memory that has an inode but no path of its own: generated code lives in such. */
static bool is_nameless_memory(const char *name)
{
	return strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/dev/zero", 9) == 0 ||
	       strncmp(name, "/SYSV", 5) == 0 || strncmp(name, "/anon_hugepage", 14) == 0;
}

static enum mapping_kind kind_of(const char *name, size_t size)
{
	if (size == 0 || starts_with(name, size, "//") || starts_with(name, size, "[anon"))
		return MAPPING_ANONYMOUS;
	if (size == 6 && memcmp(name, "[vdso]", 6) == 0)
		return MAPPING_VDSO;
	return name[0] == '[' ? MAPPING_SPECIAL : MAPPING_FILE;
}

int capture_mapping(const struct capture *capture, struct file_sighting *sighting, uint64_t offset,
		    const char *name, size_t name_size, pid_t tgid, struct process_view *view,
		    struct mapping *ret_mapping)
{
	struct mapping mapping = {
		.start = sighting->start,
		.end = sighting->end,
		.offset = offset,
		.kind = kind_of(name, name_size),
	};
	size_t kept = maps_name_undeleted(name, name_size);
	int r;

	if (name_size == 0)
		mapping.name = "//anon"; /* as the kernel's records call it */
	else
		mapping.name = pool_string_n(capture->pool, name, name_size);
	if (!mapping.name)
		return -ENOMEM;
	if (mapping.kind == MAPPING_FILE) {
		sighting->path = mapping.name;
		sighting->undeleted =
			kept == name_size ? mapping.name : pool_string_n(capture->pool, name, kept);
		if (!sighting->undeleted)
			return -ENOMEM;
		r = files_identify(capture->files, sighting, tgid, view, &mapping.file);
		if (r < 0)
			return r;
		if (is_nameless_memory(mapping.name) &&
		    !files_is_elf(capture->files, mapping.file)) {
			mapping.kind = MAPPING_ANONYMOUS;
			mapping.file = 0;
		}
	}
	*ret_mapping = mapping;
	return 0;
}

static int add_line(struct reading *reading, const struct maps_line *line)
{
	struct snapshot *snapshot = &reading->snapshot;
	struct file_sighting sighting = {
		.start = line->start,
		.end = line->end,
		.device = line->device,
		.inode = line->inode,
		.root = snapshot->root,
	};
	char name[4096 + 16]; /* PATH_MAX and " (deleted)" */
	size_t size = maps_name(line, name, sizeof(name));
	int r;

	if (snapshot->n == MAX_MAPPINGS) {
		snapshot->cut++;
		return 0;
	}
	if (snapshot->n && line->start < snapshot->mappings[snapshot->n - 1].end)
		return 0; /* it changed while we read: the first one stands */
	if (snapshot->n == reading->room) {
		uint32_t room = reading->room ? reading->room * 2 : 16;
		struct mapping *grown = reallocarray(snapshot->mappings, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		snapshot->mappings = grown;
		reading->room = room;
	}
	r = capture_mapping(reading->capture, &sighting, line->offset, name, size, 0,
			    &reading->view, &snapshot->mappings[snapshot->n]);
	if (r == 0)
		snapshot->n++;
	return r;
}

/* Takes the complete lines of the buffer and returns how many bytes that were. */
static ssize_t take_lines(struct reading *reading, size_t size)
{
	const char *from = reading->capture->buffer, *at = from;
	const char *last = memrchr(from, '\n', size);
	struct maps_line line;
	int r;

	if (!last)
		return size == CAPTURE_BUFFER ? (ssize_t)size : 0; /* no line is that long */
	while (maps_next(&at, last + 1, &line)) {
		if (!(line.access & MAPS_EXECUTE))
			continue;
		r = add_line(reading, &line);
		if (r < 0)
			return r;
	}
	return last + 1 - from;
}

static int read_maps(struct reading *reading)
{
	own(own_fd) int fd = openat(reading->view.dir, "maps", O_RDONLY | O_CLOEXEC);
	char *buffer = reading->capture->buffer;
	size_t filled = 0, total = 0;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	for (;;) {
		ssize_t n = read(fd, buffer + filled, CAPTURE_BUFFER - filled);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		filled += (size_t)n;
		total += (size_t)n;
		n = take_lines(reading, filled);
		if (n < 0)
			return (int)n;
		filled -= (size_t)n;
		memmove(buffer, buffer + n, filled);
	}
	return total ? 0 : -ESRCH;
}

int snapshot_read(const struct capture *capture, pid_t tgid, struct snapshot *ret_snapshot)
{
	struct reading reading = { .capture = capture, .view = PROCESS_VIEW_NONE };
	int r = view_open(tgid, &reading.view);

	if (r < 0)
		return r;
	reading.snapshot.root = roots_learn(capture->roots, &reading.view);
	r = view_identity(&reading.view, &reading.snapshot.identity);
	if (r == 0)
		r = read_maps(&reading);
	view_close(&reading.view);
	if (r < 0) {
		free(reading.snapshot.mappings);
		return r;
	}
	*ret_snapshot = reading.snapshot;
	return 0;
}
