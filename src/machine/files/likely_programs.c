// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/likely_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/machine.h"
#include "base/own.h"
#include "confined/confined.h"
#include "elf/elf_needed.h"
#include "files/path.h"

#define MAX_WORDS    64
#define WORD_SIZE    256 /* bytes with the final NUL; longer words are no programs */
#define MAX_ROOTS    3	 /* our own, and directories among the words */
#define MAX_PROGRAMS 8	 /* and scripts */

/* What shells put between words. */
#define SEPARATORS " \t\n;|&()`$\"'<>={}"

/* Where libraries are that a file names no directory for: Debian's, then others' places. */
#define LIBRARIES                                                                                  \
	"/lib/" ARCH_MULTIARCH ":/usr/lib/" ARCH_MULTIARCH                                         \
	":/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"

struct file {
	int fd;
	uint64_t device, inode;
	char path[PATH_MAX]; /* in its root */
};

struct search {
	const char *path;
	int roots[MAX_ROOTS]; /* O_PATH */
	uint32_t n_roots;
	struct confined *readers;
	uint32_t n_programs;
	struct file files[LIKELY_MAX_FILES]; /* of the program that is looked at */
	uint32_t n_files;
	void (*program)(void *context, const int *fds, uint32_t n);
	void *context;
};

static void close_files(struct search *search)
{
	while (search->n_files)
		close(search->files[--search->n_files].fd);
}

/* Adds the file at a path in a root, if it is a regular one. False: it is not there. */
static bool add_file(struct search *search, int root, const char *path)
{
	struct file *file = &search->files[search->n_files];
	struct stat status;
	int fd = path_resolve(root, path, true);

	if (fd >= 0)
		fd = path_open_regular(fd, &status);
	if (fd < 0)
		return false;
	for (uint32_t i = 0; i < search->n_files; i++) {
		if (search->files[i].inode == status.st_ino &&
		    search->files[i].device == status.st_dev) {
			close(fd);
			return true;
		}
	}
	if (search->n_files == LIKELY_MAX_FILES || strlen(path) >= sizeof(file->path)) {
		close(fd);
		return true;
	}
	*file = (struct file){ .fd = fd, .device = status.st_dev, .inode = status.st_ino };
	strcpy(file->path, path);
	search->n_files++;
	return true;
}

/*
 * Adds the file of that name in the first of some directories, separated by colons, that has one.
 * In them, $ORIGIN at the start is `origin`.
 */
static bool add_from(struct search *search, int root, const char *directories, const char *name,
		     const char *origin)
{
	char path[PATH_MAX];

	while (*directories) {
		size_t n = strcspn(directories, ":"), own = 0;
		int size;

		if (strncmp(directories, "$ORIGIN", 7) == 0)
			own = 7;
		size = snprintf(path, sizeof(path), "%s%.*s/%s", own ? origin : "", (int)(n - own),
				directories + own, name);
		if (n && (size_t)size < sizeof(path) && path[0] == '/' &&
		    add_file(search, root, path))
			return true;
		directories += n + (directories[n] == ':');
	}
	return false;
}

/* ---- the libraries of a program ---- */

/* Runs in the child. */
static int read_needed(const struct confined_job *job)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	struct elf_needed needed;
	int r = elf_file_open_segments(job->fds[0], &elf);

	if (r < 0)
		return r;
	elf_needed_read(elf, &needed);
	confined_send(job, &needed, sizeof(needed));
	return 0;
}

static int ask(struct search *search, int fd, struct elf_needed *ret_needed)
{
	const struct confined_call call = {
		.work = read_needed, .owner = confined_owner(fd), .fds = &fd, .n_fds = 1
	};
	struct confined_child *child;
	int r = search->readers ? 0 : confined_new(&confined_limits_default, &search->readers), end;

	if (r == 0)
		r = confined_begin(search->readers, &call, &child);
	if (r < 0)
		return r;
	r = confined_read(child, ret_needed, sizeof(*ret_needed));
	end = confined_finish(child);
	if (r < 0 || end < 0 || ret_needed->n > MAX_NEEDED)
		return -EPROTO;
	ret_needed->directories[NEEDED_DIRECTORIES - 1] = '\0';
	return 0;
}

/* Adds the libraries of the program, and those of the libraries. False: it is no program. */
static bool add_libraries(struct search *search, int root)
{
	for (uint32_t i = 0; i < search->n_files; i++) {
		char origin[PATH_MAX];
		struct elf_needed needed;

		if (ask(search, search->files[i].fd, &needed) < 0) {
			if (i == 0)
				return false;
			continue;
		}
		strcpy(origin, search->files[i].path);
		*strrchr(origin, '/') = '\0';
		for (uint32_t j = 0; j < needed.n; j++) {
			char *name = needed.names[j];

			name[NEEDED_NAME - 1] = '\0';
			if (!strchr(name, '/') &&
			    !add_from(search, root, needed.directories, name, origin))
				add_from(search, root, LIBRARIES, name, "");
		}
	}
	return true;
}

/* ---- programs ---- */

static bool find_program(struct search *search, int root, const char *word);

/*
 * Looks for the program that "#!" names, and for the one that this will run: the first word of its
 * argument that is no option, as in `#!/usr/bin/env python3`.
 */
static void follow_script(struct search *search, int root, const char *line)
{
	char words[2 * WORD_SIZE], *word, *rest;

	snprintf(words, sizeof(words), "%.*s", (int)strcspn(line, "\n"), line);
	for (word = strtok_r(words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		find_program(search, root, word);
}

/* Tells of the program in the file that was added: an executable one, or what runs the script. */
static void look_at(struct search *search, int root)
{
	char start[2 * WORD_SIZE] = { 0 };
	int fds[LIKELY_MAX_FILES];
	struct stat status;

	if (fstat(search->files[0].fd, &status) < 0 || !(status.st_mode & 0111) ||
	    pread(search->files[0].fd, start, sizeof(start) - 1, 0) < 4) {
		close_files(search);
		return;
	}
	if (start[0] == '#' && start[1] == '!') {
		close_files(search);
		follow_script(search, root, start + 2);
		return;
	}
	if (add_libraries(search, root)) {
		for (uint32_t i = 0; i < search->n_files; i++)
			fds[i] = search->files[i].fd;
		search->program(search->context, fds, search->n_files);
	}
	close_files(search);
}

/* Looks for the program that a word names in a root. */
static bool find_program(struct search *search, int root, const char *word)
{
	char path[PATH_MAX];
	bool found;

	if (word[0] == '-' || search->n_programs == MAX_PROGRAMS)
		return false;
	if (!strchr(word, '/')) {
		found = add_from(search, root, search->path, word, "");
	} else if (word[0] != '/') {
		found = realpath(word, path) && add_file(search, search->roots[0], path);
	} else {
		found = add_file(search, root, word);
	}
	if (!found)
		return false;
	search->n_programs++;
	look_at(search, root);
	return true;
}

/* A directory may be what programs of other words will have as their root. */
static void note_root(struct search *search, const char *word)
{
	int fd;

	if (search->n_roots == MAX_ROOTS || !strchr(word, '/') || strcmp(word, "/") == 0)
		return;
	fd = open(word, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		search->roots[search->n_roots++] = fd;
}

static void look_for(struct search *search, const char *word)
{
	note_root(search, word);
	for (uint32_t i = search->n_roots; i-- > 0;)
		if (find_program(search, search->roots[i], word))
			return;
}

/* Looks for the words in an argument, which may be a command line of its own. */
static void look_into(struct search *search, const char *argument, uint32_t *words)
{
	while (*words < MAX_WORDS) {
		char word[WORD_SIZE];
		size_t n;

		argument += strspn(argument, SEPARATORS);
		n = strcspn(argument, SEPARATORS);
		if (!n)
			return;
		++*words;
		if (n < sizeof(word)) {
			memcpy(word, argument, n);
			word[n] = '\0';
			look_for(search, word);
		}
		argument += n;
	}
}

int likely_programs_each(char *const *command, const char *path,
			 void (*program)(void *context, const int *fds, uint32_t n), void *context)
{
	struct search *search = calloc(1, sizeof(*search));
	uint32_t words = 0;

	if (!search)
		return -ENOMEM;
	search->path = path ? path : "";
	search->program = program;
	search->context = context;
	search->roots[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	search->n_roots = search->roots[0] >= 0;
	for (char *const *argument = command; search->n_roots && *argument; argument++)
		look_into(search, *argument, &words);
	while (search->n_roots)
		close(search->roots[--search->n_roots]);
	confined_free(search->readers);
	free(search);
	return 0;
}
