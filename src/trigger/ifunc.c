// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/ifunc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "process/maps.h"

#if defined(__x86_64__)
#define R_IRELATIVE R_X86_64_IRELATIVE
#elif defined(__aarch64__)
#define R_IRELATIVE R_AARCH64_IRELATIVE
#endif

#define RELOCATIONS_MAX (64u << 20) /* bytes */
#define MAPS_MAX	(1u << 20)

struct ifuncs {
	const struct elf_file *elf;
	int memory;		 /* of the process */
	uint64_t bias;		 /* load address in the process minus address in the file */
	Elf64_Rela *relocations; /* only those of IFUNCs */
	size_t n, capacity;
};

void ifuncs_free(struct ifuncs *ifuncs)
{
	if (!ifuncs)
		return;
	if (ifuncs->memory >= 0)
		close(ifuncs->memory);
	free(ifuncs->relocations);
	free(ifuncs);
}

static int append(struct ifuncs *ifuncs, const Elf64_Rela *relocations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (ELF64_R_TYPE(relocations[i].r_info) != R_IRELATIVE)
			continue;
		r = grow(&ifuncs->relocations, &ifuncs->capacity, ifuncs->n + 1);
		if (r < 0)
			return r;
		ifuncs->relocations[ifuncs->n++] = relocations[i];
	}
	return 0;
}

static int read_relocations(struct ifuncs *ifuncs)
{
	const struct elf_file *elf = ifuncs->elf;

	for (uint32_t i = 0; elf->is_64 && i < elf->n_sections; i++) {
		own(own_free) void *bytes = NULL;
		int r;

		if (elf->sections[i].type != SHT_RELA)
			continue;
		r = elf_file_load(elf, &elf->sections[i], RELOCATIONS_MAX, &bytes);
		if (r == 0)
			r = append(ifuncs, bytes, elf->sections[i].size / sizeof(Elf64_Rela));
		if (r == -ENOMEM)
			return r;
	}
	return ifuncs->n ? 0 : -ENOENT;
}

/* Whether the process maps the file; then the address of its first byte. */
static bool maps_file(const char *pid, const struct stat *file, char *text, uint64_t *ret_start)
{
	char path[64];
	own(own_fd) int fd = -1;
	const char *at = text;
	struct maps_line line;
	size_t used = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (used < MAPS_MAX && (n = read(fd, text + used, MAPS_MAX - used)) > 0)
		used += (size_t)n;
	while (maps_next(&at, text + used, &line)) {
		struct stat there;

		/* On overlayfs maps shows another device than stat(): compare the mapped file. */
		if (line.offset != 0 || line.inode != file->st_ino)
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/map_files/%lx-%lx", pid, line.start,
			 line.end);
		if (line.device != file->st_dev &&
		    (stat(path, &there) < 0 || there.st_dev != file->st_dev))
			continue;
		*ret_start = line.start;
		return true;
	}
	return false;
}

static bool first_address(const struct elf_file *elf, uint64_t *ret_address)
{
	for (uint32_t i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD && elf->segments[i].offset == 0) {
			*ret_address = elf->segments[i].address;
			return true;
		}
	return false;
}

static int find_process(struct ifuncs *ifuncs, const struct stat *file)
{
	own(own_free) char *text = malloc(MAPS_MAX);
	uint64_t start, first;
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[64];

	if (!proc || !text || !first_address(ifuncs->elf, &first)) {
		if (proc)
			closedir(proc);
		return text ? -ENOENT : -ENOMEM;
	}
	while (ifuncs->memory < 0 && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !maps_file(entry->d_name, file, text, &start))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/mem", entry->d_name);
		ifuncs->memory = open(path, O_RDONLY | O_CLOEXEC);
		ifuncs->bias = start - first;
	}
	closedir(proc);
	return ifuncs->memory < 0 ? -ENOENT : 0;
}

int ifuncs_new(const struct elf_file *elf, int fd, struct ifuncs **ret_ifuncs)
{
	struct ifuncs *ifuncs = calloc(1, sizeof(*ifuncs));
	struct stat file;
	int r;

	if (!ifuncs)
		return -ENOMEM;
	ifuncs->elf = elf;
	ifuncs->memory = -1;
	r = fstat(fd, &file) < 0 ? -errno : read_relocations(ifuncs);
	if (r == 0)
		r = find_process(ifuncs, &file);
	if (r < 0) {
		ifuncs_free(ifuncs);
		return r;
	}
	*ret_ifuncs = ifuncs;
	return 0;
}

bool ifuncs_choice(const struct ifuncs *ifuncs, uint64_t resolver, uint64_t *ret_address)
{
	for (size_t i = 0; i < ifuncs->n; i++) {
		const Elf64_Rela *relocation = &ifuncs->relocations[i];
		uint64_t chosen;

		if ((uint64_t)relocation->r_addend != resolver ||
		    pread(ifuncs->memory, &chosen, sizeof(chosen),
			  (off_t)(relocation->r_offset + ifuncs->bias)) != sizeof(chosen))
			continue;
		/* The choice may be outside the file: that of time() is in the vDSO. */
		if (!elf_file_code_section(ifuncs->elf, chosen - ifuncs->bias))
			continue;
		*ret_address = chosen - ifuncs->bias;
		return true;
	}
	return false;
}
