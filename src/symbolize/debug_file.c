/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/build_id.h"
#include "files/path.h"

#define MAX_DEBUG_LINK 4096
#define MAX_CRC_BYTES  (4ull << 30)
#define CRC_PIECE      (256u << 10)

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

static uLong crc_of_zeros(uint64_t n)
{
	uLong all = crc32(0, NULL, 0), some = crc32(all, (const Bytef *)"", 1);

	for (uint64_t n_some = 1; n_some <= n; n_some *= 2) {
		if (n & n_some)
			all = crc32_combine(all, some, (z_off_t)n_some);
		some = crc32_combine(some, some, (z_off_t)n_some);
	}
	return all;
}

/* Of the whole file. Holes are not read: they would fill the page cache with zeros. */
static int crc_of(const struct elf_file *elf, uint32_t *ret_crc)
{
	own(own_free) uint8_t *buffer = malloc(CRC_PIECE);
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;

	if (!buffer)
		return -ENOMEM;
	if (elf->size > MAX_CRC_BYTES)
		return -EFBIG;
	while (at < elf->size) {
		uint64_t data = elf_file_next_data(elf, at), left = elf->size - data;
		size_t n = left < CRC_PIECE ? (size_t)left : CRC_PIECE;

		if (data > at)
			crc = crc32_combine(crc, crc_of_zeros(data - at), (z_off_t)(data - at));
		if (elf_file_read(elf, data, buffer, n))
			return -EIO;
		crc = crc32_z(crc, buffer, n);
		at = data + n;
	}
	*ret_crc = (uint32_t)crc;
	return 0;
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
	if (!equal || proof == DEBUG_PROOF_BOTH) {
		if (proof == DEBUG_PROOF_BUILD_ID || !read_debug_link(elf, name, &wanted))
			return -ESTALE;
		r = crc_of(other, &crc);
		if (r < 0)
			return r;
		if (crc != wanted)
			return -ESTALE;
	}
	*ret_debug = take_ptr(other);
	return 0;
}

/* ---- in our process ---- */

/* In our own root; or beside the file, in the root of the processes that have mapped it. */
static int open_regular(const struct debug_search *search, bool beside, const char *path,
			struct stat *ret_status)
{
	const struct debug_places *places = search->places;
	own(own_fd) int fd = -1;

	if (beside)
		return places->open_beside ? places->open_beside(places->context, search->file,
								 path, ret_status)
					   : -ENOENT;
	if (places->open)
		return places->open(places->context, path, ret_status);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : path_open_regular(take_fd(&fd), ret_status);
}

/* A build-id and a file name, not a path, as debug_wanted_read() gives them. */
static bool is_valid(const struct debug_wanted *wanted)
{
	return wanted->build_id_size <= DEBUG_BUILD_ID_MAX &&
	       memchr(wanted->link, '\0', sizeof(wanted->link)) && !strchr(wanted->link, '/');
}

/* Whether the path of the file leads to it there. */
static bool leads_to_file(const struct debug_search *search, bool beside)
{
	struct stat file, there;
	own(own_fd) int fd = open_regular(search, beside, search->path, &there);

	return fd >= 0 && fstat(search->fd, &file) == 0 && file.st_dev == there.st_dev &&
	       file.st_ino == there.st_ino;
}

/* The place of a debug link: 0 to 2. */
static int open_by_link(const struct debug_search *search, const struct debug_wanted *wanted,
			const char *root, bool beside, uint32_t place, struct stat *ret_status)
{
	static const char *const middles[] = { "", "/.debug", "" };
	const char *path = search->path, *slash = path ? strrchr(path, '/') : NULL;
	char name[PATH_MAX];
	int n;

	if (!slash || path[0] != '/' || !wanted->link[0] || slash - path >= PATH_MAX)
		return -ENOENT;
	n = snprintf(name, sizeof(name), "%s%.*s%s/%s", place == 2 ? root : "", (int)(slash - path),
		     path, middles[place], wanted->link);
	if (n <= 0 || (size_t)n >= sizeof(name) || !leads_to_file(search, beside))
		return -ENOENT;
	return open_regular(search, beside, name, ret_status);
}

static int open_by_build_id(const struct debug_search *search, const struct debug_wanted *wanted,
			    const char *root, bool beside, struct stat *ret_status)
{
	char hex[2 * DEBUG_BUILD_ID_MAX + 1] = "", path[PATH_MAX];
	int n;

	if (wanted->build_id_size < 2)
		return -ENOENT;
	for (uint32_t i = 0; i < wanted->build_id_size; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", wanted->build_id[i]);
	n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	return n > 0 && (size_t)n < sizeof(path) ? open_regular(search, beside, path, ret_status)
						 : -ENOENT;
}

int debug_file_open_symfs(const struct debug_search *search)
{
	const struct debug_places *places = search->places;
	char other[PATH_MAX];
	struct stat status;
	int n;

	if (!places->symfs || !search->path || search->path[0] != '/')
		return -ENOENT;
	n = snprintf(other, sizeof(other), "%s%s", places->symfs, search->path);
	return n > 0 && (size_t)n < sizeof(other) ? open_regular(search, false, other, &status)
						  : -ENOENT;
}

/* Places of debug files. */
enum {
	BY_BUILD_ID,
	BY_LINK,
	BY_LINK_LAST = BY_LINK + 2,
	BESIDE,
	BESIDE_LAST = BESIDE + BY_LINK_LAST,
	BY_DEBUGINFOD,
	N_PLACES
};

/* The place in our own root that is like it. */
static uint32_t kind_of(uint32_t place)
{
	return place >= BESIDE && place <= BESIDE_LAST ? place - BESIDE : place;
}

static bool is_by_link(uint32_t place)
{
	return kind_of(place) >= BY_LINK && kind_of(place) <= BY_LINK_LAST;
}

static int open_at(const struct debug_search *search, const struct debug_wanted *wanted,
		   uint32_t place, struct stat *ret_status)
{
	const struct debug_places *places = search->places;
	bool beside = place >= BESIDE;
	const char *root = places->root && !beside ? places->root : DEBUG_ROOT;
	int fd;

	if (kind_of(place) == BY_BUILD_ID)
		return open_by_build_id(search, wanted, root, beside, ret_status);
	if (is_by_link(place))
		return open_by_link(search, wanted, root, beside, kind_of(place) - BY_LINK,
				    ret_status);
	if (!places->debuginfod || !wanted->build_id_size)
		return -ENOENT;
	fd = debuginfod_open(places->debuginfod, wanted->build_id, wanted->build_id_size);
	return fd < 0 || fstat(fd, ret_status) == 0 ? fd : -errno;
}

/* Whether its owner may say what is in the file. Trees that the user named may be anybody's. */
static bool may_describe(const struct debug_search *search, uint32_t place,
			 const struct stat *debug)
{
	struct stat file;

	if (search->places->root && (place == BY_BUILD_ID || place == BY_LINK_LAST))
		return true;
	return debug->st_uid == 0 || debug->st_uid == geteuid() ||
	       (fstat(search->fd, &file) == 0 && debug->st_uid == file.st_uid);
}

int debug_file_open_next(struct debug_search *search, const struct debug_wanted *wanted,
			 enum debug_proof *ret_proof)
{
	if (!is_valid(wanted))
		return -ENOENT;
	while (search->next < N_PLACES) {
		uint32_t place = search->next++;
		struct stat status;
		own(own_fd) int fd = open_at(search, wanted, place, &status);

		if (fd < 0)
			continue;
		/* Of a copy: its own, as a remote file system says what it likes. Beside a file,
		 * only who may mount there could. */
		if (kind_of(place) == place && fstat(fd, &status) < 0)
			continue;
		if (!may_describe(search, place, &status))
			continue;
		*ret_proof = status.st_mode & (S_IWGRP | S_IWOTH) ? DEBUG_PROOF_BOTH
			     : is_by_link(place)		  ? DEBUG_PROOF_CRC
								  : DEBUG_PROOF_BUILD_ID;
		return take_fd(&fd);
	}
	return -ENOENT;
}
