/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/build_id.h"
#include "process/path.h"

#define MAX_DEBUG_LINK 4096
#define MAX_CRC_BYTES  (4ull << 30)

/* ---- in the child ---- */

/* True if the build-ids rule out that the files belong together; *ret_equal: they are the same. */
static bool build_ids_differ(const struct elf_file *elf, const struct elf_file *other,
			     bool *ret_equal)
{
	uint8_t ours[DEBUG_BUILD_ID_MAX], theirs[DEBUG_BUILD_ID_MAX];
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

static bool read_debug_link(const struct elf_file *elf, char name[NAME_MAX + 1], uint32_t *ret_crc)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debuglink");
	own(own_free) void *bytes = NULL;
	size_t length, crc_at;

	if (!section || elf_file_load(elf, section, MAX_DEBUG_LINK, &bytes))
		return false;
	length = strnlen(bytes, section->size);
	crc_at = (length + 4) / 4 * 4; /* behind the NUL, aligned to 4 */
	if (!length || length > NAME_MAX || crc_at > section->size ||
	    section->size - crc_at < sizeof(*ret_crc))
		return false;
	memcpy(name, bytes, length + 1);
	memcpy(ret_crc, (char *)bytes + crc_at, sizeof(*ret_crc));
	return true;
}

void debug_wanted_read(const struct elf_file *elf, struct debug_wanted *ret_wanted)
{
	uint32_t crc;

	*ret_wanted = (struct debug_wanted){ 0 };
	ret_wanted->build_id_size =
		build_id_of(elf, ret_wanted->build_id, sizeof(ret_wanted->build_id));
	if (!read_debug_link(elf, ret_wanted->link, &crc))
		ret_wanted->link[0] = '\0';
}

int debug_file_open_checked(const struct elf_file *elf, int fd, enum debug_proof proof,
			    struct elf_file **ret_debug)
{
	own(own_elf_file_close) struct elf_file *other = NULL;
	char name[NAME_MAX + 1];
	uint32_t wanted, crc = 0;
	bool equal;
	int r = elf_file_open(fd, &other);

	if (r < 0)
		return r;
	if (other->machine != elf->machine || other->is_64 != elf->is_64 ||
	    build_ids_differ(elf, other, &equal))
		return -ESTALE;
	if (!equal) {
		if (proof != DEBUG_PROOF_CRC || !read_debug_link(elf, name, &wanted))
			return -ESTALE;
		r = crc_of(fd, &crc);
		if (r < 0)
			return r;
		if (crc != wanted)
			return -ESTALE;
	}
	*ret_debug = take_ptr(other);
	return 0;
}

/* ---- in our process ---- */

static int open_regular(const char *path)
{
	own(own_fd) int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat status;

	return fd < 0 ? -errno : path_open_regular(take_fd(&fd), &status);
}

/* A build-id and a file name, not a path, as debug_wanted_read() gives them. */
static bool is_valid(const struct debug_wanted *wanted)
{
	return wanted->build_id_size <= DEBUG_BUILD_ID_MAX &&
	       memchr(wanted->link, '\0', sizeof(wanted->link)) && !strchr(wanted->link, '/');
}

/* The place of a debug link: 0 to 2. */
static int open_by_link(const struct debug_wanted *wanted, const char *path, const char *root,
			uint32_t place)
{
	static const char *const middles[] = { "", "/.debug", "" };
	const char *slash = path ? strrchr(path, '/') : NULL;
	char name[PATH_MAX];
	int n;

	if (!slash || path[0] != '/' || !wanted->link[0] || slash - path >= PATH_MAX)
		return -ENOENT;
	n = snprintf(name, sizeof(name), "%s%.*s%s/%s", place == 2 ? root : "", (int)(slash - path),
		     path, middles[place], wanted->link);
	return n > 0 && (size_t)n < sizeof(name) ? open_regular(name) : -ENOENT;
}

static int open_by_build_id(const struct debug_wanted *wanted, const char *root)
{
	char hex[2 * DEBUG_BUILD_ID_MAX + 1] = "", path[PATH_MAX];
	int n;

	if (wanted->build_id_size < 2)
		return -ENOENT;
	for (uint32_t i = 0; i < wanted->build_id_size; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", wanted->build_id[i]);
	n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	return n > 0 && (size_t)n < sizeof(path) ? open_regular(path) : -ENOENT;
}

int debug_file_open_symfs(const char *path, const struct debug_places *places)
{
	char other[PATH_MAX];
	int n;

	if (!places->symfs || !path || path[0] != '/')
		return -ENOENT;
	n = snprintf(other, sizeof(other), "%s%s", places->symfs, path);
	return n > 0 && (size_t)n < sizeof(other) ? open_regular(other) : -ENOENT;
}

/* Places of debug files. */
enum { BY_BUILD_ID, BY_LINK, BY_LINK_LAST = BY_LINK + 2, BY_DEBUGINFOD, N_PLACES };

int debug_file_open_next(const struct debug_wanted *wanted, const char *path,
			 const struct debug_places *places, uint32_t *place,
			 enum debug_proof *ret_proof)
{
	const char *root = places->root ? places->root : DEBUG_ROOT;

	if (!is_valid(wanted))
		return -ENOENT;
	while (*place < N_PLACES) {
		uint32_t number = (*place)++;
		int fd = -ENOENT;

		*ret_proof = number >= BY_LINK && number <= BY_LINK_LAST ? DEBUG_PROOF_CRC
									 : DEBUG_PROOF_BUILD_ID;
		if (number == BY_BUILD_ID)
			fd = open_by_build_id(wanted, root);
		else if (number <= BY_LINK_LAST)
			fd = open_by_link(wanted, path, root, number - BY_LINK);
		else if (places->debuginfod && wanted->build_id_size)
			fd = debuginfod_open(places->debuginfod, wanted->build_id,
					     wanted->build_id_size);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}
