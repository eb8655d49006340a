// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/library.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "arch/machine.h"
#include "base/own.h"
#include "files/process_view.h"
#include "trigger/ld_cache.h"
#include "trigger/library_maps.h"

#define LD_CACHE     "/etc/ld.so.cache"
#define LD_CACHE_MAX (64u << 20)
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#define MAPPED_MAX 1024 /* files of a process that are looked at */

/* Where to look: below a root directory, and in the process that it belongs to. */
struct scope {
	int root; /* a descriptor; AT_FDCWD: our own root */
	pid_t pid;
};

/* Opens a regular file only, first by O_PATH: opening a FIFO would wait for its other end. */
static int open_regular(const struct scope *scope, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	own(own_fd) int fd = -1;
	char fd_path[32];
	struct stat about;
	int opened;

	if (scope->root == AT_FDCWD) {
		fd = open(path, O_PATH | O_CLOEXEC);
	} else {
		/* So that absolute links of a container stay inside. Linux 5.6. */
		how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
		fd = (int)syscall(SYS_openat2, scope->root, path, &how, sizeof(how));
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, &about) < 0)
		return -errno;
	if (!S_ISREG(about.st_mode))
		return S_ISDIR(about.st_mode) ? -EISDIR : -ENXIO;
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	opened = open(fd_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return opened < 0 ? -errno : opened;
}

/* Takes over `fd`. */
static int found(int fd, const char *path, struct library *ret_library)
{
	struct library library = { .fd = fd, .path = strdup(path) };

	if (!library.path) {
		close(fd);
		return -ENOMEM;
	}
	snprintf(library.fd_path, sizeof(library.fd_path), "/proc/self/fd/%d", fd);
	*ret_library = library;
	return 0;
}

static int try_path(const struct scope *scope, const char *path, struct library *ret_library)
{
	int fd = open_regular(scope, path);

	return fd < 0 ? fd : found(fd, path, ret_library);
}

/* "libNAME.so", or the name as it is where it has that form already. */
static int soname_of(const char *name, char *buffer, size_t size)
{
	int n;

	if (strncmp(name, "lib", 3) == 0 && strstr(name, ".so"))
		n = snprintf(buffer, size, "%s", name);
	else
		n = snprintf(buffer, size, "lib%s%s", name, strstr(name, ".so") ? "" : ".so");
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* musl is one file, which is its dynamic linker, too. */
static bool is_of_musl(const char *base, const char *name)
{
	static const char *const parts[] = { "c",     "m",	"pthread", "dl",  "rt",
					     "crypt", "resolv", "util",	   "xnet" };
	size_t n;

	if (strncmp(base, "ld-musl-", strlen("ld-musl-")) != 0 &&
	    strncmp(base, "libc.musl-", strlen("libc.musl-")) != 0)
		return false;
	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	n = strcspn(name, ".");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strlen(parts[i]) == n && memcmp(parts[i], name, n) == 0)
			return true;
	return false;
}

bool library_name_fits(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	char soname[256];
	size_t n;

	base = base ? base + 1 : path;
	if (strncmp(base, "memfd:", strlen("memfd:")) == 0) /* memfd_create(2) */
		base += strlen("memfd:");
	if (strcmp(base, name) == 0 || is_of_musl(base, name))
		return true;
	if (soname_of(name, soname, sizeof(soname)) < 0)
		return false;
	n = strlen(soname);
	if (strncmp(base, soname, n) == 0 && (base[n] == '\0' || base[n] == '.'))
		return true;
	/* "libc-2.31.so", as glibc was installed before 2.34 */
	if (!strstr(name, ".so")) {
		n -= strlen(".so");
		return strncmp(base, soname, n) == 0 && base[n] == '-' &&
		       isdigit((unsigned char)base[n + 1]) && strstr(base, ".so");
	}
	return false;
}

/* Opens a mapped file by its path or, if another file has that by now, through the mapping. */
static int open_mapped(const struct scope *scope, const struct library_maps *maps,
		       struct library *ret_library)
{
	const struct scope own_root = { .root = AT_FDCWD };
	int fd = open_regular(scope, maps->path);
	char link[80];
	struct stat about;
	int r;

	/* Not the device: on overlayfs and btrfs maps shows another one than stat(). */
	if (fd >= 0 && (fstat(fd, &about) < 0 || about.st_ino != maps->inode)) {
		close(fd);
		fd = -ENOENT;
	}
	library_maps_link(maps, link, sizeof(link));
	if (fd < 0)
		fd = open_regular(&own_root, link);
	r = fd < 0 ? fd : found(fd, maps->path, ret_library);
	if (r == 0)
		ret_library->mapped = true;
	return r;
}

/* A name with a slash is the path of a file that has been replaced, perhaps. */
static int try_maps(const struct scope *scope, const char *name, struct library *ret_library)
{
	own(library_maps_close) struct library_maps maps;
	bool is_path = strchr(name, '/') != NULL;
	int r = library_maps_open(scope->pid, &maps);

	if (r < 0)
		return r;
	while (library_maps_next(&maps)) {
		if (is_path ? strcmp(maps.path, name) != 0 : !library_name_fits(maps.path, name))
			continue;
		r = open_mapped(scope, &maps, ret_library);
		if (r == 0 || r == -ENOMEM)
			return r;
	}
	return -ENOENT;
}

static bool is_mapped(const struct library *library, pid_t pid)
{
	own(library_maps_close) struct library_maps maps;
	struct stat file;

	if (fstat(library->fd, &file) < 0 || library_maps_open(pid, &maps) < 0)
		return false;
	while (library_maps_next(&maps))
		if (library_maps_is(&maps, &file))
			return true;
	return false;
}

/*
 * If the process maps another file of the same name than the path leads to, as after an upgrade,
 * that one is meant.
 */
static void prefer_mapped(const struct scope *scope, struct library *library)
{
	struct library replaced;

	library->mapped = library->mapped || is_mapped(library, scope->pid);
	if (library->mapped || try_maps(scope, library->path, &replaced) < 0)
		return;
	library_clear(library);
	*library = replaced;
}

static int open_root(pid_t pid, struct error *err)
{
	char path[32];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", process_view_thread(pid));
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root >= 0 ? root
			 : error_set(err, -errno, "cannot look into process %d: %s", pid,
				     errno == ENOENT ? "no such process" : strerror(errno));
}

int library_find_mapped(pid_t pid, library_wants_fn wants, void *context,
			struct library *ret_library, uint32_t *ret_n)
{
	own(library_maps_close) struct library_maps maps = { 0 };
	own(own_fd) int root = open_root(pid, NULL);
	const struct scope scope = { .root = root, .pid = pid };
	int r = root < 0 ? root : library_maps_open(pid, &maps);

	*ret_n = 0;
	if (r < 0)
		return r;
	while (*ret_n < MAPPED_MAX && library_maps_next(&maps)) {
		own(library_clear) struct library library = { .fd = -1 };

		if (open_mapped(&scope, &maps, &library) < 0)
			continue;
		++*ret_n;
		if (wants(&library, context)) {
			*ret_library = library;
			library = (struct library){ .fd = -1 };
			return 0;
		}
	}
	return -ENOENT;
}

static int try_cache(const struct scope *scope, const char *soname, struct library *ret_library)
{
	own(own_fd) int fd = open_regular(scope, LD_CACHE);
	own(own_free) char *bytes = NULL;
	struct stat about;
	const char *path;
	size_t n = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &about) < 0)
		return -errno;
	if (about.st_size <= 0 || about.st_size > LD_CACHE_MAX)
		return -ENOENT;
	bytes = malloc((size_t)about.st_size);
	if (!bytes)
		return -ENOMEM;
	while (n < (size_t)about.st_size) {
		ssize_t got = pread(fd, bytes + n, (size_t)about.st_size - n, (off_t)n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	path = ld_cache_find(bytes, n, soname);
	return path ? try_path(scope, path, ret_library) : -ENOENT;
}

/* Tries the usual directories, for a cache that is missing or out of date. */
static int try_directories(const struct scope *scope, const char *soname,
			   struct library *ret_library)
{
	static const char *const directories[] = {
		"/lib/" ARCH_MULTIARCH,
		"/usr/lib/" ARCH_MULTIARCH,
		"/lib64",
		"/usr/lib64",
		"/lib",
		"/usr/local/lib/" ARCH_MULTIARCH,
		"/usr/lib",
		"/usr/local/lib",
	};
	static const char *const endings[] = { "", ".0", ".1", ".2", ".3", ".4", ".5", ".6" };
	char path[512];

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		for (size_t j = 0; j < sizeof(endings) / sizeof(endings[0]); j++) {
			snprintf(path, sizeof(path), "%s/%s%s", directories[i], soname, endings[j]);
			/* Without a version it may be a linker script, not a library. */
			if (j == 0 && !strstr(soname, ".so."))
				continue;
			if (try_path(scope, path, ret_library) == 0)
				return 0;
		}
	}
	return -ENOENT;
}

static int try_search_path(const struct scope *scope, const char *name, struct library *ret_library)
{
	const char *at = getenv("PATH");
	char path[4096];

	/* Our PATH is not meant for another root. */
	if (!at || scope->root != AT_FDCWD)
		at = DEFAULT_PATH;
	while (*at) {
		size_t n = strcspn(at, ":");
		int length = snprintf(path, sizeof(path), "%.*s/%s", (int)n, at, name);

		/* Empty and relative entries are skipped: they depend on the working directory. */
		if (*at == '/' && length > 0 && (size_t)length < sizeof(path) &&
		    try_path(scope, path, ret_library) == 0)
			return 0;
		at += n + (at[n] == ':');
	}
	return -ENOENT;
}

static int search(const struct scope *scope, const char *name, struct library *ret_library)
{
	char soname[256];
	int r = -ENOENT;

	if (scope->pid > 0)
		r = try_maps(scope, name, ret_library);
	if (r < 0 && r != -ENOMEM && soname_of(name, soname, sizeof(soname)) == 0) {
		r = try_cache(scope, soname, ret_library);
		if (r < 0)
			r = try_directories(scope, soname, ret_library);
		if (r < 0 && strcmp(soname, "libc.so") == 0)
			r = try_path(scope, ARCH_MUSL, ret_library);
	}
	if (r < 0)
		r = try_search_path(scope, name, ret_library);
	/* "libc" means what "c" does. */
	if (r == -ENOENT && strncmp(name, "lib", 3) == 0 && name[3] && !strstr(name, ".so"))
		r = search(scope, name + 3, ret_library);
	return r;
}

static int find(const struct scope *scope, const char *name, struct library *ret_library,
		struct error *err)
{
	struct scope paths = *scope;
	int r;

	if (!name[0] || !strchr(name, '/')) {
		r = name[0] ? search(scope, name, ret_library) : -ENOENT;
		return r == 0 ? 0 : error_set(err, r, "unable to find library %.500s", name);
	}
	/*
	 * A relative path is relative to our working directory, not to that of the process. Its
	 * /proc may be that of a container, where ids are of other processes.
	 */
	if (name[0] != '/' || strncmp(name, "/proc/", strlen("/proc/")) == 0)
		paths.root = AT_FDCWD;
	r = try_path(&paths, name, ret_library);
	if (r < 0 && scope->pid > 0 && name[0] == '/' && try_maps(scope, name, ret_library) == 0)
		return 0;
	if (r == 0)
		return 0;
	return error_set(err, r, "unable to find library %.500s: %s", name,
			 r == -ENXIO ? "not a regular file" : strerror(-r));
}

int library_find(const char *name, pid_t pid, struct library *ret_library, struct error *err)
{
	own(own_fd) int root = -1;
	struct scope scope = { .root = AT_FDCWD, .pid = pid };
	int r;

	if (pid > 0) {
		root = open_root(pid, err);
		if (root < 0)
			return root;
		scope.root = root;
	}
	r = find(&scope, name, ret_library, err);
	if (r == 0 && pid > 0)
		prefer_mapped(&scope, ret_library);
	return r;
}

int library_find_program(const char *name, struct library *ret_library)
{
	const struct scope scope = { .root = AT_FDCWD };

	return strchr(name, '/') ? try_path(&scope, name, ret_library)
				 : try_search_path(&scope, name, ret_library);
}

void library_clear(struct library *library)
{
	if (!library || !library->path)
		return;
	close(library->fd);
	free(library->path);
	*library = (struct library){ .fd = -1 };
}

const char *library_moved_to(const char *name)
{
	static const char *const moved[] = { "pthread", "dl", "rt", "util", "anl" };

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		if (strcmp(name, moved[i]) == 0)
			return "c";
	}
	return NULL;
}
