// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/in_memory/find_interpreter.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/load_segments.h"

/* Reads a file as the interpreter that is sought, a part of which is mapped at `from`. */
static bool read_file(const char *path, const struct language_reader *reader, uint64_t from,
		      uint64_t offset, struct interpreter_start *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct load_segments segments;
	struct elf_file *elf = NULL;
	bool is = fd >= 0 && load_segments_read(fd, &segments) == 0 &&
		  elf_file_open(fd, &elf) == 0 && reader->read(elf, &to->is) == 0 &&
		  to->is.language && load_segments_bias(&segments, from, offset, &to->bias);

	elf_file_close(elf);
	if (fd >= 0)
		close(fd);
	return is;
}

int find_interpreter(pid_t pid, const char *root, const struct language_reader *reader,
		     struct interpreter_start *ret_start)
{
	char path[64], line[4096], file[4096], below[8192];
	uint64_t from, to, offset;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &from,
			   &to, &offset, file) != 4 ||
		    !strstr(file, reader->file_name))
			continue;
		snprintf(below, sizeof(below), "%s%s",
			 strncmp(file, root, strlen(root)) ? root : "", file);
		found = read_file(below, reader, from, offset, ret_start);
	}
	if (maps)
		fclose(maps);
	return found ? 0 : -1;
}

pid_t find_thread(pid_t pid, const char *name)
{
	char path[64], text[64];
	const struct dirent *entry;
	pid_t found = -1;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && found < 0 && (entry = readdir(folder))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/comm", pid, entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(text, sizeof(text), file) &&
		    strcspn(text, "\n") == strlen(name) && strncmp(text, name, strlen(name)) == 0)
			found = atoi(entry->d_name);
		if (file)
			fclose(file);
	}
	if (folder)
		closedir(folder);
	return found;
}
