/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/build_id.h"
#include "process/path.h"

#define MAX_BUILD_ID   64
#define MAX_DEBUG_LINK 4096
#define MAX_CRC_BYTES  (4ull << 30)

struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

/* True if the build-ids rule out that the files belong together; *ret_equal: they are the same. */
static bool build_ids_differ(const struct elf_file *elf, const struct elf_file *other,
			     bool *ret_equal)
{
	uint8_t ours[MAX_BUILD_ID], theirs[MAX_BUILD_ID];
	uint32_t n = build_id_of(elf, ours, sizeof(ours));
	uint32_t m = build_id_of(other, theirs, sizeof(theirs));

	*ret_equal = n && n == m && memcmp(ours, theirs, n) == 0;
	return n && !*ret_equal;
}

static int crc_of(int fd, uint32_t *ret_crc)
{
	own(own_free) uint8_t *buffer = malloc(256u << 10);
	uLong crc = crc32(0, NULL, 0);
	uint64_t done = 0;

	if (!buffer)
		return -ENOMEM;
	while (done < MAX_CRC_BYTES) {
		ssize_t n = pread(fd, buffer, 256u << 10, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0) {
			*ret_crc = (uint32_t)crc;
			return 0;
		}
		crc = crc32(crc, buffer, (uInt)n);
		done += (uint64_t)n;
	}
	return -EFBIG;
}

/* Opens `path` if it is the debug file of `elf`. `link` NULL: only by build-id. */
static int open_checked(const struct elf_file *elf, const char *path, const struct debug_link *link)
{
	own(own_elf_file_close) struct elf_file *other = NULL;
	own(own_fd) int path_fd = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat status;
	bool equal;
	uint32_t crc = 0;
	int r;

	if (path_fd < 0)
		return -errno;
	fd = path_open_regular(take_fd(&path_fd), &status);
	if (fd < 0)
		return fd;
	r = elf_file_open(fd, &other);
	if (r < 0)
		return r;
	if (other->machine != elf->machine || other->is_64 != elf->is_64)
		return -ESTALE;
	if (build_ids_differ(elf, other, &equal))
		return -ESTALE;
	if (!equal) {
		if (!link)
			return -ESTALE;
		r = crc_of(fd, &crc);
		if (r < 0)
			return r;
		if (crc != link->crc)
			return -ESTALE;
	}
	return take_fd(&fd);
}

static bool read_debug_link(const struct elf_file *elf, struct debug_link *ret_link)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debuglink");
	own(own_free) void *bytes = NULL;
	size_t length, crc_at;

	if (!section || elf_file_load(elf, section, MAX_DEBUG_LINK, &bytes))
		return false;
	length = strnlen(bytes, section->size);
	crc_at = (length + 4) / 4 * 4; /* behind the NUL, aligned to 4 */
	if (!length || length > NAME_MAX || crc_at > section->size ||
	    section->size - crc_at < sizeof(ret_link->crc))
		return false;
	/* A file name, not a path. */
	if (memchr(bytes, '/', length))
		return false;
	memcpy(ret_link->name, bytes, length + 1);
	memcpy(&ret_link->crc, (char *)bytes + crc_at, sizeof(ret_link->crc));
	return true;
}

static bool join(char *path, size_t size, const char *root, const char *directory, size_t length,
		 const char *middle, const char *name)
{
	int n = snprintf(path, size, "%s%.*s%s/%s", root, (int)length, directory, middle, name);

	return n > 0 && (size_t)n < size;
}

static int open_by_link(const struct elf_file *elf, const char *path, const char *root)
{
	struct debug_link link;
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t length;
	char place[PATH_MAX];
	int fd = -ENOENT;

	if (!slash || path[0] != '/' || !read_debug_link(elf, &link))
		return -ENOENT;
	length = (size_t)(slash - path);
	if (length >= PATH_MAX)
		return -ENOENT;
	if (join(place, sizeof(place), "", path, length, "", link.name))
		fd = open_checked(elf, place, &link);
	if (fd < 0 && join(place, sizeof(place), "", path, length, "/.debug", link.name))
		fd = open_checked(elf, place, &link);
	if (fd < 0 && join(place, sizeof(place), root, path, length, "", link.name))
		fd = open_checked(elf, place, &link);
	return fd;
}

static int open_by_build_id(const struct elf_file *elf, const uint8_t *id, uint32_t size,
			    const char *root)
{
	char hex[2 * MAX_BUILD_ID + 1] = "", path[PATH_MAX];
	int n;

	if (size < 2)
		return -ENOENT;
	for (uint32_t i = 0; i < size; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", id[i]);
	n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENOENT;
	return open_checked(elf, path, NULL);
}

int debug_file_open_symfs(const struct elf_file *elf, const char *path,
			  const struct debug_places *places)
{
	char other[PATH_MAX];
	int n;

	if (!places->symfs || !path || path[0] != '/')
		return -ENOENT;
	n = snprintf(other, sizeof(other), "%s%s", places->symfs, path);
	if (n < 0 || (size_t)n >= sizeof(other))
		return -ENOENT;
	return open_checked(elf, other, NULL);
}

int debug_file_open(const struct elf_file *elf, const char *path, const struct debug_places *places)
{
	const char *root = places->root ? places->root : DEBUG_ROOT;
	uint8_t id[MAX_BUILD_ID];
	uint32_t size = build_id_of(elf, id, sizeof(id));
	int fd;

	fd = debug_file_open_symfs(elf, path, places);
	if (fd < 0)
		fd = open_by_build_id(elf, id, size, root);
	if (fd < 0)
		fd = open_by_link(elf, path, root);
	if (fd < 0 && places->debuginfod && size)
		fd = debuginfod_open(places->debuginfod, id, size);
	return fd < 0 ? -ENOENT : fd;
}
