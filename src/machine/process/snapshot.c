// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "base/own.h"
#include "files/maps.h"
#include "process/moved_text.h"

#define MAPS_NAME_SIZE (4096 + 16) /* PATH_MAX and " (deleted)" */

/* Bytes between what is loaded of a file and other mappings of it. */
#define NEAR (4u << 20)

/* A snapshot while it is read. */
struct reading {
	const struct snapshot_context *context;
	struct process_view view;
	struct snapshot snapshot;
	uint32_t capacity;
	uint64_t only; /* read the mapping at this address, which need not be executable; 0: all */
	pid_t tgid;
	/* The last line of a file, and the first mapping behind it. */
	struct maps_line file;
	char file_name[MAPS_NAME_SIZE];
	uint32_t behind;
};

static bool starts_with(const char *name, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Memory with an inode that the kernel names itself: runtimes put generated code there. */
static bool is_memory_file(const char *name, size_t size)
{
	return starts_with(name, size, "/memfd:") || starts_with(name, size, "/dev/zero") ||
	       starts_with(name, size, "/SYSV") || starts_with(name, size, "/anon_hugepage");
}

static enum mapping_kind kind_of(const char *name, size_t size)
{
	if (size == 0 || starts_with(name, size, "//") || starts_with(name, size, "[anon"))
		return MAPPING_ANONYMOUS;
	if (size == 6 && memcmp(name, "[vdso]", 6) == 0)
		return MAPPING_VDSO;
	return name[0] == '[' ? MAPPING_SPECIAL : MAPPING_FILE;
}

static int identify_file(const struct snapshot_context *context, struct kernel_mapping *mapped,
			 pid_t tgid, struct process_view *view, struct mapping *mapping)
{
	struct file_reference *reference = &mapped->reference;
	size_t kept = maps_name_undeleted(mapped->name, mapped->name_size);
	int r;

	reference->path = mapping->name;
	reference->undeleted = kept == mapped->name_size
				       ? mapping->name
				       : pool_string_n(context->pool, mapped->name, kept);
	if (!reference->undeleted)
		return -ENOMEM;
	r = files_identify(context->files, reference, tgid, view, &mapping->file);
	if (r < 0)
		return r;
	if (is_memory_file(mapped->name, mapped->name_size) &&
	    !files_is_elf(context->files, mapping->file)) {
		mapping->kind = MAPPING_ANONYMOUS;
		mapping->file = 0;
	}
	return 0;
}

int snapshot_mapping(const struct snapshot_context *context, struct kernel_mapping *mapped,
		     pid_t tgid, struct process_view *view, struct mapping *ret_mapping)
{
	struct mapping mapping = {
		.start = mapped->reference.start,
		.end = mapped->reference.end,
		.offset = mapped->offset,
		.kind = kind_of(mapped->name, mapped->name_size),
		.name = "//anon", /* as mmap records have it, where maps has no name */
	};
	int r;

	if (mapped->name_size) {
		mapping.name = pool_string_n(context->pool, mapped->name, mapped->name_size);
		if (!mapping.name)
			return -ENOMEM;
	}
	if (mapping.kind == MAPPING_FILE) {
		r = identify_file(context, mapped, tgid, view, &mapping);
		if (r < 0)
			return r;
	}
	*ret_mapping = mapping;
	return 0;
}

/* The mapping of a line, whose name is copied to `name`. 0 or -ENOMEM. */
static int mapping_of(struct reading *reading, const struct maps_line *line,
		      char name[MAPS_NAME_SIZE], struct mapping *ret_mapping)
{
	struct kernel_mapping mapped = {
		.reference = {
			.start = line->start,
			.end = line->end,
			.device = line->device,
			.inode = line->inode,
			.root = reading->snapshot.root,
		},
		.offset = line->offset,
		.name = name,
		.name_size = maps_name(line, name, MAPS_NAME_SIZE),
	};

	return snapshot_mapping(reading->context, &mapped, 0, &reading->view, ret_mapping);
}

/* Finds what the file of the line, which is mapped right beside it, has to do with a mapping. */
static int relate(struct reading *reading, const struct maps_line *line, struct mapping *mapping)
{
	char name[MAPS_NAME_SIZE];
	struct mapping near;
	int r = mapping_of(reading, line, name, &near);

	if (r == 0)
		moved_text_find(reading->context, reading->tgid, &near, mapping);
	return r;
}

static bool is_near(uint64_t end, uint64_t start)
{
	return start >= end && start - end < NEAR;
}

/*
 * Anonymous code behind or before a line of a file, whether or not that is code, may be the
 * file's.
 */
static int relate_to_files(struct reading *reading, const struct maps_line *line)
{
	struct snapshot *snapshot = &reading->snapshot;
	bool is_file = line->name_size && line->name[0] == '/' &&
		       !is_memory_file(line->name, line->name_size);
	int r = 0;

	if (!is_file && snapshot->n > reading->behind && reading->file.end &&
	    snapshot->mappings[snapshot->n - 1].start == line->start &&
	    is_near(reading->file.end, line->start))
		return relate(reading, &reading->file, &snapshot->mappings[snapshot->n - 1]);
	if (!is_file)
		return 0;
	for (uint32_t i = reading->behind; i < snapshot->n && r == 0; i++) {
		struct mapping *mapping = &snapshot->mappings[i];

		if (mapping->kind == MAPPING_ANONYMOUS && is_near(mapping->end, line->start))
			r = relate(reading, line, mapping);
	}
	reading->file = *line;
	reading->file.name_size = maps_name(line, reading->file_name, sizeof(reading->file_name));
	reading->file.name = reading->file_name;
	reading->behind = snapshot->n;
	return r;
}

static int add_line(struct reading *reading, const struct maps_line *line)
{
	struct snapshot *snapshot = &reading->snapshot;
	char name[MAPS_NAME_SIZE];
	int r;

	if (snapshot->n == MAX_MAPPINGS) {
		snapshot->cut++;
		return 0;
	}
	if (snapshot->n && line->start < snapshot->mappings[snapshot->n - 1].end)
		return 0; /* the mappings changed while they were read: the first one stands */
	r = grow(&snapshot->mappings, &reading->capacity, snapshot->n + 1);
	if (r < 0)
		return r;
	r = mapping_of(reading, line, name, &snapshot->mappings[snapshot->n]);
	if (r < 0)
		return r;
	snapshot->n++;
	return 0;
}

static bool is_wanted(const struct reading *reading, const struct maps_line *line)
{
	if (reading->only)
		return line->start <= reading->only && reading->only < line->end;
	return line->access & MAPS_EXECUTE;
}

/* Adds the complete lines of the buffer; returns their size in bytes or a negative errno. */
static ssize_t add_lines(struct reading *reading, size_t size)
{
	const char *from = reading->context->buffer, *at = from;
	const char *last = memrchr(from, '\n', size);
	struct maps_line line;
	int r;

	if (!last)
		return size == SNAPSHOT_BUFFER ? (ssize_t)size
					       : 0; /* too long for a line: skip it */
	while (maps_next(&at, last + 1, &line)) {
		r = is_wanted(reading, &line) ? add_line(reading, &line) : 0;
		if (r == 0 && !reading->only)
			r = relate_to_files(reading, &line);
		if (r < 0)
			return r;
	}
	return last + 1 - from;
}

static int read_maps(struct reading *reading)
{
	own(own_fd) int fd = openat(reading->view.dir, "maps", O_RDONLY | O_CLOEXEC);
	char *buffer = reading->context->buffer;
	size_t filled = 0, total = 0;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	for (;;) {
		ssize_t n = read(fd, buffer + filled, SNAPSHOT_BUFFER - filled);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		filled += (size_t)n;
		total += (size_t)n;
		n = add_lines(reading, filled);
		if (n < 0)
			return (int)n;
		filled -= (size_t)n;
		memmove(buffer, buffer + n, filled);
	}
	return total ? 0 : -ESRCH;
}

static int read_process(struct reading *reading, pid_t tgid)
{
	struct snapshot *snapshot = &reading->snapshot;
	int r = process_view_open(tgid, &reading->view);

	if (r < 0)
		return r;
	reading->tgid = tgid;
	snapshot->root = roots_intern(reading->context->roots, &reading->view);
	r = process_view_identity(&reading->view, &snapshot->identity);
	return r < 0 ? r : read_maps(reading);
}

int snapshot_read(const struct snapshot_context *context, pid_t tgid, struct snapshot *ret_snapshot)
{
	struct reading reading = { .context = context, .view = PROCESS_VIEW_NONE };
	int r = read_process(&reading, tgid);

	process_view_close(&reading.view);
	if (r < 0) {
		free(reading.snapshot.mappings);
		return r;
	}
	*ret_snapshot = reading.snapshot;
	return 0;
}

int snapshot_file(const struct snapshot_context *context, int fd, uint32_t *ret_file)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	struct reading reading = { .context = context, .view = PROCESS_VIEW_NONE };
	const struct mapping *mapping;
	int r;

	if (at == MAP_FAILED)
		return -errno;
	reading.only = (uint64_t)(uintptr_t)at;
	r = read_process(&reading, getpid());
	process_view_close(&reading.view);
	munmap(at, page);
	mapping = reading.snapshot.mappings;
	if (r == 0 && (reading.snapshot.n != 1 || mapping->kind != MAPPING_FILE))
		r = -ENOENT;
	if (r == 0)
		*ret_file = mapping->file;
	free(reading.snapshot.mappings);
	return r;
}
