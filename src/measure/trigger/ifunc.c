// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/ifunc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/maps.h"

#define MAPS_MAX (1u << 20)

struct ifunc_memory {
	int fd;	       /* /proc/PID/mem */
	uint64_t bias; /* load address in the process minus address in the file */
};

void ifunc_memory_close(struct ifunc_memory *memory)
{
	if (!memory)
		return;
	own_fd(&memory->fd);
	free(memory);
}

/* The content of a file of a process, at most `room` - 1 bytes; terminated. Its length. */
static size_t read_text(int process, const char *name, char *text, size_t capacity)
{
	own(own_fd) int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && used < capacity - 1 &&
	       (n = read(fd, text + used, capacity - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	return used;
}

/*
 * Whether a process has all ids of root. The owner of its directory does not tell: a process of
 * anybody is shown as root's if it forbids core dumps.
 */
static bool is_of_root(int process)
{
	char text[4096];
	unsigned int real, effective, saved, file_system;
	const char *line;

	read_text(process, "status", text, sizeof(text));
	line = strstr(text, "\nUid:");
	return line &&
	       sscanf(line, "\nUid: %u %u %u %u", &real, &effective, &saved, &file_system) == 4 &&
	       (real | effective | saved | file_system) == 0;
}

/* Whether the process maps the file; then the address of its first byte. */
static bool maps_file(int process, const struct stat *file, char *text, uint64_t *ret_start)
{
	size_t used = read_text(process, "maps", text, MAPS_MAX);
	const char *at = text;
	struct maps_line line;

	while (maps_next(&at, text + used, &line)) {
		struct stat there;
		char name[64];

		/* On overlayfs maps shows another device than stat(): compare the mapped file. */
		if (line.offset != 0 || line.inode != file->st_ino)
			continue;
		snprintf(name, sizeof(name), "map_files/%lx-%lx", line.start, line.end);
		if (line.device != file->st_dev &&
		    (fstatat(process, name, &there, 0) < 0 || there.st_dev != file->st_dev))
			continue;
		*ret_start = line.start;
		return true;
	}
	return false;
}

/* `name`: of the process's directory in /proc. */
static bool try_process(int proc, const char *name, bool any_user, const struct stat *file,
			char *text, struct ifunc_memory *memory)
{
	own(own_fd) int process = openat(proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t start;

	if (process < 0 || !(any_user || is_of_root(process)) ||
	    !maps_file(process, file, text, &start))
		return false;
	memory->fd = openat(process, "mem", O_RDONLY | O_CLOEXEC);
	/* It may have become another user's, and have run another program, meanwhile. */
	if (memory->fd >= 0 && (any_user || is_of_root(process))) {
		memory->bias = start - memory->bias;
		return true;
	}
	own_fd(&memory->fd);
	memory->fd = -1;
	return false;
}

static int find_process(struct ifunc_memory *memory, pid_t pid, const struct stat *file)
{
	own(own_free) char *text = malloc(MAPS_MAX);
	own(own_directory) DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char name[32];

	if (!text)
		return -ENOMEM;
	if (!proc)
		return -ENOENT;
	snprintf(name, sizeof(name), "%d", (int)pid);
	if (pid)
		return try_process(dirfd(proc), name, true, file, text, memory) ? 0 : -ENOENT;
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    try_process(dirfd(proc), entry->d_name, false, file, text, memory))
			return 0;
	}
	return -ENOENT;
}

int ifunc_memory_open(int fd, pid_t pid, uint64_t first, struct ifunc_memory **ret_memory)
{
	own(own_ifunc_memory_close) struct ifunc_memory *memory = calloc(1, sizeof(*memory));
	struct stat file;
	int r;

	if (!memory)
		return -ENOMEM;
	memory->fd = -1;
	memory->bias = first;
	r = fstat(fd, &file) < 0 ? -errno : find_process(memory, pid, &file);
	if (r < 0)
		return r;
	*ret_memory = take_ptr(memory);
	return 0;
}

bool ifunc_memory_choice(const struct ifunc_memory *memory, uint64_t slot, uint64_t *ret_address)
{
	uint64_t chosen;

	if (pread(memory->fd, &chosen, sizeof(chosen), (off_t)(slot + memory->bias)) !=
	    sizeof(chosen))
		return false;
	*ret_address = chosen - memory->bias;
	return true;
}
